import type { RunSignal } from "../../runtime/run-signal.js";
import type { RuntimeLog } from "../../runtime/runtime.js";
import { toFailure } from "./failure.js";
import { type Completion, readCompletion, readModelError } from "./model-answer.js";
import { addLimit, type ModelLimits, type ModelRequest, NO_LIMITS, toModelBody } from "./model-request.js";
import type { ModelSettings } from "./model-settings.js";
import type { Outbound } from "./request.js";
import { requestedWaitMs } from "./retry-after.js";

/** The answer of a model to one request. Texts hold nothing of a body, and no key. */
export type ModelReply =
  | ({ readonly kind: "completion" } & Completion)
  /** Asking again may succeed. `mayCost` says whether the model may have begun to answer. */
  | {
      readonly kind: "unavailable";
      readonly reason: string;
      /** When the host wants to be asked again; null when it does not say. */
      readonly retryAtMs: number | null;
      readonly mayCost: boolean;
    }
  /** Asking the same again cannot succeed. */
  | { readonly kind: "refused"; readonly reason: string };

/** The deployment's model. */
export interface Model {
  readonly settings: ModelSettings;
  /** Never rejects, unless by a bug. */
  complete(request: ModelRequest, signal: RunSignal): Promise<ModelReply>;
  /** Notes in the log that answers had another form than asked for, also after repairs. Tells nothing of them. */
  noteUnreadable(): void;
}

/** Longest time for an answer: models that think take minutes. */
const ANSWER_TIMEOUT_MS = 5 * 60 * 1_000;
/** Most models whose limits are remembered; beyond that the one that was asked least recently is forgotten. */
const MAX_KNOWN_MODELS = 200;

export interface ModelOptions {
  readonly settings: ModelSettings;
  /** Its allow-list is `modelAddresses`; its `maxBodyBytes` is `MAX_MODEL_ANSWER_BYTES`. */
  readonly outbound: Pick<Outbound, "post">;
  readonly now: () => number;
  /** Receives the host, and the status or the error's code. */
  readonly log: Pick<RuntimeLog, "warn">;
  /** Time for each request, in milliseconds; 5 minutes unless given. */
  readonly timeoutMs?: number;
}

/** A client of the model. */
export function createModel(options: ModelOptions): Model {
  const known = new KnownLimits();
  const complete = async (request: ModelRequest, signal: RunSignal): Promise<ModelReply> => {
    let limits = known.of(request.model);
    for (;;) {
      const sent = await send(options, toModelBody(request, limits), signal);
      if (sent.kind !== "rejected") {
        if (sent.kind === "completion") known.remember(request.model, limits);
        return sent;
      }
      const further = addLimit(limits, sent.body);
      if (further === null) return toRefusal(options, 400, sent.body);
      limits = further;
    }
  };
  const noteUnreadable = () => {
    options.log.warn("the model's answers cannot be used", { host: new URL(options.settings.url).host });
  };
  return { settings: options.settings, complete, noteUnreadable };
}

/** What models do not take, by name: learnt from their refusals, once a request without it succeeded. */
class KnownLimits {
  readonly #limits = new Map<string, ModelLimits>();

  of(model: string): ModelLimits {
    return this.#limits.get(model) ?? NO_LIMITS;
  }

  remember(model: string, limits: ModelLimits): void {
    this.#limits.delete(model);
    if (limits === NO_LIMITS) return;
    this.#limits.set(model, limits);
    const oldest = this.#limits.size > MAX_KNOWN_MODELS ? this.#limits.keys().next() : undefined;
    if (oldest?.done === false) this.#limits.delete(oldest.value);
  }
}

/** The reply to one request, or the body of a 400. */
type Sent = ModelReply | { readonly kind: "rejected"; readonly body: string };

async function send(options: ModelOptions, body: string, signal: RunSignal): Promise<Sent> {
  const { settings, outbound, now, log, timeoutMs = ANSWER_TIMEOUT_MS } = options;
  const url = new URL(`${settings.url}/chat/completions`);
  const headers = {
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
  if (status === 200 && unread !== undefined && unread.kind !== "size") {
    const reason = `the model's answer cannot be read: ${unread.reason}`;
    log.warn("the model did not answer", { host: url.host, why: reason });
    return { kind: "unavailable", reason, retryAtMs: null, mayCost: true };
  }
  if (status === 200) return { kind: "completion", ...readCompletion(answer.body) };
  if (status === 400) return { kind: "rejected", body: answer.body };
  if (status < 500 && ![408, 425, 429].includes(status)) return toRefusal(options, status, answer.body);
  const waitMs = requestedWaitMs(answer.retryAfter, now());
  log.warn("the model did not answer", { host: url.host, status });
  const retryAtMs = waitMs === null ? null : now() + waitMs;
  return { kind: "unavailable", reason: `the model answered ${status}`, retryAtMs, mayCost: false };
}

function toRefusal({ settings, log }: ModelOptions, status: number, body: string): ModelReply {
  const { code } = readModelError(body);
  const named = code === null || settings.key?.includes(code) === true ? "" : ` (${code})`;
  log.warn("the model refused", { host: new URL(settings.url).host, status });
  const setting = status === 401 || status === 403 ? ": it does not take the service's MODEL_KEY" : "";
  return { kind: "refused", reason: `the model answered ${status}${named}${setting}` };
}
