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

/** The keys of an integration that were taken within {@link KEY_MS} before a turn. */
export class TakenKeys {
  readonly #reading: Reading;
  readonly #workspaceId: string;
  readonly #integrationId: string;
  readonly #nowMs: number;
  /** The periods that may have some. */
  readonly #periods: readonly number[];

  constructor(reading: Reading, workspaceId: string, integrationId: string, nowMs: number) {
    this.#reading = reading;
    this.#workspaceId = workspaceId;
    this.#integrationId = integrationId;
    this.#nowMs = nowMs;
    const period = toPeriod(nowMs);
    const [first] = deliveryKeys.entries(reading, workspaceId, [integrationId], { limit: 1 });
    // A key of the period before is looked up only where there is one at all.
    this.#periods = first === undefined || Number(first.key.at(-2)) >= period ? [period] : [period, period - 1];
  }

  /** The last delivery that was taken under this key; undefined for none. */
  find(key: string): string | undefined {
    for (const period of this.#periods) {
      const taken = deliveryKeys.get(this.#reading, this.#workspaceId, this.#integrationId, period, key);
      if (taken !== undefined) return taken.atMs > this.#nowMs - KEY_MS ? taken.deliveryId : undefined;
    }
    return undefined;
  }
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
