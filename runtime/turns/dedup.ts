import { checkKey } from "../../storage/key-check.js";
import { dedupSpace, GLOBAL_PARTITION } from "../../storage/keys.js";
import { listKeys } from "../../storage/list-keys.js";
import type { Key, Writing } from "../../storage/store.js";
import type { Address } from "../cells/address.js";

/** Time to remember a message id, in milliseconds. */
export const DEDUP_WINDOW_MS = 24 * 60 * 60 * 1000;
/** Maximum number of expired ids to remove in one sweep. */
const SWEEP_SLICE = 128;
/** Pause after a sweep that found fewer than a slice, in milliseconds. */
const SWEEP_EVERY_MS = 60_000;

/** Remembers the ids of messages that an actor has taken. Each id has a row for lookup and a row ordered by expiry. */
export class Deduplication {
  readonly #writing: Writing;
  #nextSweepMs = 0;

  constructor(writing: Writing) {
    this.#writing = writing;
  }

  has(by: Address, messageId: string): boolean {
    return this.#writing.get(dedupKey(by, messageId)) !== undefined;
  }

  record(by: Address, messageId: string, nowMs: number): void {
    this.#writing.put(dedupKey(by, messageId), nowMs);
    this.#writing.put(expiryKey(by, messageId, nowMs + DEDUP_WINDOW_MS), null);
  }

  /** If a sweep is due, removes up to {@link SWEEP_SLICE} ids that are older than {@link DEDUP_WINDOW_MS}. */
  sweep(nowMs: number): void {
    // If the clock was ahead and went back, `#nextSweepMs` may be far in the future. Sweep then as well.
    if (nowMs < this.#nextSweepMs && this.#nextSweepMs - nowMs <= SWEEP_EVERY_MS) return;
    const prefix = [GLOBAL_PARTITION, dedupSpace];
    const keys = listKeys(this.#writing, { prefix, before: [...prefix, nowMs], limit: SWEEP_SLICE });
    for (const key of keys) {
      const [, , , partition, kind, id, messageId] = key;
      this.#writing.remove(key);
      const by = { partition: String(partition), kind: String(kind), id: String(id) };
      this.#writing.remove(dedupKey(by, String(messageId)));
    }
    if (keys.length < SWEEP_SLICE) this.#nextSweepMs = nowMs + SWEEP_EVERY_MS;
  }
}

/** Throws if the message id cannot be part of a key. */
export function checkMessageId(by: Address, messageId: string): void {
  checkKey(expiryKey(by, messageId, 0));
}

function dedupKey(by: Address, messageId: string): Key {
  return [by.partition, dedupSpace, by.kind, by.id, messageId];
}

function expiryKey(by: Address, messageId: string, expiresMs: number): Key {
  return [GLOBAL_PARTITION, dedupSpace, expiresMs, by.partition, by.kind, by.id, messageId];
}
