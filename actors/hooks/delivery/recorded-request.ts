import { LRUCache } from "lru-cache";
import { writeJson } from "../../exact-json.js";
import { createMask, MASK, type Mask } from "../../integrations/requests/mask.js";
import type { PreparedRequest } from "../../integrations/requests/prepare-request.js";
import { cutBytes } from "../../tables/cut-bytes.js";

/** The parts of a sent request that its attempt stores. No part contains a secret. */
export interface RecordedRequest {
  readonly url: string;
  /** The start of the body. */
  readonly requestBody: string;
}

/** Maximum stored size of a request's body and of its address, in bytes. */
const MAX_BODY_BYTES = 16 * 1024;
const MAX_URL_BYTES = 4 * 1024;

/** A request as a receiver gets it. */
interface SentRequest {
  readonly url: URL;
  readonly body: string;
  /** The headers of the hook's definition, by lower-case name. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  /** The secrets that sign the request. */
  readonly secrets: readonly string[];
  /** The event's data. Everyone who can read the attempt can also read this data, so it is not secret. */
  readonly event: unknown;
}

/**
 * Records a request without its secrets. A value counts as a secret if the hook's definition adds it to the headers,
 * the query or the credentials of the address. A value of the event does not count as a secret.
 */
export function recordRequest({ url, body, ownHeaders, secrets, event }: SentRequest): RecordedRequest {
  const queried = [...url.searchParams].map(([name, value]) => (value === "" ? name : value));
  const given = [...Object.entries(ownHeaders).flatMap(toHeaderSecrets), ...queried, ...toCredentials(url)];
  // Most definitions add no values to the request. Then the event's text is not needed.
  const known = given.length === 0 ? "" : writeJson(event);
  const isSecret = (value: string) => !known.includes(writeJson(value));
  const found = given.filter(isSecret);
  const mask = found.length === 0 ? signingMask(secrets) : createMask([...toSigning(secrets), ...found]);
  return toRecorded(toShownAddress(url, isSecret), body, mask);
}

/**
 * Cache of the masks of signing secrets. For most requests the signing secrets are the only secrets, and creating a
 * mask is expensive.
 */
const signingMasks = new LRUCache<string, Mask>({ max: 1_000 });

function signingMask(secrets: readonly string[]): Mask {
  const name = secrets.join(" ");
  const mask = signingMasks.get(name) ?? createMask(toSigning(secrets));
  signingMasks.set(name, mask);
  return mask;
}

/** Returns the signing secrets with and without `whsec_`. */
function toSigning(secrets: readonly string[]): string[] {
  return secrets.flatMap((secret) => [secret, secret.replace(/^whsec_/, "")]);
}

/** Records the request of a tool call. */
export function recordCall({ request, mask }: PreparedRequest): RecordedRequest {
  return toRecorded(request.url.href, request.body ?? "", mask);
}

function toRecorded(url: string, body: string, mask: Mask): RecordedRequest {
  // Mask before cutting: a mask does not recognize a secret of which only a part is left.
  const shown = (text: string) => mask.text(text).replaceAll(CALLBACK_TOKENS, MASK);
  return { url: cutBytes(shown(url), MAX_URL_BYTES), requestBody: cutBytes(shown(body), MAX_BODY_BYTES) };
}

/**
 * Matches callback tokens (`callback-token.ts`). A receiver may have returned its token in the response to an earlier
 * step, whose output this request contains.
 */
const CALLBACK_TOKENS = /ws_[0-9A-Z]{26}\.occ_[0-9A-Z]{26}(?:-[0-9A-Z]+)?\.\d+\.[\w+/=-]+/g;

/** Headers whose values are not secret, because they only describe acceptable responses and caching. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set(["accept", "accept-encoding", "accept-language", "cache-control"]);

/**
 * Returns the parts of a header that may be secret: its value, the credentials after a scheme, each word of the
 * credentials, and the values of its parameters.
 */
function toHeaderSecrets([name, value]: readonly [string, string]): string[] {
  if (PLAIN_HEADERS.has(name)) return [];
  const [, scheme = "", credentials = ""] = /^\s*(\S+)\s+(.*)$/su.exec(value) ?? [];
  const words = credentials.split(/[\s,;]+/);
  const pairs = value.split(/[\s,;]+/).filter((part) => part.includes("="));
  const values = pairs.map((pair) => pair.slice(pair.indexOf("=") + 1).replaceAll('"', ""));
  return [value, credentials, ...words, ...values, ...toBasicSecrets(scheme, words[0])];
}

/** Returns `user:password` and the password of Basic credentials. */
function toBasicSecrets(scheme: string, credentials: string | undefined): string[] {
  if (credentials === undefined || scheme.toLowerCase() !== "basic") return [];
  const pair = Buffer.from(credentials, "base64").toString();
  return [pair, pair.slice(pair.indexOf(":") + 1)];
}

/** Returns the user name and password of an address. */
function toCredentials({ username, password }: URL): string[] {
  return [username, password].filter((text) => text !== "").flatMap((text) => [text, decoded(text)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the address to show: without credentials and fragment, and with secret values of the query masked. */
function toShownAddress(url: URL, isSecret: (value: string) => boolean): string {
  const shown = new URL(url);
  shown.hash = "";
  shown.username = "";
  shown.password = "";
  if (shown.search === "") return shown.href;
  const toText = (value: string) => (isSecret(value) ? MASK : encodeURIComponent(value));
  const query = [...url.searchParams].map(([name, value]) =>
    value === "" ? toText(name) : `${encodeURIComponent(name)}=${toText(value)}`,
  );
  shown.search = "";
  return `${shown.href}?${query.join("&")}`;
}
