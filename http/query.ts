import { z } from "zod";
import type { Refusal } from "../actors/refusal.js";
import { parseBy } from "./field-errors.js";
import type { Route } from "./route.js";

const noQuery = z.strictObject({});

/**
 * What follows the `?`. A parameter that a route does not take was meant to do something, and is not ignored; public
 * routes are come to from links that say more than they read.
 */
export function readQuery(
  { query, access }: Pick<Route, "query" | "access">,
  given: string,
): { readonly data: unknown } | Refusal {
  if (query !== undefined) return parseQuery(query, given);
  return given === "" || access === "public" ? { data: undefined } : parseQuery(noQuery, given);
}

/**
 * What follows the `?`, by the schema of its route, or the refusal that names each parameter that is wrong. One that is
 * given twice is: whichever of the two were taken, the other might have been meant.
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
  return "errors" in read ? refuse(read.errors.map(({ path, message }) => `${path}: ${message}`)) : read;
}
