import type { Refusal } from "../../actors/refusal.js";

/** The version served (configuration API, Versioning). */
export const API_VERSION = "2026-09-23";

/** Headers of every answer besides the request's id; pages replace the content-security-policy. */
const COMMON: Readonly<Record<string, string>> = {
  "service-api-version": API_VERSION,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};
const COMMON_LINES = linesOf(COMMON);

export const REQUEST_ID = "x-request-id";

/** All headers of the answer to a request: its own, and the common ones that they do not replace. */
export function commonHeaders(requestId: string, own: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...COMMON, [REQUEST_ID]: requestId, ...own };
}

/**
 * The same but the request's id, as lines of text, each begun by the end of the one before: a server adds them to a
 * header's value, so that all of them are one call. Checked by {@link assertSendable} before.
 */
export function headerLines(own: Readonly<Record<string, string>>): string {
  for (const name in own) if (name in COMMON) return linesOf({ ...COMMON, ...own });
  return COMMON_LINES + linesOf(own);
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in headers) lines += `\r\n${name}: ${headers[name]}`;
  return lines;
}

/** Throws when a header would end its line: what follows would be another header, or the body. */
export function assertSendable(headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    if (/[\r\n\0]/.test(headers[name] ?? "")) throw new Error(`the header ${name} does not fit into a line`);
  }
}

/** A refusal for a `Service-Api-Version` that is not served; null for the served one or none. */
export function checkApiVersion(wanted: string | undefined): Refusal | null {
  if (wanted === undefined || wanted === API_VERSION) return null;
  return {
    refused: "unsupported-api-version",
    detail: `Service-Api-Version names a version that is not served; this service serves ${API_VERSION}.`,
  };
}

/** `Service-Client` in the form for change records: `iac-provider/<version>`, `web`, or `unknown`. */
export function clientName(header: string | undefined): string {
  if (header === "web") return "web";
  return header !== undefined && /^iac-provider\/[\w.+-]{1,50}$/.test(header) ? header : "unknown";
}

/** The version in an `If-Match`, which has to be one strong entity tag: the version in double quotes. */
export function ifMatchVersion(header: string | undefined): number | Refusal {
  if (header === undefined) {
    return { refused: "precondition-required", detail: "An If-Match header with the resource's ETag is required." };
  }
  const version = /^"(0|[1-9]\d{0,14})"$/.exec(header.trim())?.[1];
  if (version === undefined) {
    return {
      refused: "malformed-if-match",
      detail: 'If-Match must be a single strong entity tag: the version in double quotes, such as "3".',
    };
  }
  return Number(version);
}

const MALFORMED_KEY: Refusal = {
  refused: "bad-request",
  detail: "Idempotency-Key must be one header of 1 to 255 visible characters, without spaces.",
};

/** A well-formed `Idempotency-Key`: 1 to 255 visible characters. */
export function idempotencyKey(header: string | undefined): string | Refusal {
  if (header === undefined || header === "") {
    return { refused: "idempotency-key-required", detail: "A create needs an Idempotency-Key header." };
  }
  if (!/^[\x21-\x7e]{1,255}$/.test(header)) {
    return MALFORMED_KEY;
  }
  return header;
}

/** The same for an optional key: null when it is absent. An empty one is refused: its request is not safe to repeat. */
export function optionalIdempotencyKey(header: string | undefined): string | null | Refusal {
  if (header === undefined) return null;
  return header === "" ? MALFORMED_KEY : idempotencyKey(header);
}
