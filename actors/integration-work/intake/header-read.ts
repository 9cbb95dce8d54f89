import { parseExpression } from "../../expressions/parse.js";
import { onlyExpression, readTemplate } from "../../expressions/templates.js";
import type { DeliveryHeaders } from "./received-delivery.js";

/** Maximum number of cached fields; the oldest is evicted first. */
const MAX_CACHED = 200;
const cachedNames = new Map<string, string | null>();

/**
 * Reads a field that consists of a single header, like most delivery keys. Returns "" if the header is missing, and
 * null for any other field. Evaluating such a field as an expression takes ten times as long.
 */
export function readHeader(field: string, headers: DeliveryHeaders): string | null {
  const name = nameIn(field);
  if (name === null) return null;
  return headers.get(name) ?? "";
}

function nameIn(field: string): string | null {
  const known = cachedNames.get(field);
  if (known !== undefined) return known;
  const name = findName(field);
  cachedNames.set(field, name);
  if (cachedNames.size > MAX_CACHED) cachedNames.delete(cachedNames.keys().next().value ?? "");
  return name;
}

/** Returns the name in `headers["name"]`; null for any other field. */
function findName(field: string): string | null {
  const read = readTemplate(field);
  const source = "fault" in read ? null : (onlyExpression(read.template)?.source ?? null);
  const parsed = source === null ? null : parseExpression(source);
  if (parsed === null || "fault" in parsed || parsed.tree.root.op !== "[]") return null;
  const [from, name] = parsed.tree.root.args;
  if (from.op !== "id" || from.args !== "headers") return null;
  return name.op === "value" && typeof name.args === "string" ? name.args : null;
}
