import { z } from "zod";
import { memberSchema, memberView } from "../../actors/access/member.view.js";
import { permit } from "../../actors/access/visibility.js";
import type { Caller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { locate } from "../../actors/resources/resource-location.table.js";
import { findMember, listWorkspaceMembers, type Member } from "../../actors/workspaces/member.table.js";
import type { MembershipMessage } from "../../actors/workspaces/membership.transitions.js";
import { onlyLeadsSetRoles } from "../../actors/workspaces/role-change.js";
import { findWorkspaceBySlug } from "../../actors/workspaces/workspace.machine.js";
import { address } from "../../runtime/address.js";
import type { Runtime } from "../../runtime/runtime.js";
import { cursor, pageSize } from "../paging.js";
import { type Answer, type Route, route } from "../route.js";

const userId = z.string().min(1, "must not be empty").max(100, "must be at most 100 characters");

const listing = z.strictObject({
  after: cursor.optional(),
  limit: pageSize(200),
});

/** The people of a workspace, their roles, and the teams they are on. */
export function memberRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/workspaces/{slug}/members",
      operation: "listMembers",
      summary: "The people of a workspace, each with the roles that the caller may give them",
      access: "any",
      query: listing,
      answers: { 200: z.strictObject({ items: z.array(memberSchema), next: z.string().nullable() }) },
      handle: ({ caller, params, query }) => listMembers(runtime, caller, params.slug ?? "", query),
    }),
    route({
      method: "PATCH",
      path: "/api/workspaces/{slug}/members/{userId}",
      operation: "changeRole",
      summary: "Give a person another role in the workspace",
      access: "any",
      body: z.strictObject({ role: z.enum(["owner", "admin", "member"], "must be owner, admin or member") }),
      example: { role: "admin" },
      admits: ({ caller, params }) => {
        const workspaceId = visibleWorkspace(runtime, caller, params.slug);
        if (workspaceId === undefined) return { refused: "not-found" };
        return permit(runtime.reading, caller, workspaceId, "administer", "workspace") === null
          ? null
          : onlyLeadsSetRoles;
      },
      answers: { 200: memberSchema },
      handle: async ({ caller, params, body }) => {
        const workspaceId = visibleWorkspace(runtime, caller, params.slug);
        if (workspaceId === undefined) return { refused: "not-found" };
        if (caller.kind === "token") return onlyLeadsSetRoles;
        return told(runtime, workspaceId, caller.userId, {
          type: "member.role",
          by: caller.userId,
          userId: params.userId ?? "",
          role: body.role,
        });
      },
    }),
    route({
      method: "DELETE",
      path: "/api/workspaces/{slug}/members/{userId}",
      operation: "removeMember",
      summary: "Take a person from the workspace, or leave it",
      access: "any",
      answers: { 204: null },
      handle: async ({ caller, params }) => {
        const workspaceId = visibleWorkspace(runtime, caller, params.slug);
        if (workspaceId === undefined || caller.kind === "token") return { refused: "not-found" };
        const by = caller.userId;
        const removed = await ask(runtime, workspaceId, { type: "member.remove", by, userId: params.userId ?? "" });
        return isRefusal(removed) ? removed : { status: 204 };
      },
    }),
    route({
      method: "POST",
      path: "/api/teams/{teamId}/members",
      operation: "addToTeam",
      summary: "Add a person of the workspace to a team",
      access: "any",
      body: z.strictObject({ userId }),
      admits: ({ caller, params }) => {
        const workspaceId = administeredTeam(runtime, caller, params.teamId ?? "");
        return isRefusal(workspaceId) ? workspaceId : null;
      },
      answers: { 200: memberSchema },
      handle: async ({ caller, params, body }) => {
        const teamId = params.teamId ?? "";
        const workspaceId = administeredTeam(runtime, caller, teamId);
        if (isRefusal(workspaceId)) return workspaceId;
        const by = caller.kind === "person" ? caller.userId : "";
        return told(runtime, workspaceId, by, { type: "team.join", by, teamId, userId: body.userId });
      },
    }),
    route({
      method: "DELETE",
      path: "/api/teams/{teamId}/members/{userId}",
      operation: "removeFromTeam",
      summary: "Take a person from a team, or leave it",
      access: "any",
      answers: { 204: null },
      handle: async ({ caller, params }) => {
        const { teamId = "", userId: leaver = "" } = params;
        const isOwnPlace = caller.kind === "person" && caller.userId === leaver;
        const workspaceId = isOwnPlace
          ? visibleTeam(runtime, caller, teamId)
          : administeredTeam(runtime, caller, teamId);
        if (isRefusal(workspaceId)) return workspaceId;
        const by = caller.kind === "person" ? caller.userId : "";
        const left = await ask(runtime, workspaceId, { type: "team.leave", by, teamId, userId: leaver });
        return isRefusal(left) ? left : { status: 204 };
      },
    }),
  ];
}

function listMembers(
  runtime: Runtime,
  caller: Caller,
  slug: string,
  query: z.output<typeof listing>,
): Answer | Refusal {
  const { reading } = runtime;
  const workspaceId = visibleWorkspace(runtime, caller, slug);
  const own =
    workspaceId === undefined || caller.kind === "token" ? undefined : findMember(reading, workspaceId, caller.userId);
  if (workspaceId === undefined || own === undefined) return { refused: "not-found" };
  const { after, limit } = query;
  const found = listWorkspaceMembers(reading, workspaceId, {
    limit: limit + 1,
    ...(after === undefined ? {} : { after }),
  });
  const page = found.slice(0, limit);
  const next = found.length > limit ? (page.at(-1)?.userId ?? null) : null;
  return { status: 200, body: { items: page.map((member) => memberView(reading, workspaceId, member, own)), next } };
}

/** Asks for a change and answers with the person as the caller, `by`, now sees them. */
async function told(
  runtime: Runtime,
  workspaceId: string,
  by: string,
  message: MembershipMessage,
): Promise<Answer | Refusal> {
  const member = await ask(runtime, workspaceId, message);
  if (isRefusal(member)) return member;
  const own = member.userId === by ? member : findMember(runtime.reading, workspaceId, by);
  if (own === undefined) return { refused: "not-found" };
  return { status: 200, body: memberView(runtime.reading, workspaceId, member, own) };
}

async function ask(runtime: Runtime, workspaceId: string, message: MembershipMessage): Promise<Member | Refusal> {
  return (await runtime.ask(address(workspaceId, "workspace", workspaceId), message)) as Member | Refusal;
}

function visibleWorkspace(runtime: Runtime, caller: Caller, slug = ""): string | undefined {
  const workspaceId = findWorkspaceBySlug(runtime.reading, slug);
  if (workspaceId === undefined) return undefined;
  return permit(runtime.reading, caller, workspaceId, "read", "workspace") === null ? workspaceId : undefined;
}

/** The workspace of a team that the caller may see. */
function visibleTeam({ reading }: Runtime, caller: Caller, teamId: string): string | Refusal {
  const place = locate(reading, teamId);
  if (place?.kind !== "team") return { refused: "not-found" };
  return permit(reading, caller, place.workspaceId, "read", "team") ?? place.workspaceId;
}

/** The same, where the caller decides who is on it: never a token, whatever its scopes. */
function administeredTeam(runtime: Runtime, caller: Caller, teamId: string): string | Refusal {
  const workspaceId = visibleTeam(runtime, caller, teamId);
  if (isRefusal(workspaceId)) return workspaceId;
  return permit(runtime.reading, caller, workspaceId, "administer", "team") ?? workspaceId;
}
