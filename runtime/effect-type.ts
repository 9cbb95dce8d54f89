import type { Effect, EffectContext } from "./actor-type.js";
import type { EffectEnded, EffectRequest, Message } from "./turn.js";

/**
 * A kind of effect: what a run of it is given and what it comes back with. The effect's name stands here alone; whoever
 * starts it, takes its result or does its work knows the types from here.
 */
export interface EffectType<Input, Output, Memo = undefined> {
  readonly name: string;
  /** What `turn.start` takes. `id` and `memo` are those of {@link EffectRequest}. */
  request(id: string, input: Input, memo?: Memo): EffectRequest;
  /** What the catalogue takes. `concurrency` is how many run at once. */
  implement(
    concurrency: number,
    run: (input: Input, context: EffectContext<Memo | undefined>) => Promise<Output>,
  ): Effect;
}

/** The kind of effect of this name. */
export function effect<Input, Output, Memo = undefined>(name: string): EffectType<Input, Output, Memo> {
  return {
    name,
    request: (id, input, memo) => (memo === undefined ? { name, id, input } : { name, id, input, memo }),
    implement: (concurrency, run): Effect<Input, Output, Memo | undefined> => ({ name, concurrency, run }),
  };
}

/** Whether the message is the end of an effect of this kind. */
export function isResultOf<Input, Output, Memo, M extends Message>(
  type: EffectType<Input, Output, Memo>,
  message: M,
): message is M & EffectEnded<Output> {
  return message.type === "effect.ended" && "effect" in message && message.effect === type.name;
}
