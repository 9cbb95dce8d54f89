import type { Effect, EffectContext, PreparedRun } from "./actor-type.js";
import type { LaneLimits } from "./lane.js";
import type { RunSignal } from "./run-signal.js";
import type { EffectEnded, EffectRequest, Message } from "./turn.js";

/**
 * A kind of effect, with the types of its input and output. The effect's name is written only here; callers, receivers
 * of the result and implementations take the types from here.
 */
export interface EffectType<Input, Output, Memo = undefined> {
  readonly name: string;
  /** A request for `turn.start`. `id` and `memo` are those of {@link EffectRequest}. */
  request(id: string, input: Input, memo?: Memo): EffectRequest;
  /** The implementation, for the catalogue. `targetOf` gives the target of a run in the lane; all runs share one without it. */
  implement(
    lane: LaneLimits,
    run: (input: Input, context: EffectContext<Memo | undefined> & { readonly signal: RunSignal }) => Promise<Output>,
    targetOf?: (input: Input) => string,
  ): Effect;
  /** The implementation of an effect whose runs are prepared first, to learn their target. */
  implementPrepared(prepare: (input: Input, context: EffectContext<Memo | undefined>) => PreparedRun<Output>): Effect;
}

/** Declares the effect `name`. */
export function effect<Input, Output, Memo = undefined>(name: string): EffectType<Input, Output, Memo> {
  return {
    name,
    request: (id, input, memo) => (memo === undefined ? { name, id, input } : { name, id, input, memo }),
    implement: (lane, run, targetOf = () => ""): Effect<Input, Output, Memo | undefined> => ({
      name,
      prepare: (input, context) => ({
        place: { lane, target: targetOf(input), bytes: 0 },
        begin: (signal) => run(input, { ...context, signal }),
      }),
    }),
    implementPrepared: (prepare): Effect<Input, Output, Memo | undefined> => ({ name, prepare }),
  };
}

/** The effect with runs that are not made again after a stop, if there is time for them. */
export function madeOnce(made: Effect): Effect {
  return { ...made, prepare: (input, context) => ({ ...made.prepare(input, context), isMadeOnce: true }) };
}

/** The effect with runs that begin after a mark is on disk, which tells what a killed process had begun. */
export function withBeginMarked(made: Effect): Effect {
  return { ...made, marksBegin: true };
}

/** Whether the message is the result of an effect of this kind. */
export function isResultOf<Input, Output, Memo, M extends Message>(
  type: EffectType<Input, Output, Memo>,
  message: M,
): message is M & EffectEnded<Output> {
  return message.type === "effect.ended" && "effect" in message && message.effect === type.name;
}
