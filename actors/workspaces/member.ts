import { z } from "zod";
import type { Stored } from "../view.js";

const role = z.enum(["owner", "admin", "member"]);
/** A team as shown in lists of people. */
export const teamSchema = z.strictObject({ id: z.string(), key: z.string(), name: z.string() });

/** A member as another member of the workspace sees them. */
export const memberSchema = z
  .strictObject({
    userId: z.string(),
    name: z.string(),
    email: z.string(),
    role,
    teams: z.array(teamSchema),
    /** The roles that the caller may give the member, except the current role; the highest first. */
    assignableRoles: z.array(role),
    since: z.string(),
  })
  .meta({ title: "member" });

/** A user's membership of a workspace. */
export interface Member extends Stored<typeof memberSchema, "name" | "teams" | "assignableRoles"> {
  /** Ids of the teams that the member is on. */
  readonly teams: readonly string[];
}
