import type { ModelOutcome } from "./model.effects.js";

/** How long a question has been asked, as the asker keeps it. */
export interface ModelAsking {
  /** When it was asked first. */
  readonly sinceMs: number;
  /** Waits so far. */
  readonly waits: number;
}

/** What an asker does after an outcome. Texts may be shown. */
export type AskedModel<Answer> =
  | { readonly state: "answered"; readonly answer: Answer }
  /** To be asked again at this time, by a durable timer. */
  | { readonly state: "waiting"; readonly askAtMs: number; readonly asking: ModelAsking; readonly reason: string }
  /** There is no answer. `unavailable`: the model was not to be had for a day. */
  | {
      readonly state: "failed";
      readonly code: "not-set-up" | "refused" | "unreadable" | "unavailable";
      readonly reason: string;
    };

/** Longest time that a question waits for the model, in milliseconds. */
export const MAX_MODEL_WAIT_MS = 24 * 60 * 60 * 1_000;
const FIRST_WAIT_MS = 5_000;
const MAX_WAIT_MS = 10 * 60 * 1_000;

/**
 * The next step of a question. It is asked again at once after a crash, and after a wait of 5 seconds that doubles up to
 * 10 minutes, or as long as the host says, while the model is not available; at most 24 hours after it was asked first.
 * `read` parses an answer once more, and gives null for one that it cannot use.
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
  const reason = isInterrupted ? "the service was killed before there was an answer" : outcome.reason;
  if (nowMs >= endMs) return { state: "failed", code: "unavailable", reason };
  if (isInterrupted) return { state: "waiting", askAtMs: nowMs, asking, reason };
  const waitedMs = nowMs + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** waits);
  const askAtMs = Math.min(endMs, Math.max(waitedMs, outcome.retryAtMs ?? waitedMs));
  return { state: "waiting", askAtMs, asking: { sinceMs, waits: waits + 1 }, reason };
}
