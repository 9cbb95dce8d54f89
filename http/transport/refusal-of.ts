import type { Refusal } from "../../actors/refusal.js";
import { isDamage, NotAccepted, Overloaded, Resting, Stopping, TurnFailed } from "../../runtime/runtime.js";
import type { EdgeRefusal } from "../wire/problem.js";
import { READ_ONLY } from "./entry.js";
import { CLIENT_GONE } from "./request-body.js";
import { ClientGone } from "./transport.js";

/** Converts a thrown error into a refusal. Reports bugs and damaged data to `failed`. */
export function toRefusal(
  error: unknown,
  requestId: string,
  failed: (requestId: string, error: unknown) => void,
): Refusal | EdgeRefusal {
  if (error instanceof ClientGone) return CLIENT_GONE;
  if (error instanceof NotAccepted) return { refused: "conflict", detail: untakenText(error) };
  if (error instanceof Overloaded) {
    return { refused: "unavailable", detail: "Too many requests are queued for this resource.", retryAfterSeconds: 1 };
  }
  if (error instanceof Resting) return READ_ONLY;
  if (error instanceof Stopping) {
    return { refused: "unavailable", detail: "The service is shutting down.", retryAfterSeconds: 5 };
  }
  failed(requestId, error);
  if (isDamage(error)) {
    return { refused: "damaged", detail: "The stored data of this resource is damaged; the log names the row." };
  }
  const what = error instanceof TurnFailed ? "The change failed" : "An internal error occurred";
  return { refused: "internal", detail: `${what}; see the log for request ${requestId}.` };
}

/**
 * Actor kinds whose state a refusal may name, because readers can see that state. The states of other kinds would
 * reveal too much.
 */
const STATED: ReadonlySet<string> = new Set(["task", "run"]);

function untakenText({ untaken }: NotAccepted): string {
  if (untaken?.state === undefined || !STATED.has(untaken.kind)) return "This is not possible in the current state.";
  const wanted = untaken.message.slice(untaken.message.indexOf(".") + 1);
  return `The ${untaken.kind} is in the state ${untaken.state}, which does not accept ${wanted}.`;
}
