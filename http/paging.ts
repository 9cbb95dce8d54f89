import { z } from "zod";

/**
 * Where a page begins or ends: an id or key from another page. The pattern excludes text that cannot be a key of the
 * store.
 */
export const cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, "must be 1 to 100 letters, digits, - or _, as an earlier page shows it");

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
