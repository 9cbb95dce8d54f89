import { DYN } from "../../expressions/cel-types.js";
import { createBudget, type Names } from "../../expressions/evaluate.js";
import { evaluateJson, evaluateText, isTemplate } from "../../expressions/templates.js";
import { type Json, toText, toValue, type Value } from "../../expressions/values.js";
import { isHeaderText, MAX_HEADER_LENGTH } from "../../outbound/header-text.js";
import type { HookStep } from "../hook.js";

type StepRequest = NonNullable<HookStep["request"]>;

/** A step's request with every expression evaluated. */
export interface RenderedRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** Evaluates a request's expressions; an error says which field failed, and why. */
export function renderRequest(request: StepRequest, names: () => Names): RenderedRequest | { readonly error: string } {
  const known = parsedRequests.get(request);
  if (known !== undefined) return known;
  if (!holdsExpressions(request)) {
    const rendered = parseRequest(request.url, request.headers, request.body);
    parsedRequests.set(request, rendered);
    return rendered;
  }
  const values = names();
  const allowance = createBudget();
  const url = evaluateText(request.url, values, allowance);
  if ("error" in url) return { error: `url: ${url.error}` };
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(request.headers)) {
    const value = evaluateText(text, values, allowance);
    if ("error" in value) return { error: `headers.${name}: ${value.error}` };
    headers[name] = toText(value.value);
    if (headers[name].length > MAX_HEADER_LENGTH || !isHeaderText(headers[name]))
      return { error: `headers.${name}: its value cannot stand in a header` };
  }
  if (request.body === null) return parseRequest(toText(url.value), headers, null);
  const body = evaluateJson(request.body, values, allowance);
  return "error" in body ? { error: `body: ${body.error}` } : parseRequest(toText(url.value), headers, body.value);
}

/** What later steps see of a completed step: its answer, parsed where it is JSON. */
export function toStepOutput(body: string): Value {
  try {
    return toValue(JSON.parse(body), DYN);
  } catch {
    return body;
  }
}

function parseRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Json,
): RenderedRequest | { readonly error: string } {
  if (!URL.canParse(url)) return { error: "url: it is no address" };
  // Names in lower case, so that a header never duplicates one that the service sets.
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { url: new URL(url), headers: named, body };
}

/** Whether a request has no expressions, read once while the request is in memory. */
const parsedRequests = new WeakMap<StepRequest, ReturnType<typeof parseRequest>>();
/** Computed once for a request while it is in memory. */
const expressionFlags = new WeakMap<StepRequest, boolean>();

function holdsExpressions(request: StepRequest): boolean {
  const known = expressionFlags.get(request);
  if (known !== undefined) return known;
  const holds = isTemplate(JSON.stringify(request));
  expressionFlags.set(request, holds);
  return holds;
}
