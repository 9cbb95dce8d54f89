import { readJson } from "../exact-json.js";
import type { IntegrationRequestCode, IntegrationRequestResult } from "../integrations/requests/integration-request.js";
import { cutBytes } from "../tables/cut-bytes.js";
import { timeText } from "../time-text.js";
import { cutText } from "../well-formed.js";
import type { ToolCallCode } from "./tool-call.js";

/** What an agent is told of the request of its call, and what hooks see of it. */

/** Most that an agent is told of a failed request's answer, in bytes of UTF-8. */
const MAX_EXCERPT_BYTES = 2_048;
/** Most that hooks see of an output, in bytes of its JSON text. */
const MAX_HOOK_OUTPUT_BYTES = 16 * 1024;
/** Most that an agent is told of inputs that a person changed, in characters of their JSON text. */
const MAX_EDITED_CHARACTERS = 2_000;
/** Longest sentence on a failure, in characters. */
const MAX_MESSAGE_CHARACTERS = 1_000;

/** Codes of requests that were not sent. */
const unsent: ReadonlySet<IntegrationRequestCode> = new Set(["not-connected", "not-allowed", "unwritable", "broken"]);

/** Whether a request may have left the service. */
export function mayHaveLeft({ code }: Pick<IntegrationRequestResult, "code">): boolean {
  return code === null || !unsent.has(code);
}

export function toCallCode({ code }: Pick<IntegrationRequestResult, "code">): ToolCallCode {
  return code === null ? "errored" : code === "interrupted" ? "outcome-unknown" : code;
}

/** Codes of requests that were not answered, or with something that says nothing. */
const lost: ReadonlySet<IntegrationRequestCode> = new Set(["timeout", "unreachable", "errored"]);
const UNKNOWN = "It is not known whether it happened.";

/** One sentence on a failed request, and another where what it was to change may have been changed. */
export function toFailureMessage(
  name: string,
  { code, reason, method, isUnsent }: Pick<IntegrationRequestResult, "code" | "reason" | "method" | "isUnsent">,
): string {
  if (code === "interrupted") return `The service ended while ${name} was called. ${UNKNOWN}`;
  const why = cutText(`${name} failed: ${reason ?? code ?? "it went wrong"}`, MAX_MESSAGE_CHARACTERS);
  const isAnswerLost = code !== null && lost.has(code) && isUnsent !== true;
  return isAnswerLost && method !== "GET" ? `${why}. ${UNKNOWN}` : `${why}.`;
}

/** What the agent is told of a failed request: the sentence, and the beginning of what was answered, without tags. */
export function toFailureText(message: string, { response }: Pick<IntegrationRequestResult, "response">): string {
  const excerpt = cutBytes(withoutTags(toText(response)).trim(), MAX_EXCERPT_BYTES);
  return excerpt === "" ? message : `${message}\n\n${excerpt}`;
}

/** What the agent is told of a successful one: its output, a text as it is; without one, also what of it has no value. */
export function toOutputText(output: string | null, unread: string | null): string {
  if (output !== null) return toText(output);
  return unread === null ? "Done." : `Done, but there is nothing to tell of it: ${unread}.`;
}

/** What the agent is told beside the outcome when a person changed its inputs. `inputs` is the JSON text of the new ones. */
export function toEditedNote(inputs: string): string {
  const isLong = inputs.length > MAX_EDITED_CHARACTERS;
  const shown = isLong ? `${cutText(inputs, MAX_EDITED_CHARACTERS - 1)}…` : inputs;
  return `A person changed the inputs of this call to ${shown}.`;
}

/** The text of a JSON text: a string's characters, anything else as JSON; empty for null. */
function toText(json: string | null): string {
  const value: unknown = json === null ? "" : readJson(json);
  return typeof value === "string" ? value : (json ?? "");
}

/** The output as hooks see it: one that is too long is the beginning of its text. */
export function toHookOutput(output: string | null): unknown {
  if (output === null) return null;
  return Buffer.byteLength(output) <= MAX_HOOK_OUTPUT_BYTES
    ? readJson(output)
    : cutBytes(toText(output), MAX_HOOK_OUTPUT_BYTES);
}

/** Most of an answer that is looked at for its excerpt, in characters. */
const MAX_LOOKED_AT = 16 * 1024;

/** Replaces tags by spaces. The time is linear in the length. */
function withoutTags(text: string): string {
  return text
    .slice(0, MAX_LOOKED_AT)
    .replace(/<\/?[a-z!][^<>]*>/gi, " ")
    .replace(/[^\S\n]+/g, " ");
}

/** The result of a request whose effect ended without one. */
export function toLostResult(nowMs: number): IntegrationRequestResult {
  const none = { method: null, origin: null, status: null, success: false, response: null, retryAfterMs: null };
  return { at: timeText(nowMs), tookMs: 0, ...none, captures: "{}", code: "errored", reason: "it went wrong" };
}
