import type { Budget, Names } from "../../expressions/evaluate.js";
import { evaluateText } from "../../expressions/templates.js";
import { type Json, toText } from "../../expressions/values.js";

/** A path segment that URL parsers treat as `.` or `..`. */
const DOTS = /^(\.|%2e){1,2}$/i;

/**
 * Evaluates the address of a request. Expressions inside a text are percent-encoded, so that a value cannot end its
 * part of the address (host, path segment, query or fragment). A text that is a single expression is used unchanged.
 * The error says why there is no address.
 */
export function evaluateAddress(
  text: string,
  names: Names,
  allowance: Budget,
): { readonly url: URL } | { readonly error: string } {
  const starts: number[] = [];
  const outcome = evaluateText(text, names, allowance, (value, before) => {
    starts.push(before.length);
    return encode(value);
  });
  if ("error" in outcome) return { error: `url: ${outcome.error}` };
  const whole = toText(outcome.value);
  const written = whole.trim();
  const blanks = whole.length - whole.trimStart().length;
  if (starts.some((start) => leadsElsewhere(written, start - blanks)))
    return { error: "url: an expression must not produce the path segment . or .." };
  if (!URL.canParse(written)) return { error: "url: it is no address" };
  return { url: new URL(written) };
}

/** Encodes a value as one part of an address. Every character that ends any kind of part is encoded. */
function encode(value: Json): string {
  return encodeURIComponent(Buffer.from(toText(value)).toString());
}

/** Returns whether an expression wrote into a path segment that means `.` or `..`. */
function leadsElsewhere(written: string, start: number): boolean {
  const end = written.search(/[?#]/);
  const path = end === -1 ? written : written.slice(0, end);
  if (start > path.length) return false;
  const from = start === 0 ? 0 : path.lastIndexOf("/", start - 1) + 1;
  const to = path.indexOf("/", start);
  return DOTS.test(path.slice(from, to === -1 ? undefined : to));
}

/** Adds a parameter to an address. The existing query stays unchanged. */
export function addParameter(url: URL, name: string, value: string): URL {
  const added = new URL(url);
  const joined = url.search === "" ? "?" : `${url.search}&`;
  added.search = `${joined}${encode(name)}=${encode(value)}`;
  return added;
}
