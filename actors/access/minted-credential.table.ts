import { type DirectoryEntry, directory } from "../../runtime/directory.js";
import { rowSource } from "../../runtime/directory-source.js";
import type { Turn } from "../../runtime/turn.js";
import { readPastDamage } from "../../storage/past-damage.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { Scope } from "../caller.js";
import { findResource, isWorkspaceOpen, type ResourceRow } from "../resources/resource.table.js";

/** What the bearer of a minted credential may do. */
type Grant =
  | { readonly kind: "token"; readonly scopes: readonly Scope[]; readonly issuedBy: string }
  | { readonly kind: "pool"; readonly poolId: string };

/** A credential that was minted through a trust. Only a SHA-256 hash of its value is stored. */
export interface MintedCredential {
  readonly id: string;
  /** SHA-256 in hex. */
  readonly hash: string;
  /** `workspace-token-trust` or `runner-trust`. */
  readonly trustKind: string;
  readonly trustId: string;
  /** The version of the trust that it was minted under; under any other version the credential is not valid. */
  readonly trustVersion: number;
  readonly expiresAtMs: number;
  readonly grant: Grant;
}

/** `[trust, credential]`, in the order they were minted. */
const credentials = table<MintedCredential>("minted-credential");
/** `[hash]` */
export const mintedHashes = directory<{
  readonly workspaceId: string;
  readonly trustId: string;
  readonly id: string;
}>("minted-hash");

/** Credentials removed in one turn; the next turn continues. */
const SWEEP_LIMIT = 500;

/** Stores a credential; in a turn of its trust's actor. */
export function storeCredential(turn: Turn, credential: MintedCredential): void {
  const { id, trustId } = credential;
  credentials.put(turn, turn.self.partition, [trustId, id], credential);
  turn.direct(credentialEntry(turn.self.partition, credential));
}

/**
 * The credential with this hash and its workspace, while it is valid: before its end, under an unchanged trust, in an
 * open workspace.
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

/** Whether there is a credential of this hash that has expired. */
export function hasExpiredCredential(reading: Reading, hash: string, nowMs: number): boolean {
  const owner = mintedHashes.find(reading, hash);
  const credential = owner && credentials.get(reading, owner.workspaceId, owner.trustId, owner.id);
  return credential !== undefined && credential.hash === hash && credential.expiresAtMs <= nowMs;
}

/** Whether a credential of the workspace is still valid, by its end and its trust. */
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

/** Looks up credentials by their hashes. */
export const credentialSource = rowSource(credentials, (credential, { partition }) => [
  credentialEntry(partition, credential),
]);

function credentialEntry(workspaceId: string, { id, hash, trustId }: MintedCredential): DirectoryEntry {
  return mintedHashes.entry(hash, { workspaceId, trustId, id });
}

/** What a sweep removed, and when the next credential ends: now when more are due, null when none is left. */
export interface SweepResult {
  readonly removed: number;
  readonly nextMs: number | null;
}

/** Removes the trust's credentials that are no longer valid, the oldest first. */
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
