import type { ModelOutcome } from "./model.effects.js";

/** The retry state of a question, which the caller stores. */
export interface ModelAsking {
  /** When the question was first asked, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** Number of waits for an unavailable model so far. */
  readonly waits: number;
}

/** The caller's next step after an outcome. Texts may be shown to people. */
export type AskedModel<Answer> =
  | { readonly state: "answered"; readonly answer: Answer }
  /** Ask again at this time. The caller sets a durable timer. */
  | { readonly state: "waiting"; readonly askAtMs: number; readonly asking: ModelAsking; readonly reason: string }
  /** There is no answer. `unavailable`: the model was unavailable for a day. */
  | {
      readonly state: "failed";
      readonly code: "not-set-up" | "refused" | "unreadable" | "unavailable";
      readonly reason: string;
    };

/** Maximum time that a question waits for the model, in milliseconds. */
export const MAX_MODEL_WAIT_MS = 24 * 60 * 60 * 1_000;
const FIRST_WAIT_MS = 5_000;
const MAX_WAIT_MS = 10 * 60 * 1_000;

/**
 * Returns the next step of a question. After a crash, the caller asks again at once. While the model is unavailable,
 * the caller waits 5 seconds, then twice as long each time up to 10 minutes, or longer if the host says so. The wait
 * ends at the latest 24 hours after the first request. `read` parses an answer again, and returns null for an unusable
 * answer.
 */
export function continueAsking<Answer>(
  asking: ModelAsking,
  outcome: ModelOutcome,
  { nowMs, read }: { readonly nowMs: number; read(value: unknown, model: string): Answer | null },
): AskedModel<Answer> {
  if (outcome.state === "failed") return { state: "failed", code: outcome.code, reason: outcome.reason };
  if (outcome.state === "answered") {
    const answer = read(outcome.value, outcome.model);
    if (answer !== null) return { state: "answered", answer };
    return { state: "failed", code: "unreadable", reason: "the model's answer cannot be used" };
  }
  const { sinceMs, waits } = asking;
  const endMs = sinceMs + MAX_MODEL_WAIT_MS;
  const isInterrupted = outcome.state === "interrupted";
  const reason = isInterrupted ? "the service was killed before the model answered" : outcome.reason;
  if (nowMs >= endMs) return { state: "failed", code: "unavailable", reason };
  if (isInterrupted) return { state: "waiting", askAtMs: nowMs, asking, reason };
  const waitedMs = nowMs + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** waits);
  const askAtMs = Math.min(endMs, Math.max(waitedMs, outcome.retryAtMs ?? waitedMs));
  return { state: "waiting", askAtMs, asking: { sinceMs, waits: waits + 1 }, reason };
}
