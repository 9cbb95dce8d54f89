import { z } from "zod";

const ABOUT_CURSOR = "Returns the items that follow this one in the list: `next` of the previous page.";

/**
 * A page cursor: an id or key from an earlier page. The pattern excludes text that cannot be a key in the store. Use it
 * only for lists whose documentation promises an empty page for an unknown cursor (replay checks of a set, searches).
 * For other lists, use {@link idCursor}, which refuses text that is not an id of the list.
 */
export const cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, "must be 1 to 100 letters, digits, - or _, as an earlier page shows it")
  .describe(ABOUT_CURSOR);

/** The schemas that {@link idCursor} and similar functions have created. */
const idCursors = new WeakSet<z.ZodType>();

/**
 * An optional query parameter that takes a value from an earlier page. The route refuses other values as `invalid`
 * (422).
 */
function shownCursor(form: RegExp, shown: string, description = ABOUT_CURSOR) {
  const text = z.string().regex(form, `must be ${shown}, as an earlier page shows it`).optional();
  const made = text.describe(description);
  idCursors.add(made);
  return made;
}

/** A page cursor that is an id with this prefix. */
export const idCursor = (prefix: string, description?: string) =>
  shownCursor(new RegExp(`^${prefix}_[0-9A-Z]{26}$`), `an id (${prefix}_…)`, description);

/** A page cursor of hook firings. */
export const hookFiringCursor = shownCursor(/^occ_[0-9A-Z]{26}(-[0-9A-Z]{8})?$/, "an id (occ_…)");

/** A page cursor of connections, which are listed by holder. */
export const holderCursor = shownCursor(/^(team|usr_[0-9A-Z]{26})$/, "team or a person's id (usr_…)");

/** A page cursor of the inbox: the start of an item's wait in milliseconds, and its id. */
export const inboxCursor = shownCursor(/^\d{13}-(?:apr|task)_[0-9A-Z]{26}$/, "a position (<time>-<id>)");

/** Returns the names of the query parameters that are page cursors with ids. */
export function listIdCursors(query: z.ZodType | undefined): readonly string[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape).flatMap(([name, schema]) => (idCursors.has(schema) ? [name] : []));
}

/**
 * The response member `next` of a list. Its value is for the query parameter `parameter` of the request for the next
 * page.
 */
export const nextPage = (parameter: "after" | "before", more = "") =>
  z.string().nullable().describe(`The \`${parameter}\` parameter for the next page; null when there is none.${more}`);

/** A response member of lists whose finished items are removed after their retention period. */
export const prunedBefore = z
  .string()
  .nullable()
  .describe("On the last page: data that ended before this time has been removed. Null if nothing was removed.");

/** An integer query parameter, at least 1. */
export const wholeNumber = z.coerce
  .number("must be a number")
  .int("must be a whole number")
  .min(1, "must be at least 1");

/** The page size: at most `max`, by default `usual`. */
export const pageSize = (usual = 50, max = 200) =>
  wholeNumber
    .max(max, `must be at most ${max}`)
    .default(usual)
    .describe(`Maximum number of items in the response, at most ${max}; ${usual} by default.`);
