import { parseWellFormed, toWellFormedJson } from "../../well-formed.js";
import { AddressRefused } from "./address-guard.js";
import { ConnectionFailed, RequestRefused } from "./request.js";

/**
 * The message for an unknown name and for a name with a private address. Both get the same message, so that nobody can
 * find out names in the private network.
 */
const NO_ADDRESS = "its name does not resolve to a public address";

/**
 * Returns why a request failed. Except for refusals, uses only the error's code, because the error's text may contain
 * parts of the answer.
 */
export function toReason(error: unknown): string {
  if (error instanceof RequestRefused) return error.cause instanceof AddressRefused ? NO_ADDRESS : error.message;
  if (!(error instanceof Error)) return "it failed";
  const cause = error instanceof ConnectionFailed ? error.cause : error;
  if (cause instanceof Error && "syscall" in cause && cause.syscall === "getaddrinfo") return NO_ADDRESS;
  if (error.name === "TimeoutError" || error.name === "AbortError") return "it took too long";
  return "code" in error && typeof error.code === "string" ? error.code : "it failed";
}

/** Parses JSON with exact integers and well-formed text; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return parseWellFormed(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns why valid JSON was not read: it is nested too deeply, has too many values, or has a number with too many
 * digits. Returns null for text that is not JSON. Call this function only for text that a bounded parser has refused.
 */
export function whyJsonIsUnread(text: string): string | null {
  try {
    JSON.parse(text);
    return "its JSON is nested too deeply, has too many values, or has a number with too many digits";
  } catch {
    return null;
  }
}

/**
 * Like {@link parseJson}, but parses every number as a double. Use it only for model answers, where numbers are only
 * counts and scores.
 */
export function parseDoubles(text: string): unknown {
  try {
    return toWellFormedJson(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Removes members that are null or a blank text from an object. Hosts write both for a missing value. */
export function withoutEmptyMembers(json: unknown): unknown {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  return Object.fromEntries(Object.entries(json).filter(([, value]) => !isMissing(value)));
}

function isMissing(value: unknown): boolean {
  return value === null || (typeof value === "string" && value.trim() === "");
}
