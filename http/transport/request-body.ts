import { MAX_DIGITS, readJson, TooManyDigits } from "../../actors/exact-json.js";
import type { Refusal } from "../../actors/refusal.js";
import { toWellFormedJson } from "../../actors/well-formed.js";
import type { BodyHold, Crowd } from "../limits/body-quota.js";
import { membersIn, repeatedMember, toOutline } from "../wire/json-text.js";
import type { EdgeRefusal } from "../wire/problem.js";
import type { Route } from "../wire/route.js";
import { BodyCrowded, BodyTimeout, BodyTooLarge, type TransportRequest } from "./transport.js";

/** Maximum size of a JSON body, in bytes. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/**
 * Maximum size of a JSON body for a public route, in bytes. It is lower than for other routes, because anyone may send
 * such a body, and no public route needs more.
 */
const MAX_PUBLIC_BODY_BYTES = 256 * 1024;
/** Maximum time for a body to arrive, in milliseconds. */
const BODY_TIMEOUT_MS = 30_000;
/**
 * Maximum nesting depth of objects and lists. No valid request is as deep, and a deeper body could exhaust the stack.
 */
const MAX_DEPTH = 100;
/** Maximum number of values in a body. Far more than any request needs, and few enough to check quickly. */
const MAX_VALUES = 20_000;

/** Maximum length of a member name in a refusal, in characters. */
const MAX_SHOWN_NAME = 100;

const HALF_PAIR = "The body has a lone surrogate (\\ud800 to \\udfff), which is not valid text.";

const NO_JSON = { json: undefined };
const ENCODED: EdgeRefusal = {
  refused: "unsupported-media-type",
  detail: "The body must not have a content-encoding.",
};
const TOO_MANY_BYTES: Refusal = {
  refused: "too-many-requests",
  detail: "Too many bytes of your request bodies are in progress.",
  retryAfterSeconds: 1,
};
/**
 * The refusal that is recorded when the client has disconnected. It is never sent. The server compares outcomes with
 * this object, to count such requests separately.
 */
export const CLIENT_GONE: Refusal = { refused: "bad-request", detail: "The client went away." };
const NO_CAPACITY: EdgeRefusal = {
  refused: "unavailable",
  detail: "Too many bytes of request bodies are in progress.",
  retryAfterSeconds: 1,
};

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** The bytes of a body, the refusal if it could not be received, or null for a request without a body. */
export type Received = Uint8Array | Refusal | EdgeRefusal | null;

/**
 * Receives the body of a request, within the memory limits of its reservation, and calls `received` once with the
 * result. Public JSON routes accept only smaller bodies, except for routes that runners use.
 */
export function receiveBody(
  { rawBodyBytes, access, credential }: Pick<Route, "rawBodyBytes" | "access" | "credential">,
  incoming: TransportRequest,
  reservation: BodyHold,
  received: (body: Received) => void,
): void {
  const encoding = incoming.header("content-encoding")?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== "identity") {
    received(ENCODED);
    return;
  }
  const isOpen = access === "public" && credential !== "pool";
  const limitBytes = rawBodyBytes ?? (isOpen ? MAX_PUBLIC_BODY_BYTES : MAX_BODY_BYTES);
  let crowd: Crowd | null = null;
  const holdBytes = (bytes: number): boolean => {
    crowd = reservation.hold(bytes);
    return crowd === null;
  };
  incoming.body(limitBytes, BODY_TIMEOUT_MS, holdBytes).then(received, (error) => {
    if (!(error instanceof BodyCrowded)) received(bodyRefusal(error, limitBytes));
    else received(crowd === "process" ? NO_CAPACITY : TOO_MANY_BYTES);
  });
}

/**
 * Decodes a body for the route's schema: raw bytes, or parsed JSON. The JSON is undefined for an empty or missing body.
 * Returns a refusal if the body was not received or is not valid JSON.
 */
export function parseBody(
  { rawBodyBytes }: Pick<Route, "rawBodyBytes">,
  incoming: TransportRequest,
  received: Received,
): { readonly json: unknown } | Refusal | EdgeRefusal {
  if (received === null) return NO_JSON;
  if ("refused" in received) return received;
  if (rawBodyBytes !== undefined) return { json: received };
  if (received.length === 0) return { json: undefined };
  const type = incoming.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    return { refused: "unsupported-media-type", detail: "The body must be JSON, with content-type application/json." };
  }
  return parseJson(received, MAX_VALUES);
}

function bodyRefusal(error: unknown, limitBytes: number): EdgeRefusal | Refusal {
  if (error instanceof BodyTooLarge) {
    return { refused: "too-large", detail: `The body may be at most ${limitBytes} bytes.` };
  }
  if (error instanceof BodyTimeout) return { refused: "request-timeout", detail: "The body did not arrive in time." };
  return CLIENT_GONE;
}

/**
 * Parses JSON under the API's rules: UTF-8, at most {@link MAX_DEPTH} levels and `maxValues` values, no repeated names
 * in an object. Returns a refusal for any other body. Integers beyond 2^53 stay exact, up to the digit limit of
 * `readJson`.
 *
 * By default, a lone surrogate is refused. With "replaced", it becomes U+FFFD. Use this for senders that quote other
 * people's text and cannot repair it.
 */
export function parseJson(
  bytes: Uint8Array,
  maxValues = Number.POSITIVE_INFINITY,
  loneSurrogates: "refused" | "replaced" = "refused",
): { readonly json: unknown } | Refusal {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { refused: "bad-request", detail: "The body is not UTF-8." };
  }
  const { depth, members, values } = toOutline(text);
  if (depth > MAX_DEPTH) {
    return { refused: "bad-request", detail: `The body nests deeper than ${MAX_DEPTH} levels.` };
  }
  if (values > maxValues) return { refused: "bad-request", detail: `The body has more than ${maxValues} values.` };
  let json: unknown;
  try {
    json = readJson(text);
  } catch (error) {
    if (error instanceof TooManyDigits) {
      return { refused: "bad-request", detail: `The body has a whole number of more than ${MAX_DIGITS} digits.` };
    }
    return { refused: "bad-request", detail: `The body is not JSON: ${jsonFault(error)}.` };
  }
  // The bytes are UTF-8, so only an escape can produce a lone surrogate.
  const mayHoldHalfPair = /\\u[dD][89a-fA-F]/.test(text);
  if (loneSurrogates === "refused" && mayHoldHalfPair && holdsHalfPair(json))
    return { refused: "bad-request", detail: HALF_PAIR };
  if (members !== membersIn(json)) return { refused: "bad-request", detail: repetition(text) };
  return { json: mayHoldHalfPair ? toWellFormedJson(json) : json };
}

function repetition(text: string): string {
  const name = JSON.stringify(repeatedMember(text)?.slice(0, MAX_SHOWN_NAME) ?? "");
  return `The body has the member ${name} twice in one object.`;
}

/** Whether a string or member name in the value has a lone surrogate, which UTF-8 cannot represent. */
function holdsHalfPair(value: unknown): boolean {
  if (typeof value === "string") return /\p{Surrogate}/u.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => holdsHalfPair(name) || holdsHalfPair(inner));
}

/** Says where parsing stopped. Quotes no part of the body, because it may be secret. */
function jsonFault(error: unknown): string {
  const message = String(error);
  const position = /position (\d+)/.exec(message)?.[1];
  if (/end of JSON|Unterminated/.test(message)) return "it ends too early";
  // The position is missing in Node 20, whose message quotes a short body instead.
  return position === undefined ? "it has an unexpected character" : `unexpected character at position ${position}`;
}
