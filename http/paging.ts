import { z } from "zod";

/**
 * Where a page of a list begins or ends: an id or key that another page has shown. Anything else could stand nowhere in
 * a list, and what is no key of the store may not reach it.
 */
export const cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, "must be 1 to 100 letters, digits, - or _, as an earlier page shows it");

/** A whole number of a query, from 1. */
export const wholeNumber = z.coerce
  .number("must be a number")
  .int("must be a whole number")
  .min(1, "must be at least 1");

/** How many items a page holds: at most 200, `usual` when nothing is said. */
export const pageSize = (usual = 50) => wholeNumber.max(200, "must be at most 200").default(usual);
