import type { Effect, EffectContext, PreparedRun } from "../../../runtime/cells/actor-type.js";
import type { Clock } from "../../../runtime/clock.js";
import { effect, withBeginMarked } from "../../../runtime/effects/effect-type.js";
import type { RunSignal } from "../../../runtime/effects/run-signal.js";
import type { WorkEvent } from "../../events/catalogue.js";
import { toFailure } from "../../outbound/http/failure.js";
import { afterEventLane, beforeEventLane } from "../../outbound/http/lanes.js";
import type { NetworkRequests } from "../../outbound/http/network-requests.js";
import type { Outbound } from "../../outbound/http/request.js";
import { requestedWaitMs } from "../../outbound/http/retry-after.js";
import { type TraceHeaders, untraced } from "../../outbound/http/trace-headers.js";
import { timeText } from "../../time-text.js";
import { makeCall, type PreparedCall } from "./call-step.js";
import {
  cachingSealer,
  type Delivery,
  type PreparedRequest,
  prepareRequest,
  type RequestOptions,
} from "./delivery-request.js";
import type { DeliveryResult } from "./delivery-result.js";
import { INTERRUPTED, NO_PLACE, NOT_RUNNING } from "./failure-codes.js";
import { MAX_OUTPUT_BYTES, readHookAnswer } from "./hook-answer.js";
import { toRecordedHeaders } from "./recorded-headers.js";
import { recordCall } from "./recorded-request.js";

/**
 * Makes the request of one step of a hook occurrence. The effect's memo is the event. If there is no memo, the effect
 * reads the event from the occurrence's row.
 */
export const DELIVERY_EFFECT = effect<DeliveryInput, DeliveryResult, WorkEvent>("hook-delivery");

/**
 * Maximum size of a response to a hook on a `before` event, in bytes. The service reads the whole response, because a
 * refusal can be anywhere in it.
 */
const MAX_BEFORE_ANSWER_BYTES = 1024 * 1024;

/** Estimated memory of a prepared request, in bytes, without its body. */
const REQUEST_OVERHEAD_BYTES = 4_096;

/**
 * The effect's input. Everything else is read when the effect runs, so that a retry uses the hook's current definition.
 */
export interface DeliveryInput {
  readonly teamId: string;
  readonly hookId: string;
  readonly step: number;
  /** Timeout of the request from the time it is sent, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * The latest time at which the request may get a slot, if the step is on a `before` event. In milliseconds since
   * 1970; absent on an `after` event.
   */
  readonly deadlineMs?: number;
}

export interface DeliveryOptions extends RequestOptions {
  readonly outbound: Pick<Outbound, "post" | "send">;
  /** Sends requests from the workspace's network. */
  readonly network: Pick<NetworkRequests, "post">;
  readonly clock: Clock;
  readonly traceHeaders?: TraceHeaders | undefined;
}

/**
 * Makes the request of one step of a hook occurrence. Every failure becomes a result with a code; the effect never
 * rejects.
 */
export function deliveryEffect(given: DeliveryOptions): Effect {
  const options = { ...given, sealer: cachingSealer(given.sealer), startedMs: given.clock.now() };
  return withBeginMarked(
    DELIVERY_EFFECT.implementPrepared((input, context) => prepareDelivery(options, input, context)),
  );
}

