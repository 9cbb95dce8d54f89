import type { Turn } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** How long a delivery's key is remembered, in milliseconds: senders repeat a delivery for days. */
export const KEY_MS = 7 * 24 * 60 * 60 * 1_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

interface TakenKey {
  readonly deliveryId: string;
  readonly atMs: number;
}

/** `[integration, day, key]`: days since 1970, so that old keys stand together. */
export const deliveryKeys = table<TakenKey>("delivery-key");

/** The last delivery that was taken under this key within {@link KEY_MS}; undefined for none. */
export function findDeliveryOfKey(
  reading: Reading,
  workspaceId: string,
  { integrationId, key }: { readonly integrationId: string; readonly key: string },
  nowMs: number,
): string | undefined {
  const today = toDay(nowMs);
  for (let day = today; day >= toDay(nowMs - KEY_MS); day--) {
    const taken = deliveryKeys.get(reading, workspaceId, integrationId, day, key);
    if (taken !== undefined && taken.atMs > nowMs - KEY_MS) return taken.deliveryId;
  }
  return undefined;
}

export function recordKey(turn: Turn, integrationId: string, key: string, deliveryId: string): void {
  const taken: TakenKey = { deliveryId, atMs: turn.now };
  deliveryKeys.put(turn, turn.self.partition, [integrationId, toDay(turn.now), key], taken);
}

/** Removes keys of an integration that are not remembered any more, at most `limit`; how many. */
export function removeOldKeys(turn: Turn, integrationId: string, limit: number): number {
  const before = [integrationId, toDay(turn.now - KEY_MS)];
  const old = deliveryKeys.entries(turn, turn.self.partition, [integrationId], { before, limit });
  for (const { key } of old) turn.remove(key);
  return old.length;
}

function toDay(ms: number): number {
  return Math.floor(ms / DAY_MS);
}
