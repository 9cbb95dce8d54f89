import { actorSpace } from "../../storage/keys.js";
import type { Key } from "../../storage/store.js";
import type { Address } from "./address.js";

/** The stored record of an actor. Empty fields are omitted. */
export interface CellRecord {
  readonly version: number;
  /** The machine's state; absent when the actor was suspended before its first successful turn. */
  readonly state?: { readonly value: unknown; readonly context: unknown };
  /** Wake-ups: due time in milliseconds since the epoch, by name. */
  readonly timers?: Readonly<Record<string, number>>;
  /** Ids of the actor's pending effects. If this record is stored in an effect's row, that effect is not listed. */
  readonly effects?: readonly string[];
  /**
   * When the actor's suspension ends, in milliseconds since the epoch. Set if the actor crashed too often; it then
   * takes no message before this time.
   */
  readonly restingUntilMs?: number;
}

/** Returns the store key of an actor's record. */
export function cellKey(of: Address): Key {
  return [of.partition, actorSpace, of.kind, of.id];
}

/** Returns the key of a cell in in-memory maps. Unlike `addressText`, it is unique for each address. */
export function cellName(of: Address): string {
  return `${of.partition}\0${of.kind}\0${of.id}`;
}
