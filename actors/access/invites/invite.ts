import { topic } from "../../../runtime/feeds/topic.js";
import type { Role } from "../../caller.js";

/** Lifetime of an invite from its last mail, in milliseconds (configuration API, Limits). */
export const INVITE_MS = 14 * 24 * 60 * 60 * 1_000;

/** An invite of one address to one workspace. Only the hash of its link is stored. */
export interface InviteRow {
  readonly inviteId: string;
  /** In lower case. */
  readonly email: string;
  readonly role: Exclude<Role, "owner">;
  /** Team ids. A team may have been deleted since. */
  readonly teams: readonly string[];
  readonly state: "open" | "expired" | "revoked" | "accepted";
  /** The user who sent the last invite. */
  readonly invitedBy: string;
  /** SHA-256 of the link's token, in hex. */
  readonly linkHash: string;
  readonly createdAtMs: number;
  readonly sentAtMs: number;
  readonly expiresAtMs: number;
  /** The last mail and its result. */
  readonly mailId: string;
  readonly mail: "sending" | "sent" | "not-sent";
}

/** Returns whether the invite's link has this hash. A revoked invite has no link. */
export function leads(invite: InviteRow, linkHash: string): boolean {
  return invite.linkHash === linkHash && invite.state !== "revoked";
}

/** The topic for changes of an invite and its last mail. */
export const inviteTopic = topic<Pick<InviteRow, "state" | "mail">>("invite");
