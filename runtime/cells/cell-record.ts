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
  /** Ids of pending effects, except the one whose row contains this record. */
  readonly effects?: readonly string[];
  /** Set when the actor crashed too often: it takes no message before this time, in milliseconds since the epoch. */
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
