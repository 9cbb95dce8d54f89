import type { Effect, EffectContext } from "./actor-type.js";
import type { EffectEnded, EffectRequest, Message } from "./turn.js";

/**
 * A kind of effect, with the types of its input and output. The effect's name is written only here; callers, receivers
 * of the result and implementations take the types from here.
 */
export interface EffectType<Input, Output, Memo = undefined> {
  readonly name: string;
  /** A request for `turn.start`. `id` and `memo` are those of {@link EffectRequest}. */
  request(id: string, input: Input, memo?: Memo): EffectRequest;
  /** The implementation, for the catalogue. `concurrency` is how many run at once. */
  implement(
    concurrency: number,
    run: (input: Input, context: EffectContext<Memo | undefined>) => Promise<Output>,
  ): Effect;
}

/** Declares the effect `name`. */
export function effect<Input, Output, Memo = undefined>(name: string): EffectType<Input, Output, Memo> {
  return {
    name,
    request: (id, input, memo) => (memo === undefined ? { name, id, input } : { name, id, input, memo }),
    implement: (concurrency, run): Effect<Input, Output, Memo | undefined> => ({ name, concurrency, run }),
  };
}

/** Whether the message is the result of an effect of this kind. */
export function isResultOf<Input, Output, Memo, M extends Message>(
  type: EffectType<Input, Output, Memo>,
  message: M,
): message is M & EffectEnded<Output> {
  return message.type === "effect.ended" && "effect" in message && message.effect === type.name;
}
