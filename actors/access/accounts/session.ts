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
  userId: z.string().describe("Id of the signed-in person, `usr_` and a ULID."),
  email: z.string().describe("Mail address that the person signed in with, in lower case."),
  name: z.string().describe("Name that other people see; at first from the mail address."),
  workspaces: z
    .array(
      z.strictObject({
        id: z.string().describe("Id of the workspace, `ws_` and a ULID."),
        slug: z.string().describe("Unique name of the workspace in paths."),
        role: z.string().describe("Role in the workspace: `owner`, `admin` or `member`."),
      }),
    )
    .describe("Open workspaces that the person is a member of."),
});

/** A user with an account. */
export type User = Stored<typeof sessionSchema, "workspaces">;
