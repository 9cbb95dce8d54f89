import type { z } from "zod";
import { writeJson } from "../../exact-json.js";
import { type Budget, createBudget, type Names } from "../../expressions/evaluate.js";
import { evaluateJson, evaluateText } from "../../expressions/templates.js";
import { type Json, toText } from "../../expressions/values.js";
import { isHeaderText, MAX_HEADER_LENGTH } from "../../outbound/http/header-text.js";
import type { OutboundMethod } from "../../outbound/http/request.js";
import type { fetchSchema } from "../request.js";
import { addParameter, evaluateAddress } from "./evaluate-address.js";

/** The part of a definition that describes the request. */
export type RequestFields = z.output<typeof fetchSchema>;

/** A request after the evaluation of its expressions. */
export interface RenderedRequest {
  readonly method: OutboundMethod;
  readonly url: URL;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const FORM = "application/x-www-form-urlencoded";

type Rendered<Part> = Part | { readonly error: string };

/**
 * Evaluates a request's expressions within the budget of one request. The error says which field has no value that can
 * be sent, and why. Query parameters and headers are left out if they are a single expression whose value is null.
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
