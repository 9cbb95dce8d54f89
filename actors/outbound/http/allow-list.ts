import { isIP } from "node:net";
import { isPublicAddress } from "./address-guard.js";

/** One entry of the deployment's outbound allow-list. */
interface Entry {
  /** `https:` unless the entry gives another protocol. */
  readonly protocol: "http:" | "https:";
  readonly host: string;
  /** Whether the entry matches every subdomain of the host (`*.host`) instead of the host. */
  readonly below: boolean;
  /** Null or empty for the protocol's default port. */
  readonly port: string | null;
  /** True for an entry that gives a protocol. Such an entry also allows private addresses. */
  readonly admitsPrivate: boolean;
}

/** The allow-list's decision about a URL. */
export type Admission =
  | { readonly admitted: true; readonly admitsPrivate: boolean }
  | { readonly admitted: false; readonly reason: string };

/** The hosts to which the service may send requests. */
export interface AllowList {
  /**
   * Decides whether a request to the URL may be sent, by the URL's text. The IP address is checked when the connection
   * opens.
   */
  admits(url: URL): Admission;
  /** Registers a listener that is called after each change. Absent for a list that never changes. */
  onChange?(listener: () => void): void;
}

/** The allow-list of a running deployment. `change` replaces it with another list. */
export class ChangingAllowList implements AllowList {
  #list: AllowList;
  readonly #listeners: (() => void)[] = [];

  constructor(list: AllowList) {
    this.#list = list;
  }

  admits(url: URL): Admission {
    return this.#list.admits(url);
  }

  /** Replaces the list. The new list also applies to waiting requests. */
  change(list: AllowList): void {
    this.#list = list;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

/** The setting is not a valid allow-list. The message names the entry. */
export class InvalidAllowList extends Error {
  override readonly name = "InvalidAllowList";
}

/** The name of the list in messages. */
const LIST = "the deployment's outbound allow-list";

/**
 * Parses the comma-separated `OUTBOUND_ALLOW`: `host`, `*.host`, `host:port`, or an origin (`http://127.0.0.1:9000`).
 * Only an origin allows plain http and private addresses. An empty list allows nothing.
 */
export function parseAllowList(text: string): AllowList {
  const entries = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(parseEntry);
  return {
    admits(url) {
      if (url.username !== "" || url.password !== "") return { admitted: false, reason: "holds credentials" };
      if (url.protocol !== "https:" && url.protocol !== "http:") return { admitted: false, reason: "must be https" };
      const found = entries.filter((entry) => covers(entry, url));
      if (found.length > 0) return { admitted: true, admitsPrivate: found.some((entry) => entry.admitsPrivate) };
      if (url.protocol === "http:")
        return { admitted: false, reason: `must be https, unless ${LIST} (OUTBOUND_ALLOW) names ${url.origin}` };
      return { admitted: false, reason: `the host ${url.host} is not on ${LIST} (OUTBOUND_ALLOW)` };
    },
  };
}

/**
 * Returns the allow-list for fetching an issuer's keys: every public https address, and the private or plain http
 * addresses that the deployment's list names with their protocol. Other private addresses are not allowed, because
 * anyone who can write a trust chooses its issuer.
 */
export function toIssuerAllowList(list: AllowList): AllowList {
  return {
    admits(url) {
      const admission = list.admits(url);
      const isOpen = url.protocol === "https:" && url.username === "" && url.password === "";
      return admission.admitted || !isOpen ? admission : { admitted: true, admitsPrivate: false };
    },
  };
}

/**
 * Returns why the service would not send a request to a URL, judged by the URL's text; null if the service would send
 * the request.
 */
export function findRefusalReason(text: string, list: AllowList): string | null {
  const url = parseUrl(text);
  if (url === null) return "must be an address such as https://example.com/hook";
  const admission = list.admits(url);
  return admission.admitted ? null : admission.reason;
}

/** Whether the service may redirect people to this address to sign in: https, or plain http that the list names. */
export function maySignInAt(text: string, list: AllowList): boolean {
  const url = parseUrl(text);
  return url !== null && (url.protocol === "https:" || list.admits(url).admitted);
}

/** Whether the service may fetch an issuer's keys, judged by the text of its URL. */
export function reachesIssuer(list: AllowList, url: URL): boolean {
  const admission = toIssuerAllowList(list).admits(url);
  if (!admission.admitted || admission.admitsPrivate) return admission.admitted;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? host !== "localhost" && !host.endsWith(".localhost") : isPublicAddress(host);
}

function parseEntry(text: string): Entry {
  if (text.includes("://")) {
    const url = parseUrl(text);
    const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "";
    if (!isOrigin || url.username !== "")
      throw new InvalidAllowList(`${text} is not an origin such as http://127.0.0.1:9000`);
    const protocol = url.protocol === "http:" ? "http:" : "https:";
    return { protocol, host: url.hostname, below: false, port: url.port, admitsPrivate: true };
  }
  const below = text.startsWith("*.");
  const url = parseUrl(`https://${below ? text.slice(2) : text}/`);
  const isHost =
    url !== null && url.pathname === "/" && url.username === "" && /^[a-z0-9.[\]:-]+$/i.test(text.slice(below ? 2 : 0));
  if (!isHost) throw new InvalidAllowList(`${text} is not one of host, *.host, host:port, http://host:port`);
  const port = /:\d+$/.test(text) && !text.endsWith("]") ? url.port || "443" : null;
  return { protocol: "https:", host: url.hostname, below, port: port === "443" ? "" : port, admitsPrivate: false };
}

function covers(entry: Entry, url: URL): boolean {
  if (url.protocol !== entry.protocol) return false;
  if (url.port !== (entry.port ?? "")) return false;
  const host = url.hostname.replace(/\.$/, "");
  return entry.below ? host.endsWith(`.${entry.host}`) : host === entry.host;
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
