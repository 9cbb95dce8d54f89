import { z } from "zod";
import type { AcceptInvite } from "../../actors/access/invite.messages.js";
import { findInviteByLink } from "../../actors/access/invite.table.js";
import { offerSchema, offerView } from "../../actors/access/invite.view.js";
import { teamNames, teamSchema } from "../../actors/access/member.view.js";
import type { PersonCaller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { findResource } from "../../actors/resources/resource.table.js";
import { sha256Hex } from "../../actors/sealer.js";
import type { Member } from "../../actors/workspaces/member.table.js";
import { address } from "../../runtime/address.js";
import type { Runtime } from "../../runtime/runtime.js";
import { type Answer, type Route, route } from "../route.js";
import { invitePage } from "./invite-page.js";

const acceptedSchema = z
  .strictObject({
    workspace: z.strictObject({ id: z.string(), slug: z.string(), name: z.string() }),
    role: z.enum(["owner", "admin", "member"]),
    teams: z.array(teamSchema),
  })
  .meta({ title: "accepted-invite" });

/** What whoever has an invite link does with it. A link that was replaced or revoked leads nowhere. */
export function inviteLinkRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/invites/{token}",
      operation: "readInviteOffer",
      summary: "What an invite link offers",
      access: "public",
      answers: { 200: offerSchema },
      problems: ["not-found"],
      handle: ({ params }) => {
        const found = findInviteByLink(runtime.reading, sha256Hex(params.token ?? ""));
        const offer = found === undefined ? undefined : offerView(runtime.reading, found, runtime.clock.now());
        return offer === undefined ? { refused: "not-found" } : { status: 200, body: offer };
      },
    }),
    route({
      method: "POST",
      path: "/api/invites/{token}/accept",
      operation: "acceptInvite",
      summary: "Accept an invite, signed in with the address it was sent to",
      access: "person",
      body: z.strictObject({}),
      answers: { 200: acceptedSchema },
      handle: ({ caller, params }) => accept(runtime, caller, params.token ?? ""),
    }),
    route({
      method: "GET",
      path: "/invites/{token}",
      operation: "openInvitePage",
      summary: "The page that an invite link opens",
      access: "public",
      answers: {
        200: { body: null, text: "text/html", headers: { "content-security-policy": "What the page may load." } },
      },
      handle: () => invitePage(),
    }),
  ];
}

async function accept(runtime: Runtime, caller: PersonCaller, token: string): Promise<Answer | Refusal> {
  const { reading } = runtime;
  const tokenHash = sha256Hex(token);
  const found = findInviteByLink(reading, tokenHash);
  if (found === undefined) return { refused: "not-found" };
  const { workspaceId, invite: row } = found;
  const { userId, email } = caller;
  const message: AcceptInvite = { type: "invite.accept", tokenHash, userId, email };
  const member = (await runtime.ask(address(workspaceId, "invite", row.email), message)) as Member | Refusal;
  if (isRefusal(member)) return member;
  const { role, teams } = member;
  const workspace = findResource<{ readonly name: string }>(reading, workspaceId, "workspace", workspaceId);
  if (workspace === undefined) return { refused: "not-found" };
  const { name } = workspace.fields;
  return {
    status: 200,
    body: {
      workspace: { id: workspaceId, slug: workspace.address, name },
      role,
      teams: teamNames(reading, workspaceId, teams),
    },
  };
}
