import { effectSpace, startedSpace } from "../../storage/keys.js";
import type { Entry, Key } from "../../storage/store.js";
import { type Address, address } from "../cells/address.js";
import { type CellRecord, cellName } from "../cells/cell-record.js";
import type { Span } from "../tracing.js";
import type { EffectRequest } from "../turns/turn.js";
import type { RunAbort } from "./run-signal.js";

/** The row of a pending effect. Its key contains the owner's address and the effect's id. */
export interface EffectRow {
  readonly name: string;
  readonly input: unknown;
  /** When the effect was started, in milliseconds since the epoch; absent in rows from earlier releases. */
  readonly atMs?: number;
  /**
   * Set if runs of the effect begin only after its mark under `startedKey` is on disk. Absent for effects without
   * marks.
   */
  readonly marks?: true;
  /** The actor's record, if the actor started with this effect and waits for nothing else; see `Cell`. */
  readonly actor?: CellRecord;
}

/** An effect whose result the actor has not yet taken. */
export class PendingEffect {
  cancelled = false;
  /** Whether an earlier process may have begun the effect. */
  mayHaveBegun = false;
  /**
   * Whether the effect's mark (`begin-marks.ts`) is in the store, or will be there after the flush of the open batch.
   */
  isMarked = false;
  /** Aborts the run; null until a run exists. */
  abort: RunAbort | null = null;
  /** The span of the turn that started the effect, and later that of its run; null without a trace. */
  span: Span | null = null;

  constructor(
    readonly owner: Address,
    /** The owner's `cellName`. */
    readonly ownerName: string,
    readonly name: string,
    readonly id: string,
    /** The input while it is in memory; undefined if it must be read from disk. */
    public input: { readonly value: unknown; readonly memo: unknown } | undefined,
    /** When the effect was started. If its row has no time, this is the time when the current process found the row. */
    readonly sinceMs: number,
  ) {}
}

/** Returns the key prefix of an actor's pending effects. */
export function effectsPrefix(owner: Address): Key {
  return [owner.partition, effectSpace, owner.kind, owner.id];
}

/** Returns the key of a pending effect's row. */
export function effectKey(owner: Address, id: string): Key {
  return [owner.partition, effectSpace, owner.kind, owner.id, id];
}

/** Returns the key of a pending effect's mark (`begin-marks.ts`). */
export function startedKey(owner: Address, id: string): Key {
  return [owner.partition, startedSpace, owner.kind, owner.id, id];
}

/** Converts a row to a pending effect. The effect's input stays on disk. */
export function toPendingEffect({ key, value }: Entry<EffectRow>, nowMs: number): PendingEffect {
  const [partition, , kind, ownerId, id] = key.map(String);
  const owner = address(partition ?? "", kind ?? "", ownerId ?? "");
  return new PendingEffect(owner, cellName(owner), value.name, id ?? "", undefined, value.atMs ?? nowMs);
}

/** Creates the pending effect for an actor's request. */
export function createPendingEffect(
  owner: { readonly to: Address; readonly name: string },
  request: EffectRequest,
  nowMs: number,
): PendingEffect {
  const { name, id, input, memo } = request;
  return new PendingEffect(owner.to, owner.name, name, id, { value: input, memo }, nowMs);
}

/** Returns a unique name of a pending effect. */
export function pendingName({ ownerName, id }: Pick<PendingEffect, "ownerName" | "id">): string {
  return `${ownerName}\0${id}`;
}
