import type { Turn } from "../../runtime/turn.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/** How long a delivery's key is remembered, in milliseconds: senders repeat a delivery for days. */
export const KEY_MS = 7 * 24 * 60 * 60 * 1_000;

interface TakenKey {
  readonly deliveryId: string;
  readonly atMs: number;
}

/** `[integration, period, key]`: periods of {@link KEY_MS} since 1970, so that old keys stand together. */
export const deliveryKeys = table<TakenKey>("delivery-key");

/** The last delivery that was taken under this key within {@link KEY_MS}; undefined for none. */
export function findDeliveryOfKey(
  reading: Reading,
  workspaceId: string,
  { integrationId, key }: { readonly integrationId: string; readonly key: string },
  nowMs: number,
): string | undefined {
  const period = toPeriod(nowMs);
  const read = (which: number) => deliveryKeys.get(reading, workspaceId, integrationId, which, key);
  const taken = read(period) ?? read(period - 1);
  return taken !== undefined && taken.atMs > nowMs - KEY_MS ? taken.deliveryId : undefined;
}

export function recordKey(turn: Turn, integrationId: string, key: string, deliveryId: string): void {
  const taken: TakenKey = { deliveryId, atMs: turn.now };
  deliveryKeys.put(turn, turn.self.partition, [integrationId, toPeriod(turn.now), key], taken);
}

/** Removes keys of an integration that are not remembered any more, at most `limit`; how many. */
export function removeOldKeys(turn: Turn, integrationId: string, limit: number): number {
  const before = [integrationId, toPeriod(turn.now) - 1];
  const old = deliveryKeys.entries(turn, turn.self.partition, [integrationId], { before, limit });
  for (const { key } of old) turn.remove(key);
  return old.length;
}

function toPeriod(ms: number): number {
  return Math.floor(ms / KEY_MS);
}
