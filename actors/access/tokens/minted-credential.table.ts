import { type DirectoryEntry, directory } from "../../../runtime/directories/directory.js";
import { rowSource } from "../../../runtime/directories/directory-source.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import { readPastDamage } from "../../../storage/past-damage.js";
import type { Reading } from "../../../storage/store.js";
import { table } from "../../../storage/table.js";
import type { Scope } from "../../caller.js";
import { findResource, isWorkspaceOpen, type ResourceRow } from "../../resources/resource.table.js";

/** The rights of a minted credential. */
type Grant =
  | { readonly kind: "token"; readonly scopes: readonly Scope[]; readonly issuedBy: string }
  | { readonly kind: "pool"; readonly poolId: string };

/** A credential minted through a trust. Only a SHA-256 hash of its value is stored. */
export interface MintedCredential {
  readonly id: string;
  /** SHA-256 in hex. */
  readonly hash: string;
  /** `workspace-token-trust` or `runner-trust`. */
  readonly trustKind: string;
  readonly trustId: string;
  /**
   * The version that the trust had when the credential was minted. The credential is invalid once the trust has another
   * version.
   */
  readonly trustVersion: number;
  readonly expiresAtMs: number;
  readonly grant: Grant;
}

/** Key: `[trust, credential]`, in the order of minting. */
export const credentials = table<MintedCredential>("minted-credential");
/** Key: `[hash]`. */
export const mintedHashes = directory<{
  readonly workspaceId: string;
  readonly trustId: string;
  readonly id: string;
}>("minted-hash");

/** Maximum number of credentials to remove per turn. The next turn continues. */
const SWEEP_LIMIT = 500;

/** Stores a credential. Call this in a turn of the actor of the trust that mints the credential. */
export function storeCredential(turn: Turn, credential: MintedCredential): void {
  const { id, trustId } = credential;
  credentials.put(turn, turn.self.partition, [trustId, id], credential);
  turn.direct(credentialEntry(turn.self.partition, credential));
}

/**
 * Finds the valid credential with this hash, and its workspace; null if there is none. A credential is valid before its
 * expiry, while its trust is unchanged and its workspace is open.
 */
export function findLiveCredential(
  reading: Reading,
  hash: string,
  nowMs: number,
): (MintedCredential & { readonly workspaceId: string }) | null {
  const owner = mintedHashes.find(reading, hash);
  if (owner === undefined) return null;
  const { workspaceId, trustId, id } = owner;
  const credential = credentials.get(reading, workspaceId, trustId, id);
  if (credential?.hash !== hash || !isWorkspaceOpen(reading, workspaceId)) {
    return null;
  }
  const trust = findResource(reading, workspaceId, credential.trustKind, trustId);
  return isOver(credential, trust, nowMs) ? null : { ...credential, workspaceId };
}

/** Returns whether a credential with this hash exists and has expired. */
export function hasExpiredCredential(reading: Reading, hash: string, nowMs: number): boolean {
  const owner = mintedHashes.find(reading, hash);
  const credential = owner && credentials.get(reading, owner.workspaceId, owner.trustId, owner.id);
  return credential !== undefined && credential.hash === hash && credential.expiresAtMs <= nowMs;
}

/** Returns whether a credential is valid: the workspace stores it, it has not expired, and its trust is unchanged. */
export function isCredentialLive(
  reading: Reading,
  workspaceId: string,
  { trustId, id }: Pick<MintedCredential, "trustId" | "id">,
  nowMs: number,
): boolean {
  const credential = credentials.get(reading, workspaceId, trustId, id);
  if (credential === undefined) return false;
  return !isOver(credential, findResource(reading, workspaceId, credential.trustKind, trustId), nowMs);
}

/** Derives the directory entries of credentials from their rows, to rebuild the directory. */
export const credentialSource = rowSource(credentials, (credential, { partition }) => [
  credentialEntry(partition, credential),
]);

function credentialEntry(workspaceId: string, { id, hash, trustId }: MintedCredential): DirectoryEntry {
  return mintedHashes.entry(hash, { workspaceId, trustId, id });
}

/**
 * The number of removed credentials, and when to sweep again. If the sweep reached its limit, sweep again now;
 * otherwise at the next expiry. `nextMs` is null if no credential is left.
 */
export interface SweepResult {
  readonly removed: number;
  readonly nextMs: number | null;
}

/**
 * Removes the trust's invalid credentials, oldest first, at most {@link SWEEP_LIMIT}. If `trust` is undefined, all of
 * its credentials are invalid.
 */
export function sweepCredentials(turn: Turn, trustId: string, trust: ResourceRow | undefined): SweepResult {
  const { partition } = turn.self;
  let removed = 0;
  const reading = readPastDamage(turn);
  for (const credential of credentials.list(reading, partition, [trustId], { limit: SWEEP_LIMIT })) {
    if (!isOver(credential, trust, turn.now)) return { removed, nextMs: credential.expiresAtMs };
    credentials.remove(turn, partition, trustId, credential.id);
    turn.undirect(credentialEntry(partition, credential));
    removed += 1;
  }
  const isEmpty = credentials.list(reading, partition, [trustId], { limit: 1 }).length === 0;
  return { removed, nextMs: isEmpty ? null : turn.now };
}

function isOver(credential: MintedCredential, trust: ResourceRow | undefined, nowMs: number): boolean {
  return trust === undefined || trust.version !== credential.trustVersion || credential.expiresAtMs <= nowMs;
}
