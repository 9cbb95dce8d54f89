import type { DirectoryEntry } from "../../runtime/directory.js";
import { rowSource } from "../../runtime/directory-source.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { Role } from "../caller.js";
import { findResource } from "../resources/resource.table.js";
import { findHashOwner, hashEntry } from "../resources/resource-hash.table.js";

/** How long an invite lasts from when it was last sent, in milliseconds (configuration API, Limits). */
export const INVITE_MS = 14 * 24 * 60 * 60 * 1_000;

/** The kind under which links of invites stand in the directory of hashes. */
const INVITE_LINK = "invite";

/** An invite of one address to one workspace. Its link is kept by its hash alone. */
export interface InviteRow {
  readonly inviteId: string;
  /** In lower case. */
  readonly email: string;
  readonly role: Exclude<Role, "owner">;
  /** Ids; a team may be gone by now. */
  readonly teams: readonly string[];
  readonly state: "open" | "expired" | "revoked" | "accepted";
  /** Who invited last. */
  readonly invitedBy: string;
  /** SHA-256 of the link's token, in hex. */
  readonly linkHash: string;
  readonly createdAtMs: number;
  readonly sentAtMs: number;
  readonly expiresAtMs: number;
  /** The mail that was last sent, and what became of it. */
  readonly mailId: string;
  readonly mail: "sending" | "sent" | "not-sent";
}

/** `[invite]`: the latest invite of each address. */
export const invites = table<InviteRow>("invite");
/** `[invite]`: those that are open; later ones have higher ids. */
export const openInvites = table<true>("open-invite");

/** The open invites of a workspace, newest first; those before `before` when it is given. */
export function listPendingInvites(
  reading: Reading,
  workspaceId: string,
  page: { readonly before?: string; readonly limit: number; readonly nowMs: number },
): InviteRow[] {
  const before = page.before === undefined ? {} : { before: [page.before] };
  return openInvites
    .entries(reading, workspaceId, [], { reverse: true, limit: page.limit, ...before })
    .flatMap(({ key }) => invites.get(reading, workspaceId, String(key.at(-1))) ?? [])
    .filter(({ expiresAtMs }) => expiresAtMs > page.nowMs);
}

/** Where the invite behind a link's hash stands. */
export interface FoundInvite {
  readonly workspaceId: string;
  readonly invite: InviteRow;
}

/** The invite of an open workspace that the link with this hash leads to, or undefined. */
export function findInviteByLink(reading: Reading, linkHash: string): FoundInvite | undefined {
  const place = findHashOwner(reading, INVITE_LINK, linkHash);
  if (place === undefined) return undefined;
  const { workspaceId, id } = place;
  if (findResource(reading, workspaceId, "workspace", workspaceId) === undefined) return undefined;
  const invite = invites.get(reading, workspaceId, id);
  return invite === undefined || !leads(invite, linkHash) ? undefined : { workspaceId, invite };
}

/** The link of a revoked invite leads nowhere. */
function leads(invite: InviteRow, linkHash: string): boolean {
  return invite.linkHash === linkHash && invite.state !== "revoked";
}

/** What makes an invite findable by its link. */
export function inviteEntry(workspaceId: string, { linkHash, inviteId }: InviteRow): DirectoryEntry {
  return hashEntry(INVITE_LINK, linkHash, { workspaceId, id: inviteId });
}

/** Invites are found by their links. */
export const inviteSource = rowSource(invites, (invite, { partition }) =>
  leads(invite, invite.linkHash) ? [inviteEntry(partition, invite)] : [],
);
