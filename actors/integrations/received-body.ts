import { DYN } from "../expressions/cel-types.js";
import { toValue, type Value } from "../expressions/values.js";
import { readText } from "../outbound/http/answer-text.js";
import { createJsonBudget, type JsonBudget, parseBounded } from "./bounded-json.js";

/** A received body as expressions see it. */
export interface ReceivedBody {
  /** The bytes as UTF-8, including a byte order mark. Invalid bytes become replacement characters. */
  readonly raw: string;
  /** The parsed JSON or form fields; null for any other content, and for a body that exceeds the limits. */
  readonly body: Value;
}

/** Maximum nesting depth of a JSON body. A deeper body becomes null. */
const MAX_DEPTH = 100;
/** Maximum number of form fields. A body with more fields becomes null. */
const MAX_FIELDS = 10_000;

/**
 * Parses a body. If the content type says that the body is a form, parses it as a form, otherwise as JSON. Decodes the
 * body by the charset of its byte order mark or of the content type, and removes the byte order mark. Never throws.
 */
export function readReceivedBody(bytes: Uint8Array, contentType: string | undefined): ReceivedBody {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  const { text } = readText(bytes, contentType);
  const isForm = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? "");
  return { raw, body: isForm ? readForm(text) : toValue(parseBounded(text, createJsonBudget(), MAX_DEPTH), DYN) };
}

/**
 * Returns the form fields by name. A repeated name has a list of values. A value that is the JSON text of an object or
 * list is parsed.
 */
function readForm(text: string): Value {
  if (text.split("&", MAX_FIELDS + 1).length > MAX_FIELDS) return null;
  const fields = new Map<string, Value[]>();
  const budget = createJsonBudget();
  for (const [name, given] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [readField(given, budget)]);
    else values.push(readField(given, budget));
  }
  return new Map([...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? null) : values]));
}

function readField(text: string, budget: JsonBudget): Value {
  if (!/^\s*[[{]/.test(text)) return text;
  const json = parseBounded(text, budget, MAX_DEPTH);
  return json === undefined ? text : toValue(json, DYN);
}
