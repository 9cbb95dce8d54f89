import { z } from "zod";
import type { Refusal } from "../../actors/refusal.js";
import { parseBy } from "./field-errors.js";
import { listIdCursors } from "./paging.js";
import type { Route } from "./route.js";

const noQuery = z.strictObject({});
const NO_DATA = { data: undefined };

/**
 * Parses the query of a request. Unknown parameters are refused, since they were meant to do something; except on
 * public routes without a query, to which links may add parameters.
 */
export function readQuery(
  { query, access }: Pick<Route, "query" | "access">,
  given: string,
): { readonly data: unknown } | Refusal {
  if (query !== undefined) return parseQuery(query, given);
  return given === "" || access === "public" ? NO_DATA : parseQuery(noQuery, given);
}

/**
 * The query by the schema of its route, or a refusal that names each invalid parameter. A repeated parameter is
 * invalid, since it is not clear which value was meant. Where only ids of pages are wrong, the refusal is `invalid`: the
 * form is right, and the value is none that the list can have shown.
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
