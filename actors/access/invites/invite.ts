import { z } from "zod";
import { topic } from "../../../runtime/feeds/topic.js";
import type { Stored } from "../../view.js";
import { teamSchema } from "../../workspaces/member.js";

/** Lifetime of an invite from its last mail, in milliseconds (configuration API, Limits). */
export const INVITE_MS = 14 * 24 * 60 * 60 * 1_000;

/** A pending invite as administrators of the workspace see it. */
export const inviteSchema = z
  .strictObject({
    id: z.string(),
    email: z.string(),
    role: z.enum(["admin", "member"]),
    teams: z.array(teamSchema),
    invitedBy: z.strictObject({ userId: z.string(), name: z.string() }),
    /** Whether the last mail is being sent, was sent, or failed. */
    mail: z.enum(["sending", "sent", "not-sent"]),
    createdAt: z.string(),
    sentAt: z.string(),
    expiresAt: z.string(),
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
