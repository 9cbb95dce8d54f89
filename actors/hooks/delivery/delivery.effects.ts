import type { Effect, EffectContext } from "../../../runtime/actor-type.js";
import type { Clock } from "../../../runtime/clock.js";
import { effect } from "../../../runtime/effect-type.js";
import type { WorkEvent } from "../../events/catalogue.js";
import { toFailure } from "../../outbound/failure.js";
import type { NetworkRequests } from "../../outbound/network-requests.js";
import type { Outbound } from "../../outbound/request.js";
import { findResource } from "../../resources/resource.table.js";
import { timeText } from "../../time-text.js";
import type { HookFields } from "../hook.js";
import type { AttemptRow } from "../hook-occurrence.table.js";
import {
  cachingSealer,
  type Delivery,
  prepareRequest,
  type RequestOptions,
  type UnpreparedRequest,
} from "./delivery-request.js";
import { toFailureCode } from "./failure-codes.js";
import { requestedWaitMs } from "./retry-policy.js";

/** Makes the request of one step of a hook occurrence; the memo is the event, when it need not be read. */
export const DELIVERY_EFFECT = effect<DeliveryInput, DeliveryResult, WorkEvent>("hook-delivery");

/** Longest stored output of a step, in bytes. */
export const MAX_OUTPUT_BYTES = 16 * 1024;

/** Deliveries that may run at once. */
const CONCURRENCY = 512;

/**
 * The effect's input: everything else is read when the effect runs, so that a retry uses the hook's current definition.
 */
export interface DeliveryInput {
  readonly teamId: string;
  readonly hookId: string;
  readonly step: number;
  readonly timeoutMs: number;
  /** Deadline of a hook on a before event; the effect may begin late, and again after a crash. */
  readonly deadlineMs?: number;
}

/** The effect's result; the actor numbers it. */
export type DeliveryResult = Omit<AttemptRow, "n">;

export interface DeliveryOptions extends RequestOptions {
  readonly outbound: Outbound;
  /** Carries requests from the workspace's network. */
  readonly network: Pick<NetworkRequests, "post">;
  readonly clock: Clock;
}

/** Makes the request of one step of a hook occurrence. Every failure is a result with its code; it never rejects. */
export function deliveryEffect(given: DeliveryOptions): Effect {
  const options = { ...given, sealer: cachingSealer(given.sealer) };
  return DELIVERY_EFFECT.implement(CONCURRENCY, (input, context) => deliver(options, input, context));
}

async function deliver(
  options: DeliveryOptions,
  { teamId, hookId, step: index, timeoutMs: givenMs, deadlineMs }: DeliveryInput,
  { owner, memo: event, signal }: EffectContext<WorkEvent | undefined>,
): Promise<DeliveryResult> {
  const workspaceId = owner.partition;
  const delivery: Delivery = { workspaceId, teamId, hookId, hookOccurrenceId: owner.id, step: index, event };
  const begunMs = options.clock.now();
  const at = timeText(begunMs);
  const timeoutMs = Math.min(givenMs, (deadlineMs ?? Number.POSITIVE_INFINITY) - begunMs);
  const prepared = timeoutMs > 0 ? prepareRequest(options, delivery, begunMs) : toTimeout(options, delivery);
  if ("code" in prepared) {
    const { code, reason, step } = prepared;
    return { step, at, tookMs: 0, requestHeaders: {}, status: null, body: "", code, reason };
  }
  const { url, headers, body, step, from } = prepared;
  const requestHeaders = toRecordedHeaders(headers);
  try {
    const request = { url, headers, body, timeoutMs, signal };
    const answer = await (from === "network"
      ? options.network.post(workspaceId, request)
      : options.outbound.post(request));
    const code = toFailureCode(answer.status);
    const reason = code === null ? null : `it responded ${answer.status}`;
    const tookMs = options.clock.now() - begunMs;
    const retryAfterMs = code === null ? null : requestedWaitMs(answer.retryAfter, options.clock.now());
    return { step, at, tookMs, requestHeaders, status: answer.status, body: answer.body, code, reason, retryAfterMs };
  } catch (error) {
    const { code, reason } = toFailure(error);
    return { step, at, tookMs: options.clock.now() - begunMs, requestHeaders, status: null, body: "", code, reason };
  }
}

/** A request that was not made: the hook's time ran out before it could begin. */
function toTimeout({ reading }: DeliveryOptions, { workspaceId, hookId, step }: Delivery): UnpreparedRequest {
  const hook = findResource<HookFields>(reading(), workspaceId, "hook", hookId);
  return { step: hook?.fields.steps[step]?.name ?? "", code: "timeout", reason: "the hook's time ran out" };
}

const RECORDED_HEADERS: ReadonlySet<string> = new Set([
  ...["content-type", "user-agent", "webhook-id", "webhook-timestamp", "service-hook", "service-callback-url"],
  ...["service-cause", "service-test"],
]);

/** The headers that history stores: none that authenticates anything, none with the hook's own values. */
function toRecordedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const recorded: Record<string, string> = { ...headers };
  for (const name in headers) if (!RECORDED_HEADERS.has(name)) recorded[name] = "(left out)";
  return recorded;
}
