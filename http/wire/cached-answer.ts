import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import Negotiator from "negotiator";
import type { Answer, Route, RouteRequest, Success } from "./route.js";

/** A response that stays the same while the service runs. */
interface Cacheable {
  /** The content type of a text; JSON by default. */
  readonly type?: string;
  /** The value whose JSON text is `content`; absent for other content types. */
  readonly body?: unknown;
  readonly content: string | Uint8Array;
  /** Headers besides those of {@link cacheableAnswers}. */
  readonly headers?: Readonly<Record<string, string>>;
}

const POLICY = "content-security-policy";

type Coding = "br" | "gzip" | "identity";

const brotli = promisify(brotliCompress);
const codings: Readonly<Record<Coding, (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>>> = {
  // Quality 9, because the highest quality needs seconds of processor time for a megabyte.
  br: (bytes) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: promisify<Uint8Array, Uint8Array>(gzip),
  identity: (bytes) => bytes,
};
const offered: readonly Coding[] = ["br", "gzip", "identity"];

/** Returns the declared responses of a route that {@link serveCached} handles. */
export function cacheableAnswers(success: Success): Route["answers"] {
  const headers = {
    etag: "Identifies the content in its content coding.",
    "cache-control": "`no-cache`: ask before a copy is used.",
    vary: "`accept-encoding`: the content is compressed for clients that accept it.",
  };
  const coding = { "content-encoding": "`gzip` or `br`; absent if the content is not compressed." };
  const { [POLICY]: policy } = success.headers ?? {};
  const retained = policy === undefined ? headers : { ...headers, [POLICY]: policy };
  return {
    200: { ...success, headers: { ...success.headers, ...headers, ...coding } },
    304: { body: null, headers: retained },
  };
}

/**
 * Returns the handler of a route whose response clients cache and revalidate. Reads the content at the first request, and
 * compresses it once for each content coding that clients prefer (`Accept-Encoding`, RFC 9110, section 12.5.3).
 */
export function serveCached(
  read: () => Promise<Cacheable>,
): (request: Pick<RouteRequest, "header">) => Promise<Answer> {
  const once = new Map<Coding, Promise<Answer>>();
  return async (request) => {
    const coding = pickCoding(request.header("accept-encoding"));
    const encoding = once.get(coding) ?? read().then((cacheable) => encode(cacheable, coding));
    once.set(coding, encoding);
    // Forget a failed result, so that the next request tries again.
    const answer = await encoding.catch((error: unknown) => {
      once.delete(coding);
      throw error;
    });
    return isCurrent(request.header("if-none-match"), answer) ? toNotModified(answer) : answer;
  };
}

/**
 * Returns the content coding that the client prefers. Returns `identity` (no compression) without the header, or if the
 * client accepts none of the offered codings.
 */
function pickCoding(accepted: string | undefined): Coding {
  const [preferred] = new Negotiator({ headers: { "accept-encoding": accepted } }).encodings([...offered]);
  return offered.find((coding) => coding === preferred) ?? "identity";
}

async function encode({ type, body, content, headers: own }: Cacheable, coding: Coding): Promise<Answer> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const digest = createHash("sha256").update(bytes).digest("base64url");
  const headers = {
    ...own,
    etag: coding === "identity" ? `"${digest}"` : `"${digest}-${coding}"`,
    "cache-control": "no-cache",
    vary: "accept-encoding",
    ...(coding === "identity" ? {} : { "content-encoding": coding }),
  };
  const coded = await codings[coding](bytes);
  if (type === undefined) return { status: 200, body, json: coded, headers };
  return { status: 200, text: { type, content: coded }, headers };
}

/**
 * Returns the response 304, which has no content. A client copies the headers of a 304 to its stored page (RFC 9111,
 * section 3.2). So a page with its own content security policy repeats this policy here. Otherwise the stored page
 * would get the common policy.
 */
function toNotModified({ headers = {} }: Answer): Answer {
  const { etag = "", "cache-control": control = "", vary = "", [POLICY]: policy } = headers;
  const retained = { etag, "cache-control": control, vary };
  return { status: 304, headers: policy === undefined ? retained : { ...retained, [POLICY]: policy } };
}

/** Whether the client's copy is current: `If-None-Match` compares entity tags weakly (RFC 9110, section 13.1.2). */
function isCurrent(header: string | undefined, { headers }: Answer): boolean {
  const tags = (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(headers?.etag ?? "");
}
