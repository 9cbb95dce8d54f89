import type { Budget, Names } from "../../expressions/evaluate.js";
import { evaluateText } from "../../expressions/templates.js";
import { type Json, toText } from "../../expressions/values.js";

/** A segment that leads elsewhere in a path, as URLs are parsed. */
const DOTS = /^(\.|%2e){1,2}$/i;

/**
 * The address of a request. Expressions within a text are percent-encoded, so that none ends the part of the address
 * that it stands in (host, segment of the path, query, fragment); a text that is one expression is taken as it is. An
 * error says why there is no address.
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
    return { error: "url: an expression makes a segment of its path . or .." };
  if (!URL.canParse(written)) return { error: "url: it is no address" };
  return { url: new URL(written) };
}

/** A value as one part of an address: what ends a part in one place or another is encoded in all of them. */
function encode(value: Json): string {
  return encodeURIComponent(Buffer.from(toText(value)).toString());
}

/** Whether the segment of the path that an expression wrote into is one that URLs take for a way up. */
function leadsElsewhere(written: string, start: number): boolean {
  const end = written.search(/[?#]/);
  const path = end === -1 ? written : written.slice(0, end);
  if (start > path.length) return false;
  const from = start === 0 ? 0 : path.lastIndexOf("/", start - 1) + 1;
  const to = path.indexOf("/", start);
  return DOTS.test(path.slice(from, to === -1 ? undefined : to));
}

/** The address with one more parameter. What the address has of its own stays as it was written. */
export function addParameter(url: URL, name: string, value: string): URL {
  const added = new URL(url);
  const joined = url.search === "" ? "?" : `${url.search}&`;
  added.search = `${joined}${encode(name)}=${encode(value)}`;
  return added;
}
