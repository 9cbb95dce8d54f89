import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { findResource } from "../resources/resource.table.js";
import { isLastOwner, type Member } from "../workspaces/member.table.js";
import { assignableRoles, type Ranked } from "../workspaces/role-change.js";
import { findUser } from "./session.queries.js";

const role = z.enum(["owner", "admin", "member"]);
/** A team as it is shown beside people. */
export const teamSchema = z.strictObject({ id: z.string(), key: z.string(), name: z.string() });

/** A person of a workspace as another of it sees them. */
export const memberSchema = z
  .strictObject({
    userId: z.string(),
    name: z.string(),
    email: z.string(),
    role,
    teams: z.array(teamSchema),
    /** The roles that the caller may give them beside the one they hold, the highest first. */
    assignableRoles: z.array(role),
    since: z.string(),
  })
  .meta({ title: "member" });

/** A member as the caller, a member too, sees them. */
export function memberView(
  reading: Reading,
  workspaceId: string,
  member: Member,
  caller: Ranked,
): z.output<typeof memberSchema> {
  const { userId, email, since } = member;
  const standing = { caller, target: member, isLastOwner: isLastOwner(reading, workspaceId, member) };
  return {
    userId,
    name: findUser(reading, userId)?.name ?? email,
    email,
    role: member.role,
    teams: teamNames(reading, workspaceId, member.teams),
    assignableRoles: assignableRoles(standing),
    since,
  };
}

/** The teams that are still there, by id. */
export function teamNames(
  reading: Reading,
  workspaceId: string,
  ids: readonly string[],
): z.output<typeof teamSchema>[] {
  return ids.flatMap((id) => {
    const row = findResource<{ readonly name: string }>(reading, workspaceId, "team", id);
    return row === undefined ? [] : [{ id, key: row.address, name: row.fields.name }];
  });
}
