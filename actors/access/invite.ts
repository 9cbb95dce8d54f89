import { topic } from "../../runtime/topic.js";
import type { Role } from "../caller.js";

/** Lifetime of an invite since it was last sent, in milliseconds (configuration API, Limits). */
export const INVITE_MS = 14 * 24 * 60 * 60 * 1_000;

/** An invite of one address to one workspace. Only the hash of its link is stored. */
export interface InviteRow {
  readonly inviteId: string;
  /** In lower case. */
  readonly email: string;
  readonly role: Exclude<Role, "owner">;
  /** Ids; a team may be deleted by now. */
  readonly teams: readonly string[];
  readonly state: "open" | "expired" | "revoked" | "accepted";
  /** The last person who invited. */
  readonly invitedBy: string;
  /** SHA-256 of the link's token, in hex. */
  readonly linkHash: string;
  readonly createdAtMs: number;
  readonly sentAtMs: number;
  readonly expiresAtMs: number;
  /** The mail that was last sent, and its result. */
  readonly mailId: string;
  readonly mail: "sending" | "sent" | "not-sent";
}

/** Whether the invite's link has this hash; a revoked invite has no link. */
export function leads(invite: InviteRow, linkHash: string): boolean {
  return invite.linkHash === linkHash && invite.state !== "revoked";
}

/** What is published about an invite and its last mail. */
export const inviteTopic = topic<Pick<InviteRow, "state" | "mail">>("invite");
