import type { Reading } from "../../../storage/store.js";
import type { Refusal } from "../../refusal.js";
import { findResource } from "../../resources/resource.table.js";
import { readListPage } from "../../tables/list-page.js";
import { defineView, type Shown } from "../../view.js";
import { type Member, memberSchema, type teamSchema } from "../../workspaces/member.js";
import { findMember, isLastOwner, listWorkspaceMembers } from "../../workspaces/member.table.js";
import { assignableRoles, type Ranked } from "../../workspaces/role-change.js";
import { findUser } from "../accounts/session.queries.js";

interface Sources {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly caller: Ranked;
}

/** Shows a member to a caller who is also a member. */
const showMember = defineView<Member, Sources>()(memberSchema, {
  name: ({ userId, email }, { reading }) => findUser(reading, userId)?.name ?? email,
  teams: ({ teams }, { reading, workspaceId }) => teamNames(reading, workspaceId, teams),
  assignableRoles: (target, { reading, workspaceId, caller }) =>
    assignableRoles({ caller, target, isLastOwner: isLastOwner(reading, workspaceId, target) }),
});

/** Returns the view of a member for the user `by`; `not-found` if that user has left the workspace. */
export function memberViewFor(
  reading: Reading,
  workspaceId: string,
  member: Member,
  by: string,
): Shown<typeof memberSchema> | Refusal {
  const own = member.userId === by ? member : findMember(reading, workspaceId, by);
  return own === undefined ? { refused: "not-found" } : showMember(member, { reading, workspaceId, caller: own });
}

/** A page of a workspace's members, from one member's point of view. */
export interface MembersView {
  readonly items: readonly Shown<typeof memberSchema>[];
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null;
}

/** Lists the members of a workspace, ordered by id. Starts after the id `after`. */
export function membersView(
  reading: Reading,
  { workspaceId, own }: { readonly workspaceId: string; readonly own: Ranked },
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): MembersView {
  const from = after === undefined ? {} : { after };
  const { rows, next } = readListPage(
    { limit, ...from },
    (page) => listWorkspaceMembers(reading, workspaceId, page),
    ({ userId }) => userId,
  );
  return { items: rows.map((member) => showMember(member, { reading, workspaceId, caller: own })), next };
}

/** Returns the teams with these ids that still exist. */
export function teamNames(reading: Reading, workspaceId: string, ids: readonly string[]): Shown<typeof teamSchema>[] {
  return ids.flatMap((id) => {
    const row = findResource<{ readonly name: string }>(reading, workspaceId, "team", id);
    return row === undefined ? [] : [{ id, key: row.address, name: row.fields.name }];
  });
}
