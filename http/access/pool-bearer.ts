import type { Refusal } from "../../actors/refusal.js";
import { findPoolByToken, type PoolBearer } from "../../actors/runners/pool-token.js";
import { isPoolRunner } from "../../actors/runners/runner.queries.js";
import { sha256Hex } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { RouteRequest } from "../wire/route.js";
import { bearerToken } from "./authenticate.js";
import type { ExpiredCredentials } from "./expired-credentials.js";

/** The dependencies of {@link findPool}. */
export interface PoolSource {
  readonly runtime: Runtime;
  readonly expired: ExpiredCredentials;
}

/**
 * Finds the pool of the token whose SHA-256 (hex) is `tokenHash`; null if there is none. A token that was once refused
 * as expired stays refused.
 */
export function findPool({ runtime, expired }: PoolSource, tokenHash: string): PoolBearer | null {
  const { reading, clock } = runtime;
  const pool = expired.has(tokenHash) ? null : findPoolByToken(reading, tokenHash, clock.now());
  if (pool === null) expired.refusedPool(tokenHash);
  return pool;
}

/** The runner that sent a request. */
export interface CallingRunner {
  readonly workspaceId: string;
  readonly runnerId: string;
}

/**
 * Finds the runner that a request names in `service-runner`. Refuses with `unauthenticated` if the request has no valid
 * pool token, and with `not-found` if the pool has no such runner.
 */
export function findCallingRunner(
  source: PoolSource,
  { header }: Pick<RouteRequest<"public">, "header">,
): CallingRunner | Refusal {
  const token = bearerToken(header("authorization"));
  const pool = token === null ? null : findPool(source, sha256Hex(token));
  if (pool === null) return { refused: "unauthenticated", detail: "This endpoint requires a runner pool token." };
  const runnerId = header("service-runner") ?? "";
  if (!isPoolRunner(source.runtime.reading, pool, runnerId)) return { refused: "not-found" };
  return { workspaceId: pool.workspaceId, runnerId };
}
