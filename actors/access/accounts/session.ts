import { z } from "zod";
import { hasHiddenCharacters } from "../../hidden-characters.js";
import type { Stored } from "../../view.js";

/** A name that a user chooses. Surrounding whitespace is removed. */
export const userName = z
  .string()
  .trim()
  .min(1, "must not be empty")
  .max(100, "must be at most 100 characters")
  .refine((name) => !hasHiddenCharacters(name), "must not contain control characters")
  .refine((name) => name === "" || /[\p{L}\p{N}\p{P}\p{S}]/u.test(name), "must contain a visible character")
  .describe("Shown to the people of the workspaces and in invites. Surrounding whitespace is removed.");

/** The signed-in user and their workspaces. */
export const sessionSchema = z.strictObject({
  userId: z.string(),
  email: z.string(),
  name: z.string(),
  workspaces: z.array(z.strictObject({ id: z.string(), slug: z.string(), role: z.string() })),
});

/** A user with an account. */
export type User = Stored<typeof sessionSchema, "workspaces">;
