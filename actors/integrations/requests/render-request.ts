import type { z } from "zod";
import { writeJson } from "../../exact-json.js";
import { type Budget, createBudget, type Names } from "../../expressions/evaluate.js";
import { evaluateJson, evaluateText } from "../../expressions/templates.js";
import { type Json, toText } from "../../expressions/values.js";
import { isHeaderText, MAX_HEADER_LENGTH } from "../../outbound/http/header-text.js";
import type { OutboundMethod } from "../../outbound/http/request.js";
import type { fetchSchema } from "../request.js";

/** The part of a definition that describes the request. */
export type RequestFields = z.output<typeof fetchSchema>;

/** A request after the evaluation of its expressions. */
export interface RenderedRequest {
  readonly method: OutboundMethod;
  readonly url: URL;
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const FORM = "application/x-www-form-urlencoded";

type Rendered<Part> = Part | { readonly error: string };

/**
 * Evaluates a request's expressions within the budget of one request. If a field has no value that can be sent, the
 * error names the field and the reason. Omits a query parameter or header that is a single expression with the value
 * null.
 */
export function renderRequest(fields: RequestFields, names: Names): Rendered<RenderedRequest> {
  const allowance = createBudget();
  const address = evaluateAddress(fields.url, names, allowance);
  if ("error" in address) return address;
  let { url } = address;
  for (const [name, text] of Object.entries(fields.query)) {
    const value = evaluateText(text, names, allowance);
    if ("error" in value) return { error: `query.${name}: ${value.error}` };
    if (value.value !== null) url = addParameter(url, name, toText(value.value));
  }
  const headers = renderHeaders(fields.headers, names, allowance);
  if ("error" in headers) return headers;
  const body = renderBody(fields.body, names, allowance);
  if ("error" in body) return body;
  return { method: fields.method, url, ...toSent(headers.headers, body.json) };
}

function renderHeaders(
  fields: RequestFields["headers"],
  names: Names,
  allowance: Budget,
): Rendered<{ readonly headers: Readonly<Record<string, string>> }> {
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(fields)) {
    const value = evaluateText(text, names, allowance);
    if ("error" in value) return { error: `headers.${name}: ${value.error}` };
    if (value.value === null) continue;
    const written = toText(value.value);
    if (written.length > MAX_HEADER_LENGTH || !isHeaderText(written))
      return { error: `headers.${name}: its value is not valid in a header` };
    headers[name.toLowerCase()] = written;
  }
  return { headers };
}

function renderBody(body: Json | undefined, names: Names, allowance: Budget): Rendered<{ readonly json: Json }> {
  if (body === undefined) return { json: null };
  const value = evaluateJson(body, names, allowance);
  return "error" in value ? { error: `body: ${value.error}` } : { json: value.value };
}

/** Writes the body in the format that `content-type` names: form fields or text, by default JSON. */
function toSent(headers: Readonly<Record<string, string>>, json: Json): Pick<RenderedRequest, "headers" | "body"> {
  const all = { accept: "application/json", "user-agent": "Service-Integrations/1", ...headers };
  if (json === null) return { headers: all, body: null };
  const type = headers["content-type"]?.toLowerCase();
  if (type === undefined) return { headers: { ...all, "content-type": "application/json" }, body: writeJson(json) };
  if (type.startsWith(FORM) && isObject(json)) return { headers: all, body: toForm(json) };
  const isText = typeof json === "string" && !/[/+]json\b/.test(type);
  return { headers: all, body: isText ? json : writeJson(json) };
}

function isObject(json: Json): json is { readonly [name: string]: Json } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function toForm(fields: { readonly [name: string]: Json }): string {
  const given = Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [[name, toText(value)]]));
  return new URLSearchParams(given).toString();
}

/** A path segment that URL parsers treat as `.` or `..`. */
const DOTS = /^(\.|%2e){1,2}$/i;

/**
 * Evaluates the address of a request. The error says why there is no address.
 *
 * - If the text is a single expression, its value is the whole address and is not encoded.
 * - Otherwise the values of expressions are percent-encoded, so that a value cannot end its part of the address
 *   (host, path segment, query or fragment).
 */
function evaluateAddress(
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

/** Returns whether an expression wrote a part of a path segment that URL parsers treat as `.` or `..`. */
function leadsElsewhere(written: string, start: number): boolean {
  const end = written.search(/[?#]/);
  const path = end === -1 ? written : written.slice(0, end);
  if (start > path.length) return false;
  const from = start === 0 ? 0 : path.lastIndexOf("/", start - 1) + 1;
  const to = path.indexOf("/", start);
  return DOTS.test(path.slice(from, to === -1 ? undefined : to));
}

/** Adds a parameter to an address. The existing query stays unchanged. */
function addParameter(url: URL, name: string, value: string): URL {
  const added = new URL(url);
  const joined = url.search === "" ? "?" : `${url.search}&`;
  added.search = `${joined}${encode(name)}=${encode(value)}`;
  return added;
}
