import { DYN } from "../expressions/cel-types.js";
import { toValue, type Value } from "../expressions/values.js";
import { readText } from "../outbound/answer-text.js";
import { createJsonRoom, type JsonRoom, parseBounded } from "./bounded-json.js";

/** What expressions see of a body that was received. */
export interface ReceivedBody {
  /** The bytes as UTF-8, with a byte order mark; bytes that are no UTF-8 are replacement characters. */
  readonly raw: string;
  /** JSON, or the fields of a form; null for anything else, and for what has too many values. */
  readonly body: Value;
}

/** Deepest nesting of a body that is read; a deeper one is null. */
const MAX_DEPTH = 100;
/** Fields of a form; one with more is null. */
const MAX_FIELDS = 10_000;

/**
 * Reads a body by its content type: a form where that says so, else JSON, whatever it says; without a byte order mark, and
 * in another charset than UTF-8 where the mark or the content type says so. Never throws.
 */
export function readReceivedBody(bytes: Uint8Array, contentType: string | undefined): ReceivedBody {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  const { text } = readText(bytes, contentType);
  const isForm = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? "");
  return { raw, body: isForm ? readForm(text) : toValue(parseBounded(text, createJsonRoom(), MAX_DEPTH), DYN) };
}

/** The fields by name; a list where a name comes several times. A field that is an object or a list as JSON is read. */
function readForm(text: string): Value {
  if (text.split("&", MAX_FIELDS + 1).length > MAX_FIELDS) return null;
  const fields = new Map<string, Value[]>();
  const room = createJsonRoom();
  for (const [name, given] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [readField(given, room)]);
    else values.push(readField(given, room));
  }
  return new Map([...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? null) : values]));
}

function readField(text: string, room: JsonRoom): Value {
  if (!/^\s*[[{]/.test(text)) return text;
  const json = parseBounded(text, room, MAX_DEPTH);
  return json === undefined ? text : toValue(json, DYN);
}
