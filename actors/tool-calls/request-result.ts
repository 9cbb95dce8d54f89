import { readJson } from "../exact-json.js";
import type { IntegrationRequestCode, IntegrationRequestResult } from "../integrations/requests/integration-request.js";
import { cutBytes } from "../tables/cut-bytes.js";
import { timeText } from "../time-text.js";
import { cutText } from "../well-formed.js";
import type { ToolCallCode } from "./tool-call.js";

/** The texts that agents get about a call's request, and the output that hooks see. */

/** Maximum length of the excerpt from a failed request's response, in bytes of UTF-8. */
const MAX_EXCERPT_BYTES = 2_048;
/** Maximum size of a call's output that hooks see completely, in bytes of JSON text. */
const MAX_HOOK_OUTPUT_BYTES = 16 * 1024;
/** Maximum length of changed inputs in the agent's note, in characters of JSON text. */
const MAX_EDITED_CHARACTERS = 2_000;
/** Maximum length of the failure sentence, in characters. */
const MAX_MESSAGE_CHARACTERS = 1_000;

/** Codes of requests that the service did not send. */
const unsent: ReadonlySet<IntegrationRequestCode> = new Set(["not-connected", "not-allowed", "unwritable", "broken"]);

/** Whether the service may have sent the request. */
export function mayHaveLeft({ code }: Pick<IntegrationRequestResult, "code">): boolean {
  return code === null || !unsent.has(code);
}

export function toCallCode({ code }: Pick<IntegrationRequestResult, "code">): ToolCallCode {
  return code === null ? "errored" : code === "interrupted" ? "outcome-unknown" : code;
}

/** Codes of requests without a usable response. */
const lost: ReadonlySet<IntegrationRequestCode> = new Set(["timeout", "unreachable", "errored"]);
const UNKNOWN = "It is not known whether it happened.";

/**
 * Returns a sentence about a failed request. A second sentence follows if it is unknown whether the request had an
 * effect.
 */
export function toFailureMessage(
  name: string,
  { code, reason, method, isUnsent }: Pick<IntegrationRequestResult, "code" | "reason" | "method" | "isUnsent">,
): string {
  if (code === "interrupted") return `The service stopped during the call of ${name}. ${UNKNOWN}`;
  const why = cutText(`${name} failed: ${reason ?? code ?? "it went wrong"}`, MAX_MESSAGE_CHARACTERS);
  const isAnswerLost = code !== null && lost.has(code) && isUnsent !== true;
  return isAnswerLost && method !== "GET" ? `${why}. ${UNKNOWN}` : `${why}.`;
}

/** Returns the agent's text about a failed request: `message`, and the start of the response without markup tags. */
export function toFailureText(message: string, { response }: Pick<IntegrationRequestResult, "response">): string {
  const excerpt = cutBytes(withoutTags(toText(response)).trim(), MAX_EXCERPT_BYTES);
  return excerpt === "" ? message : `${message}\n\n${excerpt}`;
}

/**
 * Returns the agent's text about a successful request: its output. If the output has no value, the text is the reason;
 * if there is no reason, `Done.`
 */
export function toOutputText(output: string | null, unread: string | null): string {
  if (output !== null) return toText(output);
  return unread === null ? "Done." : `The call succeeded, but its result cannot be shown: ${unread}.`;
}

/** Returns the agent's note about inputs that a person changed. `inputs` is the JSON text of the new inputs. */
export function toEditedNote(inputs: string): string {
  const isLong = inputs.length > MAX_EDITED_CHARACTERS;
  const shown = isLong ? `${cutText(inputs, MAX_EDITED_CHARACTERS - 1)}…` : inputs;
  return `A person changed the inputs of this call to ${shown}.`;
}

/** Converts a JSON text to plain text: a string to its characters, any other value to JSON, null to the empty text. */
function toText(json: string | null): string {
  const value: unknown = json === null ? "" : readJson(json);
  return typeof value === "string" ? value : (json ?? "");
}

/**
 * Returns the output that hooks see; null if there is no output. If the output is too long, returns the start of its
 * text.
 */
export function toHookOutput(output: string | null): unknown {
  if (output === null) return null;
  return Buffer.byteLength(output) <= MAX_HOOK_OUTPUT_BYTES
    ? readJson(output)
    : cutBytes(toText(output), MAX_HOOK_OUTPUT_BYTES);
}

/** Maximum length of the response that is searched for the excerpt, in characters. */
const MAX_LOOKED_AT = 16 * 1024;

/** Replaces tags with spaces, in linear time. */
function withoutTags(text: string): string {
  return text
    .slice(0, MAX_LOOKED_AT)
    .replace(/<\/?[a-z!][^<>]*>/gi, " ")
    .replace(/[^\S\n]+/g, " ");
}

/** Returns the result of a request whose effect ended without a result. */
export function toLostResult(nowMs: number): IntegrationRequestResult {
  const none = { method: null, origin: null, status: null, success: false, response: null, retryAfterMs: null };
  return { at: timeText(nowMs), tookMs: 0, ...none, captures: "{}", code: "errored", reason: "it went wrong" };
}
