import type { RunSignal } from "../../../runtime/effects/run-signal.js";
import type { RuntimeLog } from "../../../runtime/runtime.js";
import { toFailure } from "../http/failure.js";
import type { Outbound } from "../http/request.js";
import { requestedWaitMs } from "../http/retry-after.js";
import { type TraceHeaders, untraced } from "../http/trace-headers.js";
import { type Completion, readAnswer } from "./model-answer.js";
import { readErrorCode } from "./model-error.js";
import { findNamedPart, KnownLimits } from "./model-limits.js";
import { type ModelRequest, toModelBody } from "./model-request.js";
import type { ModelSettings } from "./model-settings.js";

/** A model's reply to one request. A reason contains no key, and nothing of a response body except an error code. */
export type ModelReply =
  | ({ readonly kind: "completion" } & Completion)
  /** A retry may succeed. `mayCost`: the model may have started to answer, so the call may cost money. */
  | {
      readonly kind: "unavailable";
      readonly reason: string;
      /** When the host asks to be called again; null if it does not say. */
      readonly retryAtMs: number | null;
      readonly mayCost: boolean;
    }
  /** The same request cannot succeed later. */
  | { readonly kind: "refused"; readonly reason: string };

/** The deployment's model. */
export interface Model {
  readonly settings: ModelSettings;
  /** Never rejects, unless there is a bug. */
  complete(request: ModelRequest, signal: RunSignal): Promise<ModelReply>;
  /** Logs that an answer was unusable even after repairs. Logs nothing of the answer. */
  noteUnreadable(): void;
}

/** Maximum time for an answer, in milliseconds. Reasoning models take minutes. */
const ANSWER_TIMEOUT_MS = 5 * 60 * 1_000;

export interface ModelOptions {
  readonly settings: ModelSettings;
  /** Must have `modelAddresses` as allow-list and `MAX_MODEL_ANSWER_BYTES` as `maxBodyBytes`. */
  readonly outbound: Pick<Outbound, "post">;
  readonly now: () => number;
  /** Receives the host, and the status or the error's code. */
  readonly log: Pick<RuntimeLog, "warn">;
  readonly traceHeaders?: TraceHeaders | undefined;
  /** Timeout of each request in milliseconds; the default is 5 minutes. */
  readonly timeoutMs?: number;
}

/**
 * Creates a client of the model.
 *
 * If a refusal with status 400, 404 or 422 names a part of the request that some models do not accept, the client
 * retries without that part. If the refusal names no such part, the client retries without the schema. If the schema
 * was already dropped, the refusal is final.
 */
export function createModel(options: ModelOptions): Model {
  const known = new KnownLimits();
  const complete = async (request: ModelRequest, signal: RunSignal): Promise<ModelReply> => {
    let [without, named] = [known.read(request.model), known.read(request.model)];
    for (;;) {
      const sent = await send(options, toModelBody(request, without), signal);
      if (sent.kind === "completion") known.add(request.model, without);
      // If the refusals named no part, only a successful retry would prove that the dropped part was the cause. This
      // retry did not succeed, so remember only the parts that refusals named.
      if (sent.kind === "unavailable") known.add(request.model, named);
      if (sent.kind !== "rejected") return sent;
      const part = findNamedPart(without, sent.body);
      if (part === null && without.has("schema")) return toRefusal(options, sent);
      if (part !== null) named = new Set([...named, part]);
      without = new Set([...without, part ?? "schema"]);
    }
  };
  const noteUnreadable = () => {
    options.log.warn("the model's answers cannot be used", { host: new URL(options.settings.url).host });
  };
  return { settings: options.settings, complete, noteUnreadable };
}

/** The reply to one request, or a refusal that may concern one of the request's parts. */
type Sent = ModelReply | ({ readonly kind: "rejected" } & HostError);

/**
 * An error of the host. `status` is the answer's status, or the status that an error inside a successful answer means;
 * null if that error has no known code.
 */
interface HostError {
  readonly status: number | null;
  readonly body: string;
  readonly retryAtMs: number | null;
}

/** Statuses that hosts return for a request with a part that the model does not accept. */
const REJECTED: ReadonlySet<number> = new Set([400, 404, 422]);
/** Statuses below 500 after which the same request may succeed later. */
const BUSY: ReadonlySet<number> = new Set([408, 425, 429]);

async function send(options: ModelOptions, body: string, signal: RunSignal): Promise<Sent> {
  const { settings, outbound, now, log, traceHeaders = untraced, timeoutMs = ANSWER_TIMEOUT_MS } = options;
  const url = new URL(`${settings.url}/chat/completions`);
  const headers = {
    ...traceHeaders(),
    accept: "application/json",
    "content-type": "application/json",
    "user-agent": "Service-Model/1",
    ...(settings.key === null ? {} : { authorization: `Bearer ${settings.key}` }),
  };
  const answer = await outbound
    .post({ url, headers, body, timeoutMs, signal })
    .catch((error: unknown) => ({ failure: toFailure(error) }));
  if ("failure" in answer) {
    const { reason, isUnsent = false } = answer.failure;
    if (!signal.aborted) log.warn("the model did not answer", { host: url.host, why: reason });
    return { kind: "unavailable", reason, retryAtMs: null, mayCost: !isUnsent };
  }
  const { status, unread } = answer;
  if (isSuccess(status) && unread !== undefined && unread.kind !== "size") {
    const reason = `the model's answer cannot be read: ${unread.reason}`;
    log.warn("the model did not answer", { host: url.host, why: reason });
    return { kind: "unavailable", reason, retryAtMs: null, mayCost: true };
  }
  const waitMs = requestedWaitMs(answer.retryAfter, now());
  const error = { body: answer.body, retryAtMs: waitMs === null ? null : now() + waitMs };
  if (!isSuccess(status)) return takeError(options, { ...error, status });
  const read = readAnswer(answer.body);
  return read.kind === "completion" ? read : takeError(options, { ...error, status: read.status });
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Classifies an error. An error costs nothing, because the host sent it instead of a completion. */
function takeError(options: ModelOptions, error: HostError): Sent {
  const { status, retryAtMs } = error;
  if (status !== null && REJECTED.has(status)) return { kind: "rejected", ...error };
  if (status !== null && status < 500 && !BUSY.has(status)) return toRefusal(options, error);
  options.log.warn("the model did not answer", { host: new URL(options.settings.url).host, status });
  const reason = `the model answered ${status ?? "without a completion"}`;
  return { kind: "unavailable", reason, retryAtMs, mayCost: false };
}

function toRefusal({ settings, log }: ModelOptions, { status, body }: HostError): ModelReply {
  const code = readErrorCode(body);
  const named = code === null || settings.key?.includes(code) === true ? "" : ` (${code})`;
  log.warn("the model rejected a request", { host: new URL(settings.url).host, status });
  const setting = status === 401 || status === 403 ? ": it rejected the service's MODEL_KEY" : "";
  return { kind: "refused", reason: `the model answered ${status}${named}${setting}` };
}
