import { parseWellFormed, toWellFormedJson } from "../well-formed.js";
import { AddressRefused } from "./address-guard.js";
import { ConnectionFailed, RequestRefused } from "./request.js";

/** The same for a name that is not known and one that leads into our own network, whose names nobody may find out so. */
const NO_ADDRESS = "its name leads to no public address";

/** Why a request failed, by the error's code: the text of an error may contain parts of the answer. */
export function toReason(error: unknown): string {
  if (error instanceof RequestRefused) return error.cause instanceof AddressRefused ? NO_ADDRESS : error.message;
  if (!(error instanceof Error)) return "it failed";
  const cause = error instanceof ConnectionFailed ? error.cause : error;
  if (cause instanceof Error && "syscall" in cause && cause.syscall === "getaddrinfo") return NO_ADDRESS;
  if (error.name === "TimeoutError" || error.name === "AbortError") return "it took too long";
  return "code" in error && typeof error.code === "string" ? error.code : "it failed";
}

/** The value of a JSON text, well-formed and with exact whole numbers; undefined when it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return parseWellFormed(text);
  } catch {
    return undefined;
  }
}

/** As {@link parseJson}, with doubles only: for the answers of models, whose numbers are counts and scores. */
export function parseDoubles(text: string): unknown {
  try {
    return toWellFormedJson(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** An object without the members that are null or an empty text: hosts write both where there is no value. */
export function withoutEmptyMembers(json: unknown): unknown {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null && value !== ""));
}
