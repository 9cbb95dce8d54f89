import { z } from "zod";
import type { Stored } from "../../view.js";

/** The signed-in user and their workspaces. */
export const sessionSchema = z.strictObject({
  userId: z.string(),
  email: z.string(),
  name: z.string(),
  workspaces: z.array(z.strictObject({ id: z.string(), slug: z.string(), role: z.string() })),
});

/** A user with an account. */
export type User = Stored<typeof sessionSchema, "workspaces">;
