import { cutBytes } from "../../tables/cut-bytes.js";

/** Maximum length of a refusal's reason, in bytes. */
const MAX_REASON_BYTES = 16 * 1024;

/**
 * Returns the reason in a response that refuses an event with `before` timing: an object whose `refuse` is a non-empty
 * string. Returns null if the response does not refuse.
 */
export function findRefusal(answer: unknown): string | null {
  const refuse = typeof answer === "object" && answer !== null && "refuse" in answer ? answer.refuse : null;
  return typeof refuse === "string" && refuse !== "" ? cutBytes(refuse, MAX_REASON_BYTES) : null;
}
