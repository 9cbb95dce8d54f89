import { effectSpace } from "../storage/keys.js";
import type { Entry, Key } from "../storage/store.js";
import { type Address, address } from "./address.js";
import { type CellRecord, cellName } from "./cell-record.js";
import type { RunAbort } from "./run-signal.js";
import type { EffectRequest } from "./turn.js";

/** What the row of a pending effect holds; its key holds the actor that started it, and its id. */
export interface EffectRow {
  readonly name: string;
  readonly input: unknown;
  /** All else that is stored of the actor, where it began with this effect and waits for nothing but its end. */
  readonly actor?: CellRecord;
}

/** An effect whose result was not taken yet. */
export class PendingEffect {
  cancelled = false;
  /** Aborts the run under way. */
  abort: RunAbort | null = null;

  constructor(
    readonly owner: Address,
    /** The owner's `cellName`. */
    readonly ownerName: string,
    readonly name: string,
    readonly id: string,
    /** The input while it is held in memory; `undefined` once it has to be read back. */
    public input: { readonly value: unknown; readonly memo: unknown } | undefined,
  ) {}
}

/** What the keys of an actor's pending effects begin with. */
export function effectsPrefix(owner: Address): Key {
  return [owner.partition, effectSpace, owner.kind, owner.id];
}

/** The key of a pending effect's row. */
export function effectKey(owner: Address, id: string): Key {
  return [owner.partition, effectSpace, owner.kind, owner.id, id];
}

/** The pending effect that a row stands for; its input is left on disk. */
export function toPendingEffect({ key, value }: Entry<EffectRow>): PendingEffect {
  const [partition, , kind, ownerId, id] = key.map(String);
  const owner = address(partition ?? "", kind ?? "", ownerId ?? "");
  return new PendingEffect(owner, cellName(owner), value.name, id ?? "", undefined);
}

/** The pending effect that a request of an actor makes. */
export function createPendingEffect(
  owner: { readonly to: Address; readonly name: string },
  request: EffectRequest,
): PendingEffect {
  const { name, id, input, memo } = request;
  return new PendingEffect(owner.to, owner.name, name, id, { value: input, memo });
}
