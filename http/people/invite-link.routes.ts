import { z } from "zod";
import { type AcceptInvite, inviteRef } from "../../actors/access/invites/invite.messages.js";
import { type FoundInvite, findInviteByLink } from "../../actors/access/invites/invite.queries.js";
import {
  acceptedInviteSchema,
  acceptedInviteView,
  offerSchema,
  offerView,
} from "../../actors/access/invites/invite.view.js";
import { sha256Hex } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { granted } from "../wire/refused.js";
import { type Route, route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";
import { invitePage } from "./invite-page.js";

/** The routes to read and accept an invite by its link. A replaced or revoked link gets 404. */
export function inviteLinkRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  const { reading } = runtime;
  const linked: Subject<FoundInvite> = {
    find: ({ params }) => findInviteByLink(reading, sha256Hex(params.token ?? "")) ?? { refused: "not-found" },
  };
  return [
    route({
      method: "GET",
      path: "/api/invites/{token}",
      operation: "readInviteOffer",
      summary: "Read the invite of an invite link",
      description: "Requires no credential. A link that was replaced or revoked gets 404.",
      access: "public",
      answers: { 200: offerSchema },
      problems: ["not-found"],
      handle: ({ params }) => {
        const found = findInviteByLink(reading, sha256Hex(params.token ?? ""));
        const offer = found === undefined ? undefined : offerView(reading, found, runtime.clock.now());
        return offer === undefined ? { refused: "not-found" } : { status: 200, body: offer };
      },
    }),
    subjectRoute(linked, {
      method: "POST",
      path: "/api/invites/{token}/accept",
      operation: "acceptInvite",
      summary: "Accept an invite, signed in with the address it was sent to",
      description:
        "The person joins the workspace with the invite's role, and each of its teams that still exists. Existing " +
        "members keep their role.",
      access: "person",
      body: z.strictObject({}),
      answers: { 200: acceptedInviteSchema },
      handle: async ({ caller, params }, { workspaceId, invite }) => {
        const { userId, email } = caller;
        const tokenHash = sha256Hex(params.token ?? "");
        const message: AcceptInvite = { type: "invite.accept", tokenHash, userId, email };
        const member = granted(await runtime.ask(inviteRef(workspaceId, invite.email), message));
        return { status: 200, body: granted(acceptedInviteView(reading, workspaceId, member)) };
      },
    }),
    route({
      method: "GET",
      path: "/invites/{token}",
      operation: "openInvitePage",
      summary: "Open the page of an invite link",
      description: "Shows the invite, and a button that accepts it after sign-in.",
      access: "public",
      answers: {
        200: {
          body: null,
          text: "text/html",
          headers: { "content-security-policy": "The content security policy of the page." },
        },
      },
      handle: () => invitePage(),
    }),
  ];
}
