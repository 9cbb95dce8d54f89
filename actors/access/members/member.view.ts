import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import type { Refusal } from "../../refusal.js";
import { findResource } from "../../resources/resource.table.js";
import { findMember, isLastOwner, listWorkspaceMembers, type Member } from "../../workspaces/member.table.js";
import { assignableRoles, type Ranked } from "../../workspaces/role-change.js";
import { findUser } from "../accounts/session.queries.js";

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
    /** The roles that the caller may give the member besides the current one, the highest first. */
    assignableRoles: z.array(role),
    since: z.string(),
  })
  .meta({ title: "member" });

/** Returns the view of a member for a caller who is also a member. */
function memberView(
  reading: Reading,
  workspaceId: string,
  member: Member,
  caller: Ranked,
): z.output<typeof memberSchema> {
  const { userId, email, since } = member;
  const change = { caller, target: member, isLastOwner: isLastOwner(reading, workspaceId, member) };
  return {
    userId,
    name: findUser(reading, userId)?.name ?? email,
    email,
    role: member.role,
    teams: teamNames(reading, workspaceId, member.teams),
    assignableRoles: assignableRoles(change),
    since,
  };
}

/** Returns the view of a member for the user `by`; `not-found` if that user has left the workspace. */
export function memberViewFor(
  reading: Reading,
  workspaceId: string,
  member: Member,
  by: string,
): z.output<typeof memberSchema> | Refusal {
  const own = member.userId === by ? member : findMember(reading, workspaceId, by);
  return own === undefined ? { refused: "not-found" } : memberView(reading, workspaceId, member, own);
}

/** A page of a workspace's members, from one member's point of view. */
export interface MembersView {
  readonly items: readonly z.output<typeof memberSchema>[];
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null;
}

/** Lists the members of a workspace after `after`, ordered by id. */
export function membersView(
  reading: Reading,
  { workspaceId, own }: { readonly workspaceId: string; readonly own: Ranked },
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): MembersView {
  const from = after === undefined ? {} : { after };
  const found = listWorkspaceMembers(reading, workspaceId, { limit: limit + 1, ...from });
  const page = found.slice(0, limit);
  const next = found.length > limit ? (page.at(-1)?.userId ?? null) : null;
  return { items: page.map((member) => memberView(reading, workspaceId, member, own)), next };
}

/** Returns the teams with these ids that still exist. */
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
