import type { Reading } from "../../storage/store.js";
import type { Refusal } from "../refusal.js";
import { isWorkspaceOpen } from "../resources/resource.table.js";
import { findHashOwner } from "../resources/resource-hash.table.js";
import { type InviteRow, leads } from "./invite.js";
import { INVITE_LINK, invites } from "./invite.table.js";

/** The open invites of a workspace, newest first; only those before `before` when it is given. */
export function listPendingInvites(
  reading: Reading,
  workspaceId: string,
  page: { readonly before?: string; readonly limit: number; readonly nowMs: number },
): InviteRow[] {
  const { before, limit, nowMs } = page;
  return invites.all(
    reading,
    workspaceId,
    { state: "open" },
    { before: before === undefined ? undefined : [before], limit, fits: ({ expiresAtMs }) => expiresAtMs > nowMs },
  );
}

/** Location of the invite behind a link's hash. */
export interface FoundInvite {
  readonly workspaceId: string;
  readonly invite: InviteRow;
}

/** The invite whose link has this hash, in an open workspace, or undefined. */
export function findInviteByLink(reading: Reading, linkHash: string): FoundInvite | undefined {
  const owner = findHashOwner(reading, INVITE_LINK, linkHash);
  if (owner === undefined) return undefined;
  const { workspaceId, id } = owner;
  if (!isWorkspaceOpen(reading, workspaceId)) return undefined;
  const invite = invites.get(reading, workspaceId, id);
  return invite === undefined || !leads(invite, linkHash) ? undefined : { workspaceId, invite };
}

/** The latest invite of that id in the workspace; refused `not-found` where there is none. */
export function findInvite(reading: Reading, workspaceId: string, inviteId: string): InviteRow | Refusal {
  return invites.get(reading, workspaceId, inviteId) ?? { refused: "not-found" };
}

/**
 * Whether the mail that was last sent of an invite went out, or undefined while that is not known: whoever sends it again
 * meanwhile sends the mail for both. False when it was revoked meanwhile.
 */
export function didMailGoOut(reading: Reading, workspaceId: string, inviteId: string): boolean | undefined {
  const invite = invites.get(reading, workspaceId, inviteId);
  if (invite === undefined || invite.state === "revoked") return false;
  if (invite.mail === "sending" && invite.state !== "accepted") return undefined;
  return invite.mail !== "not-sent";
}