function prepareDelivery(
  options: DeliveryOptions & { readonly startedMs: number },
  { teamId, hookId, step, timeoutMs, deadlineMs }: DeliveryInput,
  { owner, memo: event, mayHaveBegun }: EffectContext<WorkEvent | undefined>,
): PreparedRun<DeliveryResult> {
  const workspaceId = owner.partition;
  const delivery: Delivery = { workspaceId, teamId, hookId, hookOccurrenceId: owner.id, step, event };
  const nowMs = options.clock.now();
  const prepared = prepareRequest(options, delivery, nowMs);
  if ("code" in prepared) {
    const { code, reason, step: name } = prepared;
    return { place: null, begin: async () => ({ ...notSent(name, nowMs), code, reason }) };
  }
  // The process was killed, and may have sent this request before. The attempt counts as failed. On a `before` event
  // the service then sends the request again. The service never repeats a tool call, because the first call may have
  // had its effect.
  if (mayHaveBegun) {
    const recorded = prepared.kind === "call" ? recordCall(prepared.request) : prepared.recorded;
    const interrupted = {
      ...notSent(prepared.step, nowMs),
      ...recorded,
      code: "errored",
      reason: INTERRUPTED,
    } as const;
    const isAskedAgain = deadlineMs !== undefined && prepared.kind === "request";
    return { place: null, begin: async () => (isAskedAgain ? { ...interrupted, isAskedAgain } : interrupted) };
  }
  if (deadlineMs !== undefined && deadlineMs < options.startedMs) {
    const missed = { ...notSent(prepared.step, deadlineMs), code: "timeout", reason: NOT_RUNNING } as const;
    return { place: null, begin: async () => missed };
  }
  const { url, body, from } = prepared.kind === "call" ? toSentRequest(prepared) : prepared;
  const place = { target: `${from} ${url.host}`, bytes: body.length + REQUEST_OVERHEAD_BYTES };
  return {
    place:
      deadlineMs === undefined
        ? { ...place, lane: afterEventLane }
        : {
            ...place,
            lane: beforeEventLane,
            patience: {
              untilMs: deadlineMs,
              output: { ...notSent(prepared.step, deadlineMs), code: "timeout", reason: NO_PLACE },
            },
          },
    begin: (signal) =>
      prepared.kind === "call"
        ? makeCall(options, { prepared, timeoutMs, isBefore: deadlineMs !== undefined }, signal)
        : deliver(options, { workspaceId, timeoutMs, prepared, isBefore: deadlineMs !== undefined }, signal),
  };
}

/** Returns the parts of a call's request that decide its slot. */
function toSentRequest({ request: { request } }: PreparedCall) {
  return { url: request.url, body: request.body ?? "", from: "service" } as const;
}

/** Returns the attempt of a request that was not sent. */
function notSent(step: string, atMs: number): Omit<DeliveryResult, "code" | "reason"> {
  return { step, at: timeText(atMs), tookMs: 0, requestHeaders: {}, status: null, body: "" };
}

interface Sent {
  readonly workspaceId: string;
  readonly timeoutMs: number;
  readonly prepared: PreparedRequest;
  /** Whether the event waits for the response. */
  readonly isBefore: boolean;
}

/** Sends the request. The request's timeout starts now. */
async function deliver(
  { clock, network, outbound, traceHeaders = untraced }: DeliveryOptions,
  { workspaceId, timeoutMs, prepared, isBefore }: Sent,
  signal: RunSignal,
): Promise<DeliveryResult> {
  const { url, body, step, from } = prepared;
  const headers = { ...traceHeaders(), ...prepared.headers };
  const startedMs = clock.now();
  const about = { step, at: timeText(startedMs), ...prepared.recorded, requestHeaders: toRecordedHeaders(headers) };
  const maxBodyBytes = isBefore ? MAX_BEFORE_ANSWER_BYTES : MAX_OUTPUT_BYTES;
  try {
    const request = { url, headers, body, timeoutMs, signal, maxBodyBytes };
    const answer = await (from === "network" ? network.post(workspaceId, request) : outbound.post(request));
    const read = readHookAnswer(answer, isBefore);
    const tookMs = clock.now() - startedMs;
    const retryAfterMs = read.code === null ? null : requestedWaitMs(answer.retryAfter, clock.now());
    return { ...about, tookMs, status: answer.status, ...read, retryAfterMs };
  } catch (error) {
    const { code, reason } = toFailure(error);
    return { ...about, tookMs: clock.now() - startedMs, status: null, body: "", code, reason };
  }
}
