import type { Turn, TurnReading } from "../../runtime/turn.js";
import { listKeys } from "../../storage/list-keys.js";
import { table } from "../../storage/table.js";
import type { DeliveryRow } from "./delivery.js";

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
  /** The period of the turn, once none is stored of those before it; null as long as some are. */
  readonly from: number | null;
  readonly #turn: TurnReading;
  /** The periods that may have some. */
  readonly #periods: readonly number[];

  /**
   * `knownFrom` is what an earlier turn found out: keys are stored under their own period, so it stays true. Where keys
   * `wait` that are stored later, those may be of the period before.
   */
  constructor(turn: TurnReading, knownFrom: number | null, { wait }: { readonly wait: boolean }) {
    const period = toPeriod(turn.now);
    this.#turn = turn;
    this.from = knownFrom === period || !(wait || hasKeysBefore(turn, period)) ? period : null;
    this.#periods = this.from === null ? [period, period - 1] : [period];
  }

  /** The last delivery that was taken under this key; undefined for none. */
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

/** Remembers a key of the actor's integration, that was taken at `atMs`. */
export function recordKey(turn: Turn, key: string, deliveryId: string, atMs: number): void {
  const taken: TakenKey = { deliveryId, atMs };
  deliveryKeys.put(turn, turn.self.partition, [turn.self.id, toPeriod(atMs), key], taken);
}

/** Forgets the key of a delivery that failed and goes: it is taken when it comes again. */
export function forgetFailed(turn: Turn, { id, integrationId, key, state, receivedAt }: DeliveryRow): void {
  if (key === null || state !== "failed") return;
  const place = [integrationId, toPeriod(Date.parse(receivedAt)), key] as const;
  const taken = deliveryKeys.get(turn, turn.self.partition, ...place);
  if (taken?.deliveryId === id) deliveryKeys.remove(turn, turn.self.partition, ...place);
}

/** Removes keys of an integration that are not remembered any more, at most `limit`; how many. */
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
