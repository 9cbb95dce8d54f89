import type { DirectoryEntry } from "../../runtime/directory.js";
import { rowSource } from "../../runtime/directory-source.js";
import { table } from "../../storage/table.js";
import type { Role } from "../caller.js";
import { hashEntry } from "../resources/resource-hash.table.js";

/** Lifetime of an invite since it was last sent, in milliseconds (configuration API, Limits). */
export const INVITE_MS = 14 * 24 * 60 * 60 * 1_000;

/** The kind of invite links in the directory of hashes. */
export const INVITE_LINK = "invite";

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

/** `[invite]`: the latest invite of each address. */
export const invites = table<InviteRow>("invite");
/** `[invite]`: the open ones; later ones have higher ids. */
export const openInvites = table<true>("open-invite");

/** Whether the link with this hash leads to the invite; a revoked invite has no link. */
export function leads(invite: InviteRow, linkHash: string): boolean {
  return invite.linkHash === linkHash && invite.state !== "revoked";
}

/** The directory entry of an invite's link. */
export function inviteEntry(workspaceId: string, { linkHash, inviteId }: InviteRow): DirectoryEntry {
  return hashEntry(INVITE_LINK, linkHash, { workspaceId, id: inviteId });
}

/** Looks up invites by their links. */
export const inviteSource = rowSource(invites, (invite, { partition }) =>
  leads(invite, invite.linkHash) ? [inviteEntry(partition, invite)] : [],
);
