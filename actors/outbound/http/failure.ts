import { NetworkFailure, type NetworkFailureCode } from "./network-requests.js";
import { ConnectionFailed, RequestRefused } from "./request.js";

/** Error codes for an answer that is not valid HTTP or contradicts itself. */
const RUBBISH = /^(HPE_|UND_ERR_(HEADERS_OVERFLOW|RES_))/;

/** Why a request has no answer. */
interface Failure {
  readonly code: NetworkFailureCode;
  /** A clause without secrets. */
  readonly reason: string;
  /** Present if the request was not sent, because it was not allowed or the connection failed. */
  readonly isUnsent?: true;
}

export function toFailure(error: unknown): Failure {
  if (error instanceof RequestRefused) return { code: "not-allowed", reason: error.message, isUnsent: true };
  if (error instanceof NetworkFailure) return { code: error.code, reason: error.message };
  const name = error instanceof Error ? error.name : "";
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const named = code === "" ? "" : ` (${code})`;
  if (error instanceof ConnectionFailed) {
    const reason = code === "" ? "the connection failed" : `nothing responded${named}`;
    return { code: "unreachable", reason, isUnsent: true };
  }
  if (name === "TimeoutError" || name === "AbortError" || /TIMEOUT/.test(code)) {
    return { code: "unreachable", reason: "there was no response in the time left" };
  }
  if (name === "HTTPParserError" || RUBBISH.test(code)) return { code: "errored", reason: "its response is not HTTP" };
  const isNetwork = /^(E[A-Z]+|UND_ERR_[A-Z_]+|CERT_|DEPTH_ZERO)/.test(code);
  return isNetwork
    ? { code: "unreachable", reason: `nothing responded${named}` }
    : { code: "errored", reason: `the request failed${named}` };
}
