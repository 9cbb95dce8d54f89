import { actorSpace } from "../storage/keys.js";
import type { Key } from "../storage/store.js";
import type { Address } from "./address.js";

/** What is stored of an actor. Fields that say nothing are left out. */
export interface CellRecord {
  readonly version: number;
  /** The machine's state; absent while only a rest is stored. */
  readonly state?: { readonly value: unknown; readonly context: unknown };
  /** Due time in milliseconds by name. */
  readonly timers?: Readonly<Record<string, number>>;
  /** Ids of pending effects, but for the one in whose row this lies. */
  readonly effects?: readonly string[];
  /** The actor crashed too often and takes nothing before this time. */
  readonly restingUntilMs?: number;
}

/** The key of an actor's record. */
export function cellKey(of: Address): Key {
  return [of.partition, actorSpace, of.kind, of.id];
}

/** The text a cell is found by in memory; unlike the readable form it is different for every address. */
export function cellName(of: Address): string {
  return `${of.partition}\0${of.kind}\0${of.id}`;
}
