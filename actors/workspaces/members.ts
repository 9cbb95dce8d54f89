import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { Role } from "../access/caller.js";
import { resourceById } from "../resources/resource-rows.js";

/** A person in a workspace. */
export interface Member {
  readonly userId: string;
  readonly role: Role;
  /** Ids of the teams they are on. */
  readonly teams: readonly string[];
  readonly since: string;
}

const members = table<Member>("member");
/** `[user, workspace]` under the global partition: which workspaces a person is in. */
const memberships = table<{ readonly workspaceId: string }>("membership");

/** The person's place in the workspace, or undefined when they have none. */
export function memberOf(reading: Reading, workspaceId: string, userId: string): Member | undefined {
  return members.get(reading, workspaceId, userId);
}

/** Adds a person or replaces what is kept of them; in a turn of the workspace. */
export function putMember(writing: Writing, workspaceId: string, member: Member): void {
  members.put(writing, workspaceId, member.userId, member);
  memberships.put(writing, GLOBAL_PARTITION, [member.userId, workspaceId], { workspaceId });
}

/** Takes everyone's membership from the index, so that a closed workspace is in nobody's list. */
export function forgetMemberships(writing: Writing, workspaceId: string): void {
  for (const member of members.list(writing, workspaceId)) {
    memberships.remove(writing, GLOBAL_PARTITION, member.userId, workspaceId);
  }
}

/** A workspace as its member sees it in a list. */
export interface Membership {
  readonly id: string;
  readonly slug: string;
  readonly role: Role;
}

/** The open workspaces a person is in, by slug. */
export function workspacesOf(reading: Reading, userId: string): Membership[] {
  return memberships
    .list(reading, GLOBAL_PARTITION, [userId])
    .flatMap(({ workspaceId }): Membership[] => {
      const workspace = resourceById(reading, workspaceId, "workspace", workspaceId);
      const member = memberOf(reading, workspaceId, userId);
      return workspace === undefined || member === undefined
        ? []
        : [{ id: workspaceId, slug: workspace.address, role: member.role }];
    })
    .sort((left, right) => (left.slug < right.slug ? -1 : 1));
}
