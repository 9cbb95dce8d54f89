import type { Refusal } from "../../actors/refusal.js";
import { membersIn, outlineOf, repeatedMember } from "../json-text.js";
import type { EdgeRefusal } from "../problem.js";
import type { RouteAccess } from "../route.js";
import { BodyTimeout, BodyTooLarge, type TransportRequest } from "./transport.js";

/** Longest JSON body, in bytes. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** The same where anyone may send it: no public route has a use for more, and reading it costs those who have. */
const MAX_PUBLIC_BODY_BYTES = 256 * 1024;
/** Time for a body to arrive, in milliseconds. */
const BODY_TIMEOUT_MS = 30_000;
/** Objects and lists in one another, at most; deeper ones only serve to exhaust a stack. */
const MAX_DEPTH = 100;
/** Values in a body, at most: many more than anything here has a use for, few enough to be looked at within moments. */
const MAX_VALUES = 20_000;

/** Longest name of a member that a refusal shows, in characters. */
const MAX_SHOWN_NAME = 100;

const HALF_PAIR = "The body holds half of a surrogate pair (\\ud800 to \\udfff alone), which is no text.";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** Reads a JSON body, a shorter one where the route is public; an absent one is `undefined`. */
export async function readJson(
  request: TransportRequest,
  access: RouteAccess,
): Promise<{ readonly json: unknown } | Refusal | EdgeRefusal> {
  const bytes = await readBytes(request, access === "public" ? MAX_PUBLIC_BODY_BYTES : MAX_BODY_BYTES);
  if ("refused" in bytes) return bytes;
  if (bytes.length === 0) return { json: undefined };
  const type = request.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    return { refused: "unsupported-media-type", detail: "The body must be JSON, with content-type application/json." };
  }
  return parseJson(bytes, MAX_VALUES);
}

/** Reads a body as it came. */
export async function readBytes(
  request: TransportRequest,
  limitBytes: number,
): Promise<Uint8Array | Refusal | EdgeRefusal> {
  const encoding = request.header("content-encoding")?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== "identity") {
    return { refused: "unsupported-media-type", detail: "The body must come without a content-encoding." };
  }
  try {
    return await request.body(limitBytes, BODY_TIMEOUT_MS);
  } catch (error) {
    return bodyRefusal(error, limitBytes);
  }
}

function bodyRefusal(error: unknown, limitBytes: number): EdgeRefusal | Refusal {
  if (error instanceof BodyTooLarge) {
    return { refused: "too-large", detail: `The body may be at most ${limitBytes} bytes.` };
  }
  if (error instanceof BodyTimeout) return { refused: "request-timeout", detail: "The body did not arrive in time." };
  return { refused: "bad-request", detail: "The body broke off." };
}

/**
 * JSON as the edge takes it: UTF-8, not nested too deep, no more values than `mostValues`, no half of a surrogate pair,
 * no member of an object twice.
 */
export function parseJson(
  bytes: Uint8Array,
  mostValues = Number.POSITIVE_INFINITY,
): { readonly json: unknown } | Refusal {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { refused: "bad-request", detail: "The body is not UTF-8." };
  }
  const { depth, members, values } = outlineOf(text);
  if (depth > MAX_DEPTH) {
    return { refused: "bad-request", detail: `The body nests deeper than ${MAX_DEPTH} levels.` };
  }
  if (values > mostValues) return { refused: "bad-request", detail: `The body holds more than ${mostValues} values.` };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { refused: "bad-request", detail: `The body is not JSON: ${jsonFault(error)}.` };
  }
  // Only an escape can bring such a half: the bytes are UTF-8.
  if (/\\u[dD][89a-fA-F]/.test(text) && holdsHalfPair(json)) return { refused: "bad-request", detail: HALF_PAIR };
  return members === membersIn(json) ? { json } : { refused: "bad-request", detail: repetition(text) };
}

/** Whichever of the two were taken, the other might have been meant. */
function repetition(text: string): string {
  const name = JSON.stringify(repeatedMember(text)?.slice(0, MAX_SHOWN_NAME) ?? "");
  return `The body holds the member ${name} twice in one object.`;
}

/** Whether some text in it, or some name, cannot be kept as UTF-8: it would be read back as something else. */
function holdsHalfPair(value: unknown): boolean {
  if (typeof value === "string") return /\p{Surrogate}/u.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => holdsHalfPair(name) || holdsHalfPair(inner));
}

/** Where parsing stopped, without a piece of the body, which may hold a secret. */
function jsonFault(error: unknown): string {
  const position = /position (\d+)/.exec(String(error))?.[1];
  return position === undefined ? "it ends too early" : `unexpected character at position ${position}`;
}
