import { begunSpace, effectSpace } from "../storage/keys.js";
import type { Entry, Key } from "../storage/store.js";
import { type Address, address } from "./address.js";
import { type CellRecord, cellName } from "./cell-record.js";
import type { RunAbort } from "./run-signal.js";
import type { EffectRequest } from "./turn.js";

/** The row of a pending effect; its key has the actor that started it, and its id. */
export interface EffectRow {
  readonly name: string;
  readonly input: unknown;
  /** When the effect was started, in milliseconds; absent in rows of earlier releases. */
  readonly atMs?: number;
  /** A mark under `begunKey` says whether it may have begun; absent where nothing does. */
  readonly marks?: true;
  /** The actor's record, when the actor began with this effect and waits for nothing else; see `Cell`. */
  readonly actor?: CellRecord;
}

/** An effect whose result the actor has not taken yet. */
export class PendingEffect {
  cancelled = false;
  /** Whether an earlier process may have begun it. */
  mayHaveBegun = false;
  /** The store has, or will have with the open batch, a mark that the effect may have begun. */
  isMarked = false;
  /** Aborts the run; null until there is one. */
  abort: RunAbort | null = null;

  constructor(
    readonly owner: Address,
    /** The owner's `cellName`. */
    readonly ownerName: string,
    readonly name: string,
    readonly id: string,
    /** The input while it is in memory; undefined when it has to be read from disk. */
    public input: { readonly value: unknown; readonly memo: unknown } | undefined,
    /** When it was started; for a row without a time, when this process found it. */
    readonly sinceMs: number,
  ) {}
}

/** Prefix of the keys of an actor's pending effects. */
export function effectsPrefix(owner: Address): Key {
  return [owner.partition, effectSpace, owner.kind, owner.id];
}

/** The key of a pending effect's row. */
export function effectKey(owner: Address, id: string): Key {
  return [owner.partition, effectSpace, owner.kind, owner.id, id];
}

/** The key of the mark that a pending effect may have begun. */
export function begunKey(owner: Address, id: string): Key {
  return [owner.partition, begunSpace, owner.kind, owner.id, id];
}

/** The pending effect of a row; its input stays on disk. */
export function toPendingEffect({ key, value }: Entry<EffectRow>, nowMs: number): PendingEffect {
  const [partition, , kind, ownerId, id] = key.map(String);
  const owner = address(partition ?? "", kind ?? "", ownerId ?? "");
  return new PendingEffect(owner, cellName(owner), value.name, id ?? "", undefined, value.atMs ?? nowMs);
}

/** The pending effect for an actor's request. */
export function createPendingEffect(
  owner: { readonly to: Address; readonly name: string },
  request: EffectRequest,
  nowMs: number,
): PendingEffect {
  const { name, id, input, memo } = request;
  return new PendingEffect(owner.to, owner.name, name, id, { value: input, memo }, nowMs);
}

/** Tells a pending effect apart from all others. */
export function pendingName({ ownerName, id }: Pick<PendingEffect, "ownerName" | "id">): string {
  return `${ownerName}\0${id}`;
}
