import { LRUCache } from "lru-cache";

/**
 * Minimum time between two writes for one installation, in milliseconds, as GitHub recommends. It allows 60 writes per
 * minute.
 */
const PACE_MS = 1_000;
/** Maximum number of installations whose last write time is stored. */
const MAX_REMEMBERED = 1_000;

/**
 * Creates a function that resolves when the service may write for an installation: {@link PACE_MS} after the last
 * write.
 */
export function createPace({
  now,
  pause,
}: {
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
}): (installationId: number) => Promise<void> {
  const next = new LRUCache<number, number>({ max: MAX_REMEMBERED });
  return async (installationId) => {
    const nowMs = now();
    const atMs = Math.max(nowMs, next.get(installationId) ?? 0);
    next.set(installationId, atMs + PACE_MS);
    if (atMs > nowMs) await pause(atMs - nowMs);
  };
}
