import { cutBytes } from "../../tables/cut-bytes.js";

/** Longest reason of a refusal, in bytes. */
const MAX_REASON_BYTES = 16 * 1024;

/** The reason in an answer that refuses a before event: an object whose `refuse` is a non-empty string. Null for none. */
export function findRefusal(answer: unknown): string | null {
  const refuse = typeof answer === "object" && answer !== null && "refuse" in answer ? answer.refuse : null;
  return typeof refuse === "string" && refuse !== "" ? cutBytes(refuse, MAX_REASON_BYTES) : null;
}
