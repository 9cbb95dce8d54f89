import type { Reading } from "../../../storage/store.js";
import type { Refusal } from "../../refusal.js";
import { isWorkspaceOpen } from "../../resources/resource.table.js";
import { findHashOwner } from "../../resources/resource-hash.table.js";
import { type InviteRow, leads } from "./invite.js";
import { INVITE_LINK, invites } from "./invite.table.js";

/** Lists the open invites of a workspace, newest first. With `before`, lists only those before this invite id. */
export function listPendingInvites(
  reading: Reading,
  workspaceId: string,
  page: { readonly before?: string | undefined; readonly limit: number; readonly nowMs: number },
): InviteRow[] {
  const { before, limit, nowMs } = page;
  return invites.all(
    reading,
    workspaceId,
    { state: "open" },
    { before: before === undefined ? undefined : [before], limit, fits: ({ expiresAtMs }) => expiresAtMs > nowMs },
  );
}

/** The workspace and invite of a link. */
export interface FoundInvite {
  readonly workspaceId: string;
  readonly invite: InviteRow;
}

/** Finds the invite whose link has this hash. Returns undefined if there is none, or if its workspace is closed. */
export function findInviteByLink(reading: Reading, linkHash: string): FoundInvite | undefined {
  const owner = findHashOwner(reading, INVITE_LINK, linkHash);
  if (owner === undefined) return undefined;
  const { workspaceId, id } = owner;
  if (!isWorkspaceOpen(reading, workspaceId)) return undefined;
  const invite = invites.get(reading, workspaceId, id);
  return invite === undefined || !leads(invite, linkHash) ? undefined : { workspaceId, invite };
}

/**
 * Finds the invite with this id, or returns the refusal `not-found`. Only the latest invite of each address is stored.
 */
export function findInvite(reading: Reading, workspaceId: string, inviteId: string): InviteRow | Refusal {
  return invites.get(reading, workspaceId, inviteId) ?? { refused: "not-found" };
}

/**
 * Returns whether the latest mail of an invite was sent; undefined while it is being sent.
 *
 * - If the invite was revoked or no longer exists: false.
 * - If the invite was accepted before its mail was sent: true.
 * - If the invite was resent before its previous mail was sent, the service sends only the new mail. The result is
 *   that of the new mail, for both callers.
 */
export function didMailGoOut(reading: Reading, workspaceId: string, inviteId: string): boolean | undefined {
  const invite = invites.get(reading, workspaceId, inviteId);
  if (invite === undefined || invite.state === "revoked") return false;
  if (invite.mail === "sending" && invite.state !== "accepted") return undefined;
  return invite.mail !== "not-sent";
}
