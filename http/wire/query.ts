import { z } from "zod";
import type { Refusal } from "../../actors/refusal.js";
import { parseBy } from "./field-errors.js";
import { listIdCursors } from "./paging.js";
import type { Route } from "./route.js";

const noQuery = z.strictObject({});
const NO_DATA = { data: undefined };

/**
 * Parses the query of a request. Refuses unknown parameters, because the client expects them to have an effect. A
 * public route without declared parameters ignores all parameters instead, because a link may have additional ones.
 */
export function readQuery(
  { query, access }: Pick<Route, "query" | "access">,
  given: string,
): { readonly data: unknown } | Refusal {
  if (query !== undefined) return parseQuery(query, given);
  return given === "" || access === "public" ? NO_DATA : parseQuery(noQuery, given);
}

/**
 * Parses a query by a schema. The refusal lists each invalid parameter. A repeated parameter is invalid, because its
 * value is ambiguous. If only page cursors are wrong, the refusal is `invalid` (422) instead of `bad-request`: the
 * query is well-formed, but its cursor cannot come from this list.
 */
export function parseQuery<Schema extends z.ZodType>(
  schema: Schema,
  query: string,
): { readonly data: z.output<Schema> } | Refusal {
  const given = [...new URLSearchParams(query)];
  const names = given.map(([name]) => name);
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) < index));
  const refuse = (lines: readonly string[]): Refusal => ({ refused: "bad-request", detail: lines.join("\n") });
  if (repeated.size > 0) return refuse([...repeated].map((name) => `${name}: must be given once`));
  const read = parseBy(schema, Object.fromEntries(given));
  if (!("errors" in read)) return read;
  const { errors } = read;
  const idCursors = listIdCursors(schema);
  if (errors.every(({ path }) => idCursors.includes(path))) return { refused: "invalid", errors };
  return refuse(errors.map(({ path, message }) => `${path}: ${message}`));
}
