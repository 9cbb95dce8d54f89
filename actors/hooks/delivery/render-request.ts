import { readJson, writeJson } from "../../exact-json.js";
import { DYN } from "../../expressions/cel-types.js";
import { type Budget, createBudget, type Names } from "../../expressions/evaluate.js";
import { evaluateJson, evaluateText, isTemplate } from "../../expressions/templates.js";
import { type Json, toText, toValue, type Value } from "../../expressions/values.js";
import { isHeaderText, MAX_HEADER_LENGTH } from "../../outbound/http/header-text.js";
import type { HookStep } from "../hook.js";

type StepRequest = NonNullable<HookStep["request"]>;

type Head = Pick<StepRequest, "url" | "headers">;

/** A step's request after the evaluation of its expressions. */
export interface RenderedRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** The address and headers. `url` is null if the text is not a valid address. */
interface RenderedHead {
  readonly url: URL | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Why a request cannot be rendered. */
interface Unrendered {
  readonly error: string;
}

/** Evaluates a request's expressions. The error says which field failed, and why. */
export function renderRequest(request: StepRequest, names: () => Names): RenderedRequest | Unrendered {
  const fixed = toFixedParts(request);
  if (fixed.request !== null) return fixed.request;
  const values = names();
  const allowance = createBudget();
  const head = fixed.head ?? renderHead(request, values, allowance);
  if ("error" in head) return head;
  const body = request.body === null ? { value: null } : evaluateJson(request.body, values, allowance);
  return "error" in body ? { error: `body: ${body.error}` } : toRequest(head, body.value);
}

/** Returns a step's output for later steps: the body of its response, parsed if it is JSON. */
export function toStepOutput(body: string): Value {
  try {
    return toValue(readJson(body), DYN);
  } catch {
    return body;
  }
}

function renderHead(request: Head, values: Names, allowance: Budget): RenderedHead | Unrendered {
  const url = evaluateText(request.url, values, allowance);
  if ("error" in url) return { error: `url: ${url.error}` };
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(request.headers)) {
    const value = evaluateText(text, values, allowance);
    if ("error" in value) return { error: `headers.${name}: ${value.error}` };
    headers[name] = toText(value.value);
    if (headers[name].length > MAX_HEADER_LENGTH || !isHeaderText(headers[name]))
      return { error: `headers.${name}: its value is not valid in a header` };
  }
  return parseHead(toText(url.value), headers);
}

function parseHead(url: string, headers: Readonly<Record<string, string>>): RenderedHead {
  // Names are in lower case, so that a header never duplicates a header that the service sets.
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { url: URL.canParse(url) ? new URL(url) : null, headers: named };
}

function toRequest({ url, headers }: RenderedHead, body: Json): RenderedRequest | Unrendered {
  return url === null ? { error: "url: it is no address" } : { url, headers, body };
}

/** The parts of a request that need no evaluation, because they have no expressions. */
interface FixedParts {
  /** Null if any part has an expression. */
  readonly request: RenderedRequest | Unrendered | null;
  /** Null if the address or a header has an expression. */
  readonly head: RenderedHead | Unrendered | null;
}

/** Caches the fixed parts of each request for as long as the request is in memory. */
const fixedParts = new WeakMap<StepRequest, FixedParts>();

function toFixedParts(request: StepRequest): FixedParts {
  const known = fixedParts.get(request);
  if (known !== undefined) return known;
  const { url, headers, body } = request;
  const isFixed = !isTemplate(writeJson(request));
  const isHeadFixed = !isTemplate(writeJson([url, headers]));
  const parts: FixedParts = {
    request: isFixed ? toRequest(parseHead(url, headers), body) : null,
    head: isHeadFixed ? renderHead(request, {}, createBudget()) : null,
  };
  fixedParts.set(request, parts);
  return parts;
}
