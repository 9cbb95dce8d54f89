import { z } from "zod";
import type { Stored } from "../view.js";

const role = z.enum(["owner", "admin", "member"]);
/** A team as shown in lists of people. */
export const teamSchema = z.strictObject({
  id: z.string().describe("Id of the team, `team_` and a ULID."),
  key: z.string().describe("Key of the team, unique in its workspace."),
  name: z.string().describe("Title of the team for people."),
});

/** A member as another member of the workspace sees them. */
export const memberSchema = z
  .strictObject({
    userId: z.string().describe("Id of the person, `usr_` and a ULID; the same in every workspace."),
    name: z.string().describe("Name that the person chose; at first from the mail address."),
    email: z.string().describe("Mail address that the person signs in with, in lower case."),
    role: role.describe("Role of the person in the workspace and all its teams."),
    teams: z.array(teamSchema).describe("Teams of the workspace that the person is on."),
    assignableRoles: z
      .array(role)
      .describe("Roles that the caller may give the person, without the current one; the highest first."),
    since: z.string().describe("RFC 3339 time at which the person joined the workspace."),
  })
  .meta({ title: "member" });

/** A user's membership of a workspace. */
export interface Member extends Stored<typeof memberSchema, "name" | "teams" | "assignableRoles"> {
  /** Ids of the teams that the member is on. */
  readonly teams: readonly string[];
}
