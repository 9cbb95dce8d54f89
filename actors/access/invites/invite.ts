import { z } from "zod";
import { topic } from "../../../runtime/feeds/topic.js";
import type { Stored } from "../../view.js";
import { teamSchema } from "../../workspaces/member.js";

/** Lifetime of an invite from its last mail, in milliseconds (configuration API, Limits). */
export const INVITE_MS = 14 * 24 * 60 * 60 * 1_000;

/** A pending invite as administrators of the workspace see it. */
export const inviteSchema = z
  .strictObject({
    id: z.string().describe("Id of the invite, `inv_` and a ULID."),
    email: z.string().describe("Invited mail address, in lower case."),
    role: z.enum(["admin", "member"]).describe("Role that the person gets in the workspace."),
    teams: z.array(teamSchema).describe("Teams that the person joins, without teams deleted since."),
    invitedBy: z
      .strictObject({
        userId: z.string().describe("Id of the person who sent the invite."),
        name: z.string().describe("Current name of the person who sent the invite."),
      })
      .describe("The person who first sent the invite; a resend does not change it."),
    mail: z
      .enum(["sending", "sent", "not-sent"])
      .describe("Whether the latest mail is on its way, was sent, or failed."),
    createdAt: z.string().describe("RFC 3339 time at which the invite was created."),
    sentAt: z.string().describe("RFC 3339 time of the latest mail of this invite."),
    expiresAt: z.string().describe("RFC 3339 time at which the link expires: 14 days after `sentAt`."),
  })
  .meta({ title: "invite" });

type StoredInvite = Stored<typeof inviteSchema, "id" | "teams" | "invitedBy" | "createdAt" | "sentAt" | "expiresAt">;

/** An invite of one address to one workspace. Only the hash of its link is stored. */
export interface InviteRow extends StoredInvite {
  readonly inviteId: string;
  /** Team ids. A team may have been deleted since. */
  readonly teams: readonly string[];
  readonly state: "open" | "expired" | "revoked" | "accepted";
  /** The inviting user. `invite.resend` does not change it. */
  readonly invitedBy: string;
  /** SHA-256 of the link's token, in hex. */
  readonly linkHash: string;
  readonly createdAtMs: number;
  readonly sentAtMs: number;
  readonly expiresAtMs: number;
  /** The id of the last mail. */
  readonly mailId: string;
}

/** Returns whether the invite's link has this hash. A revoked invite has no link. */
export function leads(invite: InviteRow, linkHash: string): boolean {
  return invite.linkHash === linkHash && invite.state !== "revoked";
}

/** The topic for changes of an invite and its last mail. */
export const inviteTopic = topic<Pick<InviteRow, "state" | "mail">>("invite");
