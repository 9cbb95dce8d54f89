import { topic } from "../../runtime/feeds/topic.js";
import type { Answered, Delivered, Fact, Turn } from "../../runtime/turns/turn.js";
import type { Role } from "../caller.js";
import type { Refusal } from "../refusal.js";
import { findResource } from "../resources/resource.table.js";
import type { Member } from "./member.js";
import { findMember, isLastOwner, putMember, removeMember } from "./member.table.js";
import {
  notAMember,
  onlyLeadsSetRoles,
  type RoleChange,
  refuseRemoval,
  refuseRole,
  refuseTeamChange,
} from "./role-change.js";

/**
 * Published when a user joins or leaves the workspace or a team, or gets another role. Not published when a team is
 * created or deleted.
 */
export interface MemberChanged extends Fact {
  readonly name: "member.changed";
  readonly userId: string;
}

/** Changes a member's role. The answer is the {@link Member}. */
export interface ChangeRole extends Answered<MembershipAnswer> {
  readonly type: "member.role";
  /**
   * The requesting user. The turn of the change checks the role of this user, so that the role cannot change between
   * the check and the write.
   */
  readonly by: string;
  readonly userId: string;
  readonly role: Role;
}

/** Removes a user from the workspace; users may remove themselves. The answer is the former {@link Member}. */
export interface RemoveMember extends Answered<MembershipAnswer> {
  readonly type: "member.remove";
  readonly by: string;
  readonly userId: string;
}

/** Adds a member of the workspace to a team. The answer is the {@link Member}. */
export interface JoinTeam extends Answered<MembershipAnswer> {
  readonly type: "team.join";
  readonly by: string;
  readonly teamId: string;
  readonly userId: string;
}

/** Removes a member from a team. The answer is the {@link Member}, or `not-found` if the member is not on the team. */
export interface LeaveTeam extends Answered<MembershipAnswer> {
  readonly type: "team.leave";
  readonly by: string;
  readonly teamId: string;
  readonly userId: string;
}

/** Published when a user has left, or was removed from, a team or the workspace. */
export interface MemberLeft extends Fact {
  readonly name: "member.left";
  readonly userId: string;
  /** The team that the user left; null if the user left the workspace and all its teams. */
  readonly teamId: string | null;
}

export type MembershipMessage = ChangeRole | RemoveMember | JoinTeam | LeaveTeam;
export type MembershipAnswer = Member | Refusal;

/**
 * Adds a user with `role` to the workspace, and to the teams, in a turn of the workspace. If the user is already a
 * member, they keep their role.
 */
export function admitMember(
  turn: Turn,
  person: { readonly userId: string; readonly email: string },
  terms: { readonly role: Role; readonly teams: readonly string[] },
): Member {
  const workspaceId = turn.self.partition;
  const known = findMember(turn, workspaceId, person.userId);
  const teams = terms.teams.filter((id) => findResource(turn, workspaceId, "team", id) !== undefined);
  const member: Member =
    known === undefined
      ? { userId: person.userId, email: person.email, role: terms.role, teams, since: new Date(turn.now).toISOString() }
      : { ...known, teams: [...new Set([...known.teams, ...teams])] };
  putMember(turn, workspaceId, member);
  announceMember(turn, member, "joined");
  return member;
}

/** Changes a member's role, in a turn of the workspace. */
export function changeRole(event: Delivered<ChangeRole>): Member | Refusal {
  const { turn, role } = event;
  const change = findRoleChange(event);
  if (change === null) return { refused: "not-found" };
  const { caller, target } = change;
  if (target === undefined) return caller.role === "member" ? onlyLeadsSetRoles : notAMember;
  const refused = refuseRole({ ...change, target }, role);
  if (refused !== null) return refused;
  if (target.role === role) return target;
  const changed: Member = { ...target, role };
  putMember(turn, turn.self.partition, changed);
  announceMember(turn, changed, "role");
  return changed;
}

/** Removes a member from the workspace and its teams, in a turn of the workspace. */
export function removeFromWorkspace(event: Delivered<RemoveMember>): Member | Refusal {
  const { turn } = event;
  const change = findRoleChange(event);
  if (change?.target === undefined) return { refused: "not-found" };
  const { target } = change;
  const refused = refuseRemoval({ ...change, target });
  if (refused !== null) return refused;
  removeMember(turn, turn.self.partition, target);
  announceMember(turn, target, "removed");
  publishLeft(turn, { userId: target.userId, teamId: null });
  return target;
}

/** Adds a member to a team, in a turn of the workspace. */
export function joinTeam({ turn, by, teamId, userId }: Delivered<JoinTeam>): Member | Refusal {
  const workspaceId = turn.self.partition;
  const refused = refuseTeamChange(findMember(turn, workspaceId, by));
  if (refused !== null) return refused;
  if (findResource(turn, workspaceId, "team", teamId) === undefined) return { refused: "not-found" };
  const member = findMember(turn, workspaceId, userId);
  if (member === undefined) {
    return { refused: "invalid", errors: [{ path: "userId", message: "is not a member of this workspace" }] };
  }
  return member.teams.includes(teamId) ? member : admitMember(turn, member, { role: member.role, teams: [teamId] });
}

/** Removes a member from a team, in a turn of the workspace. */
export function leaveTeam({ turn, by, teamId, userId }: Delivered<LeaveTeam>): Member | Refusal {
  const refused = by === userId ? null : refuseTeamChange(findMember(turn, turn.self.partition, by));
  if (refused !== null) return refused;
  const member = findMember(turn, turn.self.partition, userId);
  if (member === undefined || !member.teams.includes(teamId)) return { refused: "not-found" };
  const changed: Member = { ...member, teams: member.teams.filter((id) => id !== teamId) };
  putMember(turn, turn.self.partition, changed);
  announceMember(turn, changed, "left-team");
  publishLeft(turn, { userId, teamId });
  return changed;
}

function publishLeft(turn: Turn, of: Omit<MemberLeft, "name">): void {
  const left: MemberLeft = { name: "member.left", ...of };
  turn.publish(left);
}

/** Returns the caller and the target; null if the caller has left the workspace. */
function findRoleChange(
  event: Delivered<ChangeRole | RemoveMember>,
): (Omit<RoleChange, "target"> & { readonly target: Member | undefined }) | null {
  const { turn, by, userId } = event;
  const workspaceId = turn.self.partition;
  const caller = findMember(turn, workspaceId, by);
  if (caller === undefined) return null;
  const target = findMember(turn, workspaceId, userId);
  return { caller, target, isLastOwner: target !== undefined && isLastOwner(turn, workspaceId, target) };
}

type MembershipChange = "joined" | "role" | "removed" | "left-team";

/** The changes of members in the workspace's stream. */
const workspaceTopic = topic<
  { readonly type: "member"; readonly what: MembershipChange } & Pick<Member, "userId" | "role" | "teams">
>("workspace");

/**
 * Publishes a change of a member as a fact and in the workspace's stream. If the user has left the workspace, the stream
 * entry ends the user's view of the workspace.
 */
function announceMember(turn: Turn, { userId, role, teams }: Member, what: MembershipChange): void {
  const changed: MemberChanged = { name: "member.changed", userId };
  turn.publish(changed);
  turn.publishChange(workspaceTopic(turn.self.partition), { type: "member", what, userId, role, teams });
}
