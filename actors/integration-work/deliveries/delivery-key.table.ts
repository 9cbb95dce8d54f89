import type { Turn, TurnReading } from "../../../runtime/turns/turn.js";
import { listKeys } from "../../../storage/list-keys.js";
import { table } from "../../../storage/table.js";
import type { DeliveryRow } from "./delivery.js";

/** How long a delivery key is stored, in milliseconds. A sender may repeat a delivery for several days. */
export const KEY_MS = 7 * 24 * 60 * 60 * 1_000;

interface TakenKey {
  readonly deliveryId: string;
  readonly atMs: number;
}

/**
 * Key: `[integration, period, key]`. `period` is the number of whole {@link KEY_MS} intervals since 1970, so that old
 * keys are adjacent.
 */
export const deliveryKeys = table<TakenKey>("delivery-key");

/** The keys of an integration that were accepted within {@link KEY_MS} before a turn. */
export class TakenKeys {
  /** The turn's period if no earlier period has stored keys; otherwise null. */
  readonly from: number | null;
  readonly #turn: TurnReading;
  /** The periods that may have keys. */
  readonly #periods: readonly number[];

  /**
   * `knownFrom` is the `from` of an earlier turn. That value stays valid until the end of its period, because no later
   * turn stores a key under an earlier period.
   */
  constructor(turn: TurnReading, knownFrom: number | null) {
    const period = toPeriod(turn.now);
    this.#turn = turn;
    this.from = knownFrom === period || !hasKeysBefore(turn, period) ? period : null;
    this.#periods = this.from === null ? [period, period - 1] : [period];
  }

  /** Finds the delivery that was last accepted with this key. Undefined if none was accepted within {@link KEY_MS}. */
  find(key: string): string | undefined {
    const { self, now } = this.#turn;
    for (const period of this.#periods) {
      const taken = deliveryKeys.get(this.#turn, self.partition, self.id, period, key);
      if (taken !== undefined) return taken.atMs > now - KEY_MS ? taken.deliveryId : undefined;
    }
    return undefined;
  }
}

function hasKeysBefore(turn: TurnReading, period: number): boolean {
  const { partition, id } = turn.self;
  const [first] = deliveryKeys.entries(turn, partition, [id], { limit: 1 });
  return first !== undefined && Number(first.key.at(-2)) < period;
}

/** Stores a key of the actor's integration that is accepted in this turn. */
export function recordKey(turn: Turn, key: string, deliveryId: string): void {
  const { self, now } = turn;
  const taken: TakenKey = { deliveryId, atMs: now };
  deliveryKeys.put(turn, self.partition, [self.id, toPeriod(now), key], taken);
}

/**
 * Removes the key of a failed delivery, together with the delivery. The intake then accepts a repeat of this delivery.
 * Does nothing for other states.
 */
export function forgetFailed(turn: Turn, { id, integrationId, key, state, receivedAt }: DeliveryRow): void {
  if (key === null || state !== "failed") return;
  const place = [integrationId, toPeriod(Date.parse(receivedAt)), key] as const;
  const taken = deliveryKeys.get(turn, turn.self.partition, ...place);
  if (taken?.deliveryId === id) deliveryKeys.remove(turn, turn.self.partition, ...place);
}

/** Removes at most `limit` expired keys of an integration. Returns the number of removed keys. */
export function removeOldKeys(turn: Turn, integrationId: string, limit: number): number {
  const before = [integrationId, toPeriod(turn.now) - 1];
  const { partition } = turn.self;
  const prefix = deliveryKeys.key(partition, integrationId);
  const old = listKeys(turn, { prefix, before: deliveryKeys.key(partition, ...before), limit });
  for (const key of old) turn.remove(key);
  return old.length;
}

function toPeriod(ms: number): number {
  return Math.floor(ms / KEY_MS);
}
