/** Redirects of attachments. Hosts often store files elsewhere, at an address that is valid for a few minutes. */
import { toLocation } from "../../outbound/http/header-text.js";
import type { BytesAnswer } from "../../outbound/http/http-exchange.js";
import { coversAddress } from "../../resources/fields.js";
import { cutText } from "../../well-formed.js";
import type { NotSent } from "./credentials.js";
import type { PreparedRequest } from "./prepare-request.js";
import type { RenderedRequest } from "./render-request.js";

/** Longest scheme that a reason shows, in characters. */
const MAX_SCHEME = 50;
/** Maximum number of redirects per request. */
export const MAX_HOPS = 5;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers of the definition that are also sent to another origin: none can authenticate the service. */
const HARMLESS: readonly string[] = ["accept", "user-agent", "service-message-id"];

/**
 * Returns the request that a response redirects to (RFC 9110, section 15.4), or why it is not sent; null if the
 * response does not redirect. Another origin gets only the harmless headers, no token of a linked account, a secret
 * only if it is bound to that address, and never a body.
 */
export function findRedirect(
  { found, credentialAt }: PreparedRequest,
  request: RenderedRequest,
  { status, headers }: Pick<BytesAnswer, "status" | "headers">,
): RenderedRequest | NotSent | null {
  const location = headers.location === undefined ? undefined : toLocation(headers.location);
  if (!REDIRECTS.has(status) || location === undefined || !URL.canParse(location, request.url)) return null;
  const url = new URL(location, request.url);
  url.hash = "";
  const isGet = status === 303 || (status < 303 && request.method === "POST");
  const isSameOrigin = url.origin === request.url.origin;
  if (!isGet && !isSameOrigin && request.body !== null) return null;
  if (!coversAddress(found.integration.fields.hosts, url)) {
    return { code: "not-allowed", reason: whyNotFollowed(url) };
  }
  const isDowngrade = request.url.protocol === "https:" && url.protocol === "http:";
  const sent = isSameOrigin
    ? request.headers
    : { ...pick(request.headers, HARMLESS), ...(isDowngrade ? {} : credentialAt(url)) };
  if (!isGet) return { ...request, url, headers: sent };
  const { "content-type": _type, ...rest } = sent;
  return { method: "GET", url, headers: rest, body: null };
}

function whyNotFollowed(url: URL): string {
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return `it redirects to an address that begins with ${cutText(url.protocol, MAX_SCHEME)}, which is not followed`;
  }
  return `it redirects to the host ${url.host}, which is not among the integration's hosts`;
}

function pick(headers: RenderedRequest["headers"], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));
}
