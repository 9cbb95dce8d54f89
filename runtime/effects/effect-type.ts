import type { Effect, EffectContext, PreparedRun } from "../cells/actor-type.js";
import type { EffectEnded, EffectRequest, Message } from "../turns/turn.js";
import type { LaneLimits } from "./lane.js";
import type { RunSignal } from "./run-signal.js";

/**
 * A kind of effect, with its input and output types. The effect's name is written only here. Callers, implementations
 * and the code that receives results take the types from here.
 */
export interface EffectType<Input, Output, Memo = undefined> {
  readonly name: string;
  /** Creates a request for `turn.start`. `id` and `memo` are the fields of {@link EffectRequest}. */
  request(id: string, input: Input, memo?: Memo): EffectRequest;
  /**
   * Creates the implementation for the catalogue. `findTarget` returns a run's target in the lane. Without
   * `findTarget`, all runs share one target.
   */
  implement(
    lane: LaneLimits,
    run: (input: Input, context: EffectContext<Memo | undefined> & { readonly signal: RunSignal }) => Promise<Output>,
    findTarget?: (input: Input) => string,
  ): Effect;
  /** Creates the implementation of an effect whose `prepare` chooses the lane and the target of each run. */
  implementPrepared(prepare: (input: Input, context: EffectContext<Memo | undefined>) => PreparedRun<Output>): Effect;
}

/** Declares the effect `name`. */
export function effect<Input, Output, Memo = undefined>(name: string): EffectType<Input, Output, Memo> {
  return {
    name,
    request: (id, input, memo) => (memo === undefined ? { name, id, input } : { name, id, input, memo }),
    implement: (lane, run, findTarget = () => ""): Effect<Input, Output, Memo | undefined> => ({
      name,
      prepare: (input, context) => ({
        place: { lane, target: findTarget(input), bytes: 0 },
        begin: (signal) => run(input, { ...context, signal }),
      }),
    }),
    implementPrepared: (prepare): Effect<Input, Output, Memo | undefined> => ({ name, prepare }),
  };
}

/**
 * Returns the effect, but its runs are not repeated after a stop. A service that shuts down waits for them as long as
 * it can.
 */
export function madeOnce(made: Effect): Effect {
  return { ...made, prepare: (input, context) => ({ ...made.prepare(input, context), isMadeOnce: true }) };
}

/**
 * Returns the effect, but its runs begin only after a mark is on disk. The marks show which runs had begun when a
 * process was killed.
 */
export function withBeginMarked(made: Effect): Effect {
  return { ...made, marksBegin: true };
}

/** Whether the message is the result of an effect of this kind. */
export function isEffectResult<Input, Output, Memo, M extends Message>(
  type: EffectType<Input, Output, Memo>,
  message: M,
): message is M & EffectEnded<Output> {
  return message.type === "effect.ended" && "effect" in message && message.effect === type.name;
}
