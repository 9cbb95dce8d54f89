import { parseWellFormed } from "../well-formed.js";
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

/** The value of a JSON text, well-formed; undefined when it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return parseWellFormed(text);
  } catch {
    return undefined;
  }
}
