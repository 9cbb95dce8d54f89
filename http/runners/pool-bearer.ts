import { findPoolByToken, type PoolBearer } from "../../actors/runners/pool-token.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { ExpiredCredentials } from "../access/expired-credentials.js";

/** What finding the pool of a token needs. */
export interface PoolSource {
  readonly runtime: Runtime;
  readonly expired: ExpiredCredentials;
}

/** The pool that the token (SHA-256, hex) admits to; null for none. One that was refused as expired stays so. */
export function findPool({ runtime, expired }: PoolSource, tokenHash: string): PoolBearer | null {
  const { reading, clock } = runtime;
  const pool = expired.has(tokenHash) ? null : findPoolByToken(reading, tokenHash, clock.now());
  if (pool === null) expired.refusedPool(tokenHash);
  return pool;
}
