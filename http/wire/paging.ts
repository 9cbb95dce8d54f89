import { z } from "zod";

/**
 * Where a page begins or ends: an id or key from another page. The pattern excludes text that cannot be a key of the
 * store.
 */
export const cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, "must be 1 to 100 letters, digits, - or _, as an earlier page shows it");

/** The parameters made by {@link idCursor} and its like. */
const idCursors = new WeakSet<z.ZodType>();

/** An optional parameter that takes what an earlier page shows; anything else is refused as `invalid` (422). */
function shownCursor(form: RegExp, shown: string, description?: string) {
  const text = z.string().regex(form, `must be ${shown}, as an earlier page shows it`).optional();
  const made = description === undefined ? text : text.describe(description);
  idCursors.add(made);
  return made;
}

/** Where a page begins or ends: an id of the list's kind. */
export const idCursor = (prefix: string, description?: string) =>
  shownCursor(new RegExp(`^${prefix}_[0-9A-Z]{26}$`), `an id (${prefix}_…)`, description);

/** The same for hook firings: their ids name the event and the hook. */
export const hookFiringCursor = shownCursor(/^occ_[0-9A-Z]{26}(-[0-9A-Z]{8})?$/, "an id (occ_…)");

/** The same for connections, which are listed by their holders. */
export const holderCursor = shownCursor(/^(team|usr_[0-9A-Z]{26})$/, "team or a person's id (usr_…)");

/** The names of the parameters of a query that are ids of the list's kind. */
export function listIdCursors(query: z.ZodType | undefined): readonly string[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape).flatMap(([name, schema]) => (idCursors.has(schema) ? [name] : []));
}

/** The member of a list whose older rows are removed some time after their end. */
export const prunedBefore = z
  .string()
  .nullable()
  .describe("On the last page: what ended before this time is not stored any more. Null where nothing was removed.");

/** A whole number in a query, at least 1. */
export const wholeNumber = z.coerce
  .number("must be a number")
  .int("must be a whole number")
  .min(1, "must be at least 1");

/** The number of items in a page: at most 200, by default `usual`. */
export const pageSize = (usual = 50) => wholeNumber.max(200, "must be at most 200").default(usual);
