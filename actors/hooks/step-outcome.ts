import type { ReplyTo } from "../../runtime/actor-type.js";
import type { EffectEnded } from "../../runtime/turn.js";
import type { WorkEvent } from "../events/catalogue.js";
import type { DeliveryResult } from "./delivery/delivery-result.js";
import { type HookFailureCode, toRefusal } from "./delivery/failure-codes.js";
import { isRetried } from "./delivery/retry-policy.js";
import type { HookOccurrenceState } from "./hook-occurrence.table.js";

/** Everything that decides what the end of a request means, so that the decision reads no rows. */
export interface HookOccurrenceContext {
  readonly hookId: string;
  readonly hook: string;
  readonly on: WorkEvent["on"];
  readonly teamId: string;
  readonly attempt: number;
  /** A test has one attempt. */
  readonly mostAttempts: number;
  readonly step: number;
  /** Requests made so far, over all attempts and steps. */
  readonly requests: number;
  /** Names of the hook's steps when the hook fired. */
  readonly steps: readonly string[];
  readonly timeoutMs: number;
  /**
   * How long the next request may take: all of `timeoutMs`, and on a before event what the requests before it left of it.
   */
  readonly leftMs: number;
  readonly blocks: boolean;
  /** Until when requests of a hook on a before event may wait for their place; 0 on an after event. */
  readonly deadlineMs: number;
  readonly gate: ReplyTo | null;
}

/** What the end of a step's request means for the hook occurrence. */
export interface StepOutcome {
  readonly next: HookOccurrenceState;
  /** Whether the same step is made again at once, as another attempt. */
  readonly isAgain?: true;
  readonly code: HookFailureCode | null;
  /** Why the step failed, for people; null where it did not. */
  readonly reason: string | null;
  /** Why the event is refused, or null. */
  readonly refused: string | null;
}

/** What of a hook's time is left after a request. */
export function leftAfter(result: DeliveryResult, { gate, leftMs }: HookOccurrenceContext): number {
  return gate === null ? leftMs : Math.max(0, leftMs - result.tookMs);
}

/** What the end of a step's request means. */
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

/** A step whose effect ended without a result counts as `errored`. */
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
