import type { GatekeeperTimedOut } from "../../runtime/actor-type.js";
import { isResultOf } from "../../runtime/effect-type.js";
import type { EffectEnded, Message, TurnReading, Woken } from "../../runtime/turn.js";
import { DELIVERY_EFFECT } from "./delivery/delivery.effects.js";
import type { DeliveryResult } from "./delivery/delivery-result.js";
import type { FireHook } from "./hook-occurrence.messages.js";
import { findHookOccurrence, type HookOccurrenceState } from "./hook-occurrence.table.js";
import { type ChangeFired, checkLoop } from "./loop-guard.js";
import { type HookOccurrenceContext, type StepOutcome, toDeliveryResult, toStepOutcome } from "./step-outcome.js";

/** A new hook occurrence. */
export interface FirstFire extends Message {
  readonly type: "fire.first";
  readonly fire: FireHook;
  /** The key that the loop guard counts it under; null for what is not counted. */
  readonly change: ChangeFired | null;
}

/** A new hook occurrence that the loop guard stops. */
export interface LoopedFire extends Message {
  readonly type: "fire.looped";
  readonly fire: FireHook;
  readonly why: string;
}

/** A hook occurrence that has begun before, and may have ended. No state takes it. */
interface RepeatedFire extends Message {
  readonly type: "fire.repeated";
}

const deliveryClasses = {
  attempting: "delivery.next",
  waiting: "delivery.retry",
  delivered: "delivery.done",
  refused: "delivery.refused",
  failed: "delivery.failed",
} as const satisfies Record<HookOccurrenceState, string>;

type DeliveryClass = (typeof deliveryClasses)[HookOccurrenceState] | "delivery.again";

/** The request of a step has ended. */
export type DeliveryEnded = {
  readonly [Class in DeliveryClass]: Message & {
    readonly type: Class;
    readonly result: DeliveryResult;
    readonly outcome: StepOutcome;
  };
}[DeliveryClass];

/** A classified message, with what was read to classify it. */
export type HookOccurrenceEvent =
  | FirstFire
  | LoopedFire
  | RepeatedFire
  | DeliveryEnded
  | EffectEnded
  | GatekeeperTimedOut
  | Woken;

interface HookOccurrenceMachineState {
  readonly value: string;
  readonly context: HookOccurrenceContext;
}

/** Classifies each message to a hook occurrence as an event of its machine. Reads only. */
export function classifyHookOccurrence(
  message: FireHook | EffectEnded | GatekeeperTimedOut | Woken,
  { context }: HookOccurrenceMachineState,
  turn: TurnReading,
): HookOccurrenceEvent {
  if (message.type === "hook.fire") return classifyFire(message, turn);
  if (!isResultOf(DELIVERY_EFFECT, message)) return message;
  const result = toDeliveryResult(message);
  const outcome = toStepOutcome(result, context);
  const type = outcome.isAgain === true ? "delivery.again" : deliveryClasses[outcome.next];
  return { type, result, outcome };
}

function classifyFire(fire: FireHook, turn: TurnReading): FirstFire | LoopedFire | RepeatedFire {
  const { why, change } = checkLoop(turn, fire);
  // A hook without a count cannot have fired, so the look-up is skipped.
  const mayHaveFired = change === null || change.times.length > 0;
  if (mayHaveFired && findHookOccurrence(turn, turn.self.partition, fire.work.teamId, turn.self.id) !== undefined) {
    return { type: "fire.repeated" };
  }
  return why === null ? { type: "fire.first", fire, change } : { type: "fire.looped", fire, why };
}
