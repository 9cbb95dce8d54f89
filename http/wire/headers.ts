import type { Refusal } from "../../actors/refusal.js";

/** The API version that this service supports (see "Versioning" in the configuration API document). */
export const API_VERSION = "2026-09-23";

/** Headers of every response, besides the request id. Pages replace the `content-security-policy`. */
const COMMON: Readonly<Record<string, string>> = {
  "service-api-version": API_VERSION,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};
const COMMON_LINES = toLines(COMMON);

export const REQUEST_ID = "x-request-id";

/** Returns all headers of a response: the common headers, overridden by the response's own headers. */
export function commonHeaders(requestId: string, own: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...COMMON, [REQUEST_ID]: requestId, ...own };
}

/**
 * Returns the headers of {@link commonHeaders} as text, without the request id. Each header starts with the CRLF that
 * ends the line before it. The server appends this text to the value of one header, so that one call writes all
 * headers. Call {@link assertSendable} first.
 */
export function headerLines(own: Readonly<Record<string, string>>): string {
  for (const name in own) if (name in COMMON) return toLines({ ...COMMON, ...own });
  return COMMON_LINES + toLines(own);
}

function toLines(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in headers) lines += `\r\n${name}: ${headers[name]}`;
  return lines;
}

/** Throws if a header contains a line break or NUL: the text after it would become another header or the body. */
export function assertSendable(headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    if (/[\r\n\0]/.test(headers[name] ?? ""))
      throw new Error(`the header ${name} contains characters that headers cannot have`);
  }
}

/** Returns a refusal for an unsupported `Service-Api-Version`; null for a supported or absent one. */
export function checkApiVersion(wanted: string | undefined): Refusal | null {
  if (wanted === undefined || wanted === API_VERSION) return null;
  return {
    refused: "unsupported-api-version",
    detail: `Service-Api-Version names a version that is not served; this service serves ${API_VERSION}.`,
  };
}

/** Converts `Service-Client` into the form used in change records: `iac-provider/<version>`, `web` or `unknown`. */
export function clientName(header: string | undefined): string {
  if (header === "web") return "web";
  return header !== undefined && /^iac-provider\/[\w.+-]{1,50}$/.test(header) ? header : "unknown";
}

/**
 * Returns the version from `If-Match`, or a refusal. The header must be one strong entity tag: the version in double
 * quotes.
 */
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

/** Returns a valid `Idempotency-Key` (1 to 255 visible characters), or a refusal. */
export function idempotencyKey(header: string | undefined): string | Refusal {
  if (header === undefined || header === "") {
    return { refused: "idempotency-key-required", detail: "A create needs an Idempotency-Key header." };
  }
  if (!/^[\x21-\x7e]{1,255}$/.test(header)) {
    return MALFORMED_KEY;
  }
  return header;
}

/**
 * Like {@link idempotencyKey}, but the key is optional: null if absent. An empty key is refused, because the client
 * expects a safe retry and would not get one.
 */
export function optionalIdempotencyKey(header: string | undefined): string | null | Refusal {
  if (header === undefined) return null;
  return header === "" ? MALFORMED_KEY : idempotencyKey(header);
}
