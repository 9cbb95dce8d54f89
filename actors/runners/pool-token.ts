import type { Reading } from "../../storage/store.js";
import { findLiveCredential } from "../access/tokens/minted-credential.table.js";
import { findResource, isWorkspaceOpen } from "../resources/resource.table.js";
import { findResourceByHash } from "../resources/resource-hash.table.js";

/** The pool that a runner may join. */
export interface PoolBearer {
  readonly workspaceId: string;
  readonly poolId: string;
}

/**
 * Finds the pool of a token by the token's SHA-256 (hex). The token is the pool's own, or was minted through a runner
 * trust. Returns null in these cases:
 *
 * - The token is unknown, replaced or expired.
 * - The trust has changed since it minted the token.
 * - The workspace is closed.
 */
export function findPoolByToken(reading: Reading, tokenHash: string, nowMs: number): PoolBearer | null {
  const own = findResourceByHash(reading, "runner-pool", tokenHash);
  const minted = own === undefined ? findLiveCredential(reading, tokenHash, nowMs) : null;
  const poolId = own?.id ?? (minted?.grant.kind === "pool" ? minted.grant.poolId : undefined);
  const workspaceId = own?.workspaceId ?? minted?.workspaceId;
  if (poolId === undefined || workspaceId === undefined) return null;
  const isThere =
    isWorkspaceOpen(reading, workspaceId) && findResource(reading, workspaceId, "runner-pool", poolId) !== undefined;
  return isThere ? { workspaceId, poolId } : null;
}
