import { type DirectedWriting, type DirectoryEntry, directory } from "../../runtime/directories/directory.js";
import { rowSource } from "../../runtime/directories/directory-source.js";
import { expected } from "../../storage/expected.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { Role } from "../caller.js";
import { atOnce, type InSteps } from "../in-steps.js";
import { findResource } from "../resources/resource.table.js";
import { indexedTable } from "../tables/indexed-table.js";
import { derivedRows } from "../tables/table-declaration.js";
import type { Member } from "./member.js";

/** Key: `[mail address]`. Value: the member's user id. */
const memberEmails = table<string>("member-email");
/** Key: `[user]`. */
export const members = indexedTable<Member>("member", {
  order: ["userId"],
  indexes: { owner: { by: [], only: { role: ["owner"] } } },
  derived: [derivedRows(memberEmails, ({ email, userId }) => [[[email], userId]])],
});
/** Key: `[user, workspace]`. The workspaces that a user is in. */
export const memberships = directory<{ readonly workspaceId: string }>("membership");

/** Finds the user's membership of the workspace; undefined if there is none. */
export function findMember(reading: Reading, workspaceId: string, userId: string): Member | undefined {
  return members.get(reading, workspaceId, userId);
}

/** Finds the member with this mail address (in lower case); undefined if there is none. */
export function findMemberByEmail(reading: Reading, workspaceId: string, email: string): Member | undefined {
  const userId = memberEmails.get(reading, workspaceId, email);
  if (userId === undefined) return undefined;
  return expected(findMember(reading, workspaceId, userId), members.key(workspaceId, userId));
}

/** Lists at most `limit` members, ordered by id, optionally after the id `after`. */
export function listWorkspaceMembers(
  reading: Reading,
  workspaceId: string,
  page: { readonly after?: string; readonly limit: number },
): Member[] {
  const after = page.after === undefined ? {} : { after: [page.after] };
  return members.list(reading, workspaceId, [], { limit: page.limit, ...after });
}

/** Returns whether the member is the only owner of the workspace. */
export function isLastOwner(reading: Reading, workspaceId: string, { userId, role }: Member): boolean {
  if (role !== "owner") return false;
  return members.all(reading, workspaceId, { role: "owner" }, { limit: 2 }).every((owner) => owner.userId === userId);
}

/** Adds or replaces a member. Call this in a turn of the workspace. */
export function putMember(writing: DirectedWriting, workspaceId: string, member: Member): void {
  const { userId } = member;
  members.put(writing, workspaceId, findMember(writing, workspaceId, userId) ?? null, member);
  writing.direct(membershipEntry(workspaceId, userId));
}

/** Removes a member from the workspace and its teams. Call this in a turn of the workspace. */
export function removeMember(writing: DirectedWriting, workspaceId: string, member: Member): void {
  members.remove(writing, workspaceId, member);
  writing.undirect(membershipEntry(workspaceId, member.userId));
}

/** Removes all members from a deleted team. */
export function dissolveTeam(writing: DirectedWriting, workspaceId: string, teamId: string): void {
  for (const member of members.list(writing, workspaceId)) {
    if (!member.teams.includes(teamId)) continue;
    putMember(writing, workspaceId, { ...member, teams: member.teams.filter((id) => id !== teamId) });
  }
}

/** Removes all memberships of a closed workspace from the directory. So lists of a user's workspaces do not show it. */
export function forgetMemberships(writing: DirectedWriting, workspaceId: string): void {
  for (const member of members.list(writing, workspaceId)) {
    writing.undirect(membershipEntry(workspaceId, member.userId));
  }
}

/** The directory entries of memberships, by user id. The memberships of a closed workspace have no entries. */
export const memberSource = rowSource(members, ({ userId }, { reading, partition }) =>
  findResource(reading, partition, "workspace", partition) === undefined ? [] : [membershipEntry(partition, userId)],
);

function membershipEntry(workspaceId: string, userId: string): DirectoryEntry {
  return memberships.entry([userId, workspaceId], { workspaceId });
}

/** A workspace in the list of a user's workspaces. */
export interface Membership {
  readonly id: string;
  readonly slug: string;
  readonly role: Role;
}

/** Lists the open workspaces that a user is in, ordered by slug. */
export function listMemberships(reading: Reading, userId: string): Membership[] {
  return atOnce(listMembershipsInSteps(reading, userId));
}

/** Number of workspaces to look through in one step. */
export const WORKSPACES_AT_ONCE = 25;

/** Like {@link listMemberships}, in steps. */
export function* listMembershipsInSteps(reading: Reading, userId: string): InSteps<Membership[]> {
  const found: Membership[] = [];
  for (const [index, { workspaceId }] of memberships.list(reading, userId).entries()) {
    if (index > 0 && index % WORKSPACES_AT_ONCE === 0) yield;
    const workspace = findResource(reading, workspaceId, "workspace", workspaceId);
    const member = findMember(reading, workspaceId, userId);
    if (workspace === undefined || member === undefined) continue;
    found.push({ id: workspaceId, slug: workspace.address, role: member.role });
  }
  return found.sort((left, right) => (left.slug < right.slug ? -1 : 1));
}
