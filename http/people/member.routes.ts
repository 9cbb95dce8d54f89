import { z } from "zod";
import {
  findOwnWorkspace,
  findTeamToLeave,
  findTeamToStaff,
  findWorkspaceOfRoles,
  type OwnWorkspace,
  type Staffing,
} from "../../actors/access/members/member.queries.js";
import { membersView, memberViewFor } from "../../actors/access/members/member.view.js";
import { memberSchema } from "../../actors/workspaces/member.js";
import type { MembershipMessage } from "../../actors/workspaces/membership.transitions.js";
import { workspaceRef } from "../../actors/workspaces/workspace.messages.js";
import type { Runtime } from "../../runtime/runtime.js";
import { idCursor, nextPage, pageSize } from "../wire/paging.js";
import { granted } from "../wire/refused.js";
import type { Answer, Route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";

const userId = z
  .string()
  .min(1, "must not be empty")
  .max(100, "must be at most 100 characters")
  .describe("Id of a person of the workspace, `usr_` and a ULID.");

const listing = z.strictObject({
  after: idCursor("usr"),
  limit: pageSize(200),
});

/** The routes for the people of a workspace, their roles and their teams. */
export function memberRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [...workspaceRoutes(runtime), ...teamRoutes(runtime)];
}

function workspaceRoutes(runtime: Runtime): readonly Route[] {
  const { reading } = runtime;
  const ownWorkspace: Subject<OwnWorkspace> = {
    find: ({ caller, params }) => findOwnWorkspace(reading, caller, params.slug ?? ""),
  };
  const workspaceOfRoles: Subject<Staffing> = {
    find: ({ caller, params }) => findWorkspaceOfRoles(reading, caller, params.slug ?? ""),
  };
  return [
    subjectRoute(ownWorkspace, {
      method: "GET",
      path: "/api/workspaces/{slug}/members",
      operation: "listMembers",
      summary: "List the people of a workspace, with the roles that the caller may give them",
      description: "Requires a member of the workspace; workspace tokens are not accepted.",
      access: "any",
      query: listing,
      answers: {
        200: z.strictObject({
          items: z.array(memberSchema).describe("Members of the page, by id."),
          next: nextPage("after"),
        }),
      },
      handle: ({ query }, found) => ({ status: 200, body: membersView(reading, found, query) }),
    }),
    subjectRoute(workspaceOfRoles, {
      method: "PATCH",
      path: "/api/workspaces/{slug}/members/{userId}",
      operation: "changeRole",
      summary: "Change a person's role in the workspace",
      description:
        "Requires an owner or admin. An admin changes only members, and cannot make owners. The last owner keeps the role.",
      access: "any",
      body: z.strictObject({
        role: z
          .enum(["owner", "admin", "member"], "must be owner, admin or member")
          .describe("New role of the person; the last owner must stay owner."),
      }),
      example: { role: "admin" },
      isCheckedFirst: true,
      answers: { 200: memberSchema },
      handle: ({ params, body }, { workspaceId, by }) => {
        const { userId: target = "" } = params;
        return changed(runtime, workspaceId, { type: "member.role", by, userId: target, role: body.role });
      },
    }),
    subjectRoute(ownWorkspace, {
      method: "DELETE",
      path: "/api/workspaces/{slug}/members/{userId}",
      operation: "removeMember",
      summary: "Remove a person from the workspace, or leave it",
      description: "Everyone may leave. An owner removes anyone, an admin removes members. The last owner stays.",
      access: "any",
      answers: { 204: null },
      handle: async ({ params }, { workspaceId, own }) => {
        const { userId: target = "" } = params;
        await ask(runtime, workspaceId, { type: "member.remove", by: own.userId, userId: target });
        return { status: 204 };
      },
    }),
  ];
}

function teamRoutes(runtime: Runtime): readonly Route[] {
  const { reading } = runtime;
  const teamToStaff: Subject<Staffing> = {
    find: ({ caller, params }) => findTeamToStaff(reading, caller, params.teamId ?? ""),
  };
  const teamToLeave: Subject<Staffing> = {
    find: ({ caller, params: { teamId = "", userId: leaver = "" } }) =>
      findTeamToLeave(reading, caller, { teamId, userId: leaver }),
  };
  return [
    subjectRoute(teamToStaff, {
      method: "POST",
      path: "/api/teams/{teamId}/members",
      operation: "addToTeam",
      summary: "Add a person of the workspace to a team",
      description: "Requires an owner or admin. The person must be a member of the team's workspace.",
      access: "any",
      body: z.strictObject({ userId }),
      isCheckedFirst: true,
      answers: { 200: memberSchema },
      handle: ({ params, body }, { workspaceId, by }) => {
        const { teamId = "" } = params;
        return changed(runtime, workspaceId, { type: "team.join", by, teamId, userId: body.userId });
      },
    }),
    subjectRoute(teamToLeave, {
      method: "DELETE",
      path: "/api/teams/{teamId}/members/{userId}",
      operation: "removeFromTeam",
      summary: "Remove a person from a team, or leave it",
      description: "Everyone may leave a team. Removing others requires an owner or admin.",
      access: "any",
      answers: { 204: null },
      handle: async ({ params }, { workspaceId, by }) => {
        const { teamId = "", userId: leaver = "" } = params;
        await ask(runtime, workspaceId, { type: "team.leave", by, teamId, userId: leaver });
        return { status: 204 };
      },
    }),
  ];
}

/** Sends a membership change. Responds with the changed member as the person who made the change now sees it. */
async function changed(runtime: Runtime, workspaceId: string, message: MembershipMessage): Promise<Answer> {
  const member = await ask(runtime, workspaceId, message);
  return { status: 200, body: granted(memberViewFor(runtime.reading, workspaceId, member, message.by)) };
}

async function ask(runtime: Runtime, workspaceId: string, message: MembershipMessage) {
  return granted(await runtime.ask(workspaceRef(workspaceId), message));
}
