import type { ReplyTo } from "../../runtime/cells/actor-type.js";
import type { EffectEnded } from "../../runtime/turns/turn.js";
import type { WorkEvent } from "../events/catalogue.js";
import type { DeliveryResult } from "./delivery/delivery-result.js";
import { type HookFailureCode, toRefusal } from "./delivery/failure-codes.js";
import { isRetried } from "./delivery/retry-policy.js";
import type { HookOccurrenceState } from "./hook-occurrence.js";

/**
 * The state that a hook occurrence stores between turns. It has all values that decide the outcome of a request, so the
 * decision needs no rows.
 */
export interface HookOccurrenceContext {
  readonly hookId: string;
  readonly hook: string;
  readonly on: WorkEvent["on"];
  readonly teamId: string;
  readonly attempt: number;
  /** Maximum number of attempts; 1 for a test. */
  readonly mostAttempts: number;
  readonly step: number;
  /** Requests made so far, over all attempts and steps. */
  readonly requests: number;
  /** The names of the hook's steps at the time of firing. */
  readonly steps: readonly string[];
  readonly timeoutMs: number;
  /**
   * Timeout of the next request, in milliseconds. On a `before` event this is the hook's `timeoutMs` minus the time
   * that its earlier requests took.
   */
  readonly leftMs: number;
  readonly blocks: boolean;
  /**
   * The latest time at which a request of a hook on a `before` event may get a slot. In milliseconds since 1970; 0 if
   * no event waits.
   */
  readonly deadlineMs: number;
  readonly gate: ReplyTo | null;
}

/** The effect of a finished request on its hook occurrence. */
export interface StepOutcome {
  readonly next: HookOccurrenceState;
  /** Whether the step repeats at once, as another attempt. */
  readonly isAgain?: true;
  readonly code: HookFailureCode | null;
  /** Why the step failed, as text for users; null if it did not fail. */
  readonly reason: string | null;
  /** Why the event is refused; null if it is not refused. */
  readonly refused: string | null;
}

/**
 * Returns the timeout that remains for the next request, in milliseconds. On an `after` event every request gets the
 * full timeout.
 */
export function leftAfter(result: DeliveryResult, { gate, leftMs }: HookOccurrenceContext): number {
  return gate === null ? leftMs : Math.max(0, leftMs - result.tookMs);
}

/** Returns the effect of a finished request. */
export function toStepOutcome(result: DeliveryResult, context: HookOccurrenceContext): StepOutcome {
  const before = context.gate !== null;
  if (result.isAskedAgain === true && context.attempt < context.mostAttempts) {
    return { next: "attempting", code: null, reason: null, refused: null, isAgain: true };
  }
  if (result.code !== null) {
    return !before && isRetried(result.code) && context.attempt < context.mostAttempts
      ? { next: "waiting", code: result.code, reason: result.reason, refused: null }
      : toFailedOutcome(context, { code: result.code, step: result.step, reason: result.reason ?? result.code });
  }
  const reason = before ? (result.refuses ?? null) : null;
  if (reason !== null) {
    return { next: "refused", code: null, reason: null, refused: `Hook ${context.hook} refused. Reason: ${reason}` };
  }
  const next = context.steps[context.step + 1];
  if (next === undefined) return { next: "delivered", code: null, reason: null, refused: null };
  return leftAfter(result, context) === 0
    ? toFailedOutcome(context, { code: "timeout", step: next, reason: "the hook's time ran out" })
    : { next: "attempting", code: null, reason: null, refused: null };
}

/** Returns the result of a step's effect. An effect that ended without a result counts as `errored`. */
export function toDeliveryResult({ result }: EffectEnded<DeliveryResult>): DeliveryResult {
  if (result.ok) return result.output;
  const none = { step: "", at: "", tookMs: 0, requestHeaders: {}, status: null, body: "" };
  return { ...none, code: "errored", reason: result.error };
}

function toFailedOutcome(
  { gate, blocks, hook }: HookOccurrenceContext,
  failure: { readonly code: HookFailureCode; readonly step: string; readonly reason: string },
): StepOutcome {
  const { code, step, reason } = failure;
  const refused = gate !== null && blocks ? toRefusal({ hook, step, reason }) : null;
  return { next: "failed", code, reason, refused };
}
