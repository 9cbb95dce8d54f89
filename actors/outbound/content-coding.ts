import type { IncomingHttpHeaders } from "node:http";
import zlib from "node:zlib";
import { type Dispatcher, interceptors } from "undici";

/** The `accept-encoding` of requests that name none of their own (RFC 9110, section 12.5.3). */
export const ACCEPTED_CODINGS = "gzip, deflate, br";

/** Codings that undici decodes rightly in this version of Node. */
const SUPPORTED: ReadonlySet<string> = new Set([
  ...["gzip", "x-gzip", "deflate", "br"],
  ...("createZstdDecompress" in zlib ? ["zstd"] : []),
]);
/** What hosts write into `content-encoding` for a body that has none. */
const NO_CODING: ReadonlySet<string> = new Set(["", "identity", "none", "utf-8", "utf8"]);
/** Most codings of one body; undici throws beyond that. */
const MAX_CODINGS = 5;
/** Most bytes between two codings of one body. More than any body may have once it is decoded. */
const MAX_DECODED_BYTES = 16 * 1024 * 1024;

/** Sends a request, and decodes the content codings of its answer while it arrives. */
export const decoded: Dispatcher.DispatcherComposeInterceptor = createDecoding();

/** The codings of a body in the order that they were applied, by their `content-encoding`. */
export function listCodings(headers: IncomingHttpHeaders): {
  readonly codings: readonly string[];
  /** The first coding that cannot be decoded; null when all can. */
  readonly unsupported: string | null;
} {
  const named = [headers["content-encoding"] ?? []].flat().join(",").toLowerCase().split(",");
  const codings = named.map((coding) => coding.trim()).filter((coding) => !NO_CODING.has(coding));
  const unsupported = codings.find((coding) => !SUPPORTED.has(coding)) ?? null;
  return { codings, unsupported: codings.length > MAX_CODINGS ? `of ${codings.length} layers` : unsupported };
}

/** undici says once that this may change, as a warning on stderr that no operator can do anything about. */
function createDecoding(): Dispatcher.DispatcherComposeInterceptor {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return interceptors.decompress({ skipErrorResponses: false, maxSize: MAX_DECODED_BYTES });
  } finally {
    process.emitWarning = emitWarning;
  }
}
