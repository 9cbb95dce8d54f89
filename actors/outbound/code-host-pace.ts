/** Time between two writes for one installation, in milliseconds, as GitHub advises; it bounds them to 60 a minute. */
const PACE_MS = 1_000;
/** Most installations whose last write is remembered. */
const MAX_REMEMBERED = 1_000;

/** Makes a function that resolves when something may be written for an installation: {@link PACE_MS} after the last. */
export function createPace({
  now,
  pause,
}: {
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
}): (installationId: number) => Promise<void> {
  const next = new Map<number, number>();
  return async (installationId) => {
    const nowMs = now();
    const atMs = Math.max(nowMs, next.get(installationId) ?? 0);
    next.delete(installationId);
    next.set(installationId, atMs + PACE_MS);
    const oldest = next.size > MAX_REMEMBERED ? next.keys().next() : undefined;
    if (oldest?.done === false) next.delete(oldest.value);
    if (atMs > nowMs) await pause(atMs - nowMs);
  };
}
