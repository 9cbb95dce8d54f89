import { z } from "zod";

/**
 * Where a page of a list begins or ends: an id or key that another page has shown. Anything else could stand nowhere in
 * a list, and what is no key of the store may not reach it.
 */
export const cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, "must be 1 to 100 letters, digits, - or _, as an earlier page shows it");
