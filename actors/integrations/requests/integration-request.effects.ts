/**
 * The effect that sends integration requests: for actions and polls, and for lookups and attachments of events. Each
 * request goes only to those hosts of the integration that the deployment allows.
 *
 * 1. After a process kill, a request that may have been sent is repeated only if the input allows it. The method must
 *    have been GET at the start, and must still be GET.
 * 2. Secrets and tokens appear only in requests. No result, reason or log entry contains a secret or token.
 * 3. Redirects count as responses. Only an attachment's redirects are followed, within the integration's hosts.
 * 4. A GET is retried once if its connection drops. Requests with other methods are sent once.
 */
import type { Effect, EffectContext, PreparedRun } from "../../../runtime/cells/actor-type.js";
import type { Clock, Scheduler } from "../../../runtime/clock.js";
import { effect, withBeginMarked } from "../../../runtime/effects/effect-type.js";
import type { LaneLimits } from "../../../runtime/effects/lane.js";
import type { RunSignal } from "../../../runtime/effects/run-signal.js";
import type { RuntimeLog } from "../../../runtime/runtime.js";
import type { Reading } from "../../../storage/store.js";
import { attachmentLane, integrationCallLane, integrationWorkLane, pollLane } from "../../outbound/http/lanes.js";
import type { Outbound } from "../../outbound/http/request.js";
import type { Sealer } from "../../sealer.js";
import { timeText } from "../../time-text.js";
import type { ReadBodies } from "../read-bodies.js";
import { findRequest } from "./find-request.js";
import type { IntegrationRequestInput, IntegrationRequestResult } from "./integration-request.js";
import { type PreparedRequest, prepareRequest } from "./prepare-request.js";
import { bytesOfBody } from "./request-names.js";
import { sendRequest } from "./send-request.js";

/** Sends a request of an integration's definition, and evaluates the response. It never rejects. */
export const INTEGRATION_REQUEST = effect<IntegrationRequestInput, IntegrationRequestResult>("integration-request");

/** Estimated memory of a prepared request, in bytes, without its body and its expressions' values. */
const REQUEST_OVERHEAD_BYTES = 4_096;

/** The reason of a result with the code `interrupted`. The request may or may not have been sent. */
export const INTERRUPTED = "the service was killed before there was an answer; the request may have arrived";

export interface IntegrationRequestOptions {
  readonly reading: () => Reading;
  readonly outbound: Pick<Outbound, "send">;
  readonly sealer: Pick<Sealer, "open">;
  readonly clock: Clock;
  readonly baseUrl: () => string;
  /** The cache of parsed delivery bodies; without it, each body is parsed again. */
  readonly bodies?: ReadBodies;
  /**
   * If present, each response is read in its own round of the event loop. If absent, responses that arrive together are
   * read in the same round.
   */
  readonly scheduler?: Scheduler;
  /** Receives only the name of an unexpected error: its message may contain unsealed data. */
  readonly log: Pick<RuntimeLog, "error">;
}

/** Creates the effect. Every failure becomes a result with a code. */
export function integrationRequestEffect(options: IntegrationRequestOptions): Effect {
  return withBeginMarked(
    INTEGRATION_REQUEST.implementPrepared((input, context) => {
      try {
        return prepare(options, input, context);
      } catch (error) {
        return ended(failed(options, context.id, error));
      }
    }),
  );
}

function prepare(
  options: IntegrationRequestOptions,
  input: IntegrationRequestInput,
  { id, owner, mayHaveBegun }: EffectContext,
): PreparedRun<IntegrationRequestResult> {
  const workspaceId = owner.partition;
  const nowMs = options.clock.now();
  if (mayHaveBegun && !mayBeMadeAgain(options, workspaceId, input))
    return ended({ ...unsent(nowMs), code: "interrupted", reason: INTERRUPTED });
  const prepared = prepareRequest(options, { workspaceId, input, nowMs });
  if ("code" in prepared) return ended({ ...unsent(nowMs), ...prepared });
  const { url, body } = prepared.request;
  const { bodyDigest } = input;
  const seenBytes = bytesOfBody(options.reading(), workspaceId, { names: prepared.names, bodyDigest });
  return {
    place: {
      lane: toLane(input),
      target: url.host,
      bytes: (body?.length ?? 0) + input.values.length + seenBytes + REQUEST_OVERHEAD_BYTES,
    },
    isMadeOnce: input.again === "never" || prepared.request.method !== "GET",
    begin: (signal) => begin(options, { id, prepared, input }, signal),
  };
}

async function begin(
  options: IntegrationRequestOptions,
  {
    id,
    prepared,
    input,
  }: { readonly id: string; readonly prepared: PreparedRequest; readonly input: IntegrationRequestInput },
  signal: RunSignal,
): Promise<IntegrationRequestResult> {
  try {
    return await sendRequest(options, { prepared, input }, signal);
  } catch (error) {
    return failed(options, id, error);
  }
}

function mayBeMadeAgain(
  { reading }: IntegrationRequestOptions,
  workspaceId: string,
  input: IntegrationRequestInput,
): boolean {
  const { again, method: then = "GET" } = input;
  if (again !== "after-a-crash" || then !== "GET") return false;
  return findRequest(reading(), workspaceId, input)?.request.method === "GET";
}

function toLane({ block, lane }: IntegrationRequestInput): LaneLimits {
  if (block.kind === "poll") return pollLane;
  if (block.kind === "attachment") return attachmentLane;
  return lane === "waiting" ? integrationCallLane : integrationWorkLane;
}

function ended(result: IntegrationRequestResult): PreparedRun<IntegrationRequestResult> {
  return { place: null, begin: async () => result };
}

function failed({ clock, log }: IntegrationRequestOptions, id: string, error: unknown): IntegrationRequestResult {
  log.error("an integration request failed", {
    id,
    error: error instanceof Error ? error.name : typeof error,
  });
  return { ...unsent(clock.now()), code: "errored", reason: "it went wrong" };
}

/** Returns the result of a request that has no response, without its code and reason. */
function unsent(atMs: number): Omit<IntegrationRequestResult, "code" | "reason"> {
  const none = { method: null, origin: null, status: null, success: false, response: null, retryAfterMs: null };
  return { at: timeText(atMs), tookMs: 0, ...none, captures: "{}" };
}
