import { NetworkFailure, type NetworkFailureCode } from "./network-requests.js";
import { RequestRefused } from "./request.js";

/** Why a request has no answer: a code, and a sentence without secrets. */
export function toFailure(error: unknown): { readonly code: NetworkFailureCode; readonly reason: string } {
  if (error instanceof RequestRefused) return { code: "not-allowed", reason: error.message };
  if (error instanceof NetworkFailure) return { code: error.code, reason: error.message };
  const { name, code } =
    error instanceof Error
      ? { name: error.name, code: "code" in error ? String(error.code) : "" }
      : { name: "", code: "" };
  if (name === "TimeoutError" || name === "AbortError" || /TIMEOUT/.test(code)) {
    return { code: "unreachable", reason: "there was no response in the time left" };
  }
  const isNetwork = /^(E[A-Z]+|UND_ERR_[A-Z_]+|CERT_|DEPTH_ZERO|ERR_TLS|ERR_SSL)/.test(code);
  return isNetwork
    ? { code: "unreachable", reason: `nothing responded (${code})` }
    : { code: "errored", reason: `the request failed${code === "" ? "" : ` (${code})`}` };
}
