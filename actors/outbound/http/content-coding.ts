import type { IncomingHttpHeaders } from "node:http";
import zlib from "node:zlib";
import { type Dispatcher, interceptors } from "undici";

/** The default `accept-encoding` of requests (RFC 9110, section 12.5.3). */
export const ACCEPTED_CODINGS = "gzip, deflate, br";

/** Codings that undici decodes correctly in this version of Node. */
const SUPPORTED: ReadonlySet<string> = new Set([
  ...["gzip", "x-gzip", "deflate", "br"],
  ...("createZstdDecompress" in zlib ? ["zstd"] : []),
]);
/** Values of `content-encoding` that some hosts send for a body without a coding. */
const NO_CODING: ReadonlySet<string> = new Set(["", "identity", "none", "utf-8", "utf8"]);
/** Maximum number of codings of one body. undici throws if there are more. */
const MAX_CODINGS = 5;
/** Maximum size of a body after each decoding step, in bytes. */
const MAX_DECODED_BYTES = 16 * 1024 * 1024;

/** An undici interceptor that decodes an answer's content codings while the answer arrives. */
export const decoded: Dispatcher.DispatcherComposeInterceptor = createDecoding();

/** Returns the codings in `content-encoding`, in the order in which they were applied. */
export function listCodings(headers: IncomingHttpHeaders): {
  readonly codings: readonly string[];
  /** The first coding that cannot be decoded, or a text about too many codings; null if all codings can be decoded. */
  readonly unsupported: string | null;
} {
  const named = [headers["content-encoding"] ?? []].flat().join(",").toLowerCase().split(",");
  const codings = named.map((coding) => coding.trim()).filter((coding) => !NO_CODING.has(coding));
  const unsupported = codings.find((coding) => !SUPPORTED.has(coding)) ?? null;
  return { codings, unsupported: codings.length > MAX_CODINGS ? `of ${codings.length} layers` : unsupported };
}

/**
 * Creates the interceptor. Suppresses undici's warning on stderr that the interceptor's API may change, because
 * operators cannot act on the warning.
 */
function createDecoding(): Dispatcher.DispatcherComposeInterceptor {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return interceptors.decompress({ skipErrorResponses: false, maxSize: MAX_DECODED_BYTES });
  } finally {
    process.emitWarning = emitWarning;
  }
}
