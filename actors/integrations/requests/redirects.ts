/** Redirects of attachments. Hosts often store files elsewhere, at an address that is valid for a few minutes. */
import type { BytesAnswer } from "../../outbound/http-exchange.js";
import { coversAddress } from "../../resources/fields.js";
import type { NotSent } from "./credentials.js";
import type { PreparedRequest } from "./prepare-request.js";
import type { RenderedRequest } from "./render-request.js";

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
  { status, headers: { location } }: Pick<BytesAnswer, "status" | "headers">,
): RenderedRequest | NotSent | null {
  if (!REDIRECTS.has(status) || location === undefined || !URL.canParse(location, request.url)) return null;
  const url = new URL(location, request.url);
  url.hash = "";
  const isGet = status === 303 || (status < 303 && request.method === "POST");
  const isSameOrigin = url.origin === request.url.origin;
  if (!isGet && !isSameOrigin && request.body !== null) return null;
  if (!coversAddress(found.integration.fields.hosts, url)) {
    const reason = `it redirects to the host ${url.host}, which is not among the integration's hosts`;
    return { code: "not-allowed", reason };
  }
  const isDowngrade = request.url.protocol === "https:" && url.protocol === "http:";
  const headers = isSameOrigin
    ? request.headers
    : { ...pick(request.headers, HARMLESS), ...(isDowngrade ? {} : credentialAt(url)) };
  if (!isGet) return { ...request, url, headers };
  const { "content-type": _type, ...rest } = headers;
  return { method: "GET", url, headers: rest, body: null };
}

function pick(headers: RenderedRequest["headers"], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));
}
