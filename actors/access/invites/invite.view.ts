import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import type { InviteOffer } from "../../outbound/mail/mail-texts.js";
import type { Refusal } from "../../refusal.js";
import { findResource } from "../../resources/resource.table.js";
import { timeText } from "../../time-text.js";
import { defineView, type Shown } from "../../view.js";
import { type Member, teamSchema } from "../../workspaces/member.js";
import { findUser } from "../accounts/session.queries.js";
import { teamNames } from "../members/member.view.js";
import { type InviteRow, inviteSchema } from "./invite.js";
import type { FoundInvite } from "./invite.queries.js";

interface Sources {
  readonly reading: Reading;
  readonly workspaceId: string;
}

const showInvite = defineView<InviteRow, Sources>()(inviteSchema, {
  id: ({ inviteId }) => inviteId,
  teams: ({ teams }, { reading, workspaceId }) => teamNames(reading, workspaceId, teams),
  invitedBy: ({ invitedBy }, { reading }) => ({ userId: invitedBy, name: getName(reading, invitedBy) }),
  createdAt: ({ createdAtMs }) => timeText(createdAtMs),
  sentAt: ({ sentAtMs }) => timeText(sentAtMs),
  expiresAt: ({ expiresAtMs }) => timeText(expiresAtMs),
});

/** Returns the view of a pending invite, without deleted teams. */
export function inviteView(reading: Reading, workspaceId: string, invite: InviteRow): Shown<typeof inviteSchema> {
  return showInvite(invite, { reading, workspaceId });
}

/** An invite as anyone with its link sees it. */
export const offerSchema = z
  .strictObject({
    workspace: z
      .strictObject({
        slug: z.string().describe("Unique name of the workspace in paths."),
        name: z.string().describe("Title of the workspace for people."),
      })
      .describe("Workspace that the invite is for."),
    invitedBy: z.string().describe("Name of the person who sent the invite."),
    email: z.string().describe("Invited mail address; only its owner can accept."),
    role: inviteSchema.shape.role,
    teams: z.array(z.string()).describe("Titles of the teams that the person joins."),
    state: z.enum(["open", "expired", "accepted"]).describe("`open` can be accepted; `expired` and `accepted` cannot."),
    expiresAt: z.string().describe("RFC 3339 time after which the link cannot be accepted."),
  })
  .meta({ title: "invite-offer" });

/**
 * Returns what the holder of an invite link sees. Undefined if the workspace is closed or the invite was revoked. The
 * view has no ids. It identifies people only by the invited address and the inviter's name.
 */
export function offerView(
  reading: Reading,
  { workspaceId, invite }: FoundInvite,
  nowMs: number,
): z.output<typeof offerSchema> | undefined {
  const workspace = findResource<{ readonly name: string }>(reading, workspaceId, "workspace", workspaceId);
  if (workspace === undefined || invite.state === "revoked") return undefined;
  return {
    workspace: { slug: workspace.address, name: workspace.fields.name },
    invitedBy: getName(reading, invite.invitedBy),
    email: invite.email,
    role: invite.role,
    teams: teamNames(reading, workspaceId, invite.teams).map(({ name }) => name),
    state: invite.state === "open" && invite.expiresAtMs <= nowMs ? "expired" : invite.state,
    expiresAt: timeText(invite.expiresAtMs),
  };
}

/** Returns the content of an invite's mail, without its link. */
export function inviteMailView(
  reading: Reading,
  workspaceId: string,
  { email, role, teams, invitedBy }: Pick<InviteRow, "email" | "role" | "teams" | "invitedBy">,
): Omit<InviteOffer, "link"> {
  const workspace = findResource<{ readonly name: string }>(reading, workspaceId, "workspace", workspaceId);
  const inviter = findUser(reading, invitedBy);
  return {
    to: email,
    inviter: { name: inviter?.name ?? "Someone", email: inviter?.email ?? "no address" },
    workspace: workspace?.fields.name ?? "",
    role,
    teams: teamNames(reading, workspaceId, teams).map(({ name }) => name),
  };
}

/** The membership of the user who accepted an invite. */
export const acceptedInviteSchema = z
  .strictObject({
    workspace: z
      .strictObject({
        id: z.string().describe("Id of the workspace, `ws_` and a ULID."),
        slug: z.string().describe("Unique name of the workspace in paths."),
        name: z.string().describe("Title of the workspace for people."),
      })
      .describe("Workspace that the person joined."),
    role: z.enum(["owner", "admin", "member"]).describe("Role that the person now has; members keep theirs."),
    teams: z.array(teamSchema).describe("All teams that the person is now on."),
  })
  .meta({ title: "accepted-invite" });

/** Returns the view of an accepted invite; `not-found` if its workspace is closed. */
export function acceptedInviteView(
  reading: Reading,
  workspaceId: string,
  { role, teams }: Pick<Member, "role" | "teams">,
): z.output<typeof acceptedInviteSchema> | Refusal {
  const workspace = findResource<{ readonly name: string }>(reading, workspaceId, "workspace", workspaceId);
  if (workspace === undefined) return { refused: "not-found" };
  return {
    workspace: { id: workspaceId, slug: workspace.address, name: workspace.fields.name },
    role,
    teams: teamNames(reading, workspaceId, teams),
  };
}

function getName(reading: Reading, userId: string): string {
  return findUser(reading, userId)?.name ?? userId;
}
