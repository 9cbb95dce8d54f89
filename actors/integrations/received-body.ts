import { DYN } from "../expressions/cel-types.js";
import { toValue, type Value } from "../expressions/values.js";

/** What expressions see of a body that was received. */
export interface ReceivedBody {
  /** The whole text; bytes that are no UTF-8 are replacement characters. */
  readonly raw: string;
  /** JSON, or the fields of a form; null for anything else. */
  readonly body: Value;
}

/** Deepest nesting of a body that is read; a deeper one is null. */
const MAX_DEPTH = 100;
/** Fields of a form; one with more is null. */
const MAX_FIELDS = 10_000;

/** Reads a body by its content type: a form where that says so, else JSON, whatever it says. Never throws. */
export function readReceivedBody(bytes: Uint8Array, contentType: string | undefined): ReceivedBody {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  const isForm = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? "");
  return { raw, body: isForm ? readForm(raw) : toValue(parseJson(raw), DYN) };
}

/** The JSON of a text; null where it is none, or nests too deep. */
function parseJson(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return isDeeper(json, MAX_DEPTH) ? null : json;
  } catch {
    return null;
  }
}

/** The fields by name; a list where a name comes several times. A field that is an object or a list as JSON is read. */
function readForm(text: string): Value {
  if (text.split("&", MAX_FIELDS + 1).length > MAX_FIELDS) return null;
  const fields = new Map<string, Value[]>();
  for (const [name, given] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [readField(given)]);
    else values.push(readField(given));
  }
  return new Map([...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? null) : values]));
}

function readField(text: string): Value {
  if (!/^\s*[[{]/.test(text)) return text;
  const json = parseJson(text);
  return json === null ? text : toValue(json, DYN);
}

/** Looked at level by level: a deep value would exhaust the stack. */
function isDeeper(json: unknown, depth: number): boolean {
  let level: unknown[] = [json];
  for (let at = 0; level.length > 0; at++) {
    if (at >= depth) return true;
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue;
      for (const part of Object.values(value)) if (typeof part === "object" && part !== null) next.push(part);
    }
    level = next;
  }
  return false;
}
