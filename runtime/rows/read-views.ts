import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import { rowSpace } from "../../storage/keys.js";
import type { Change, Key, Reading } from "../../storage/store.js";
import type { Overlay } from "../turns/overlay.js";
import type { ReadView } from "./read-view.js";

/** Maximum number of cached partitions per view. Beyond it, the partition that was read least recently is dropped. */
const MAX_CACHED_PARTITIONS = 64;

/** The cached view of one partition. */
interface CachedView {
  readonly value: unknown;
  /**
   * The number of the latest batch that a read applied to this view before the commit was confirmed; 0 if there is
   * none.
   */
  batch: number;
}

/** The batch being committed, and a number that identifies it. */
interface Committing {
  readonly number: number;
  readonly changes: Overlay;
}

/**
 * The cached read views of durable state (see {@link ReadView}). The code that commits batches must call {@link
 * committing} and {@link flushed}.
 *
 * 1. A cached view equals the result of `build` for the rows that are durable now. A batch may be durable before its
 *   commit resolves. The next read detects this: it compares the batch's rows with the store, and applies the batch.
 * 2. The number of cached views is limited. A partition is cached only after it was read.
 */
export class ReadViews {
  readonly #durable: Reading;
  /** Cached views by kind and partition. */
  readonly #cached = new Map<ReadView<unknown>, LRUCache<string, CachedView>>();
  #committing: Committing | null = null;
  #batches = 0;

  constructor(durable: Reading) {
    this.#durable = durable;
  }

  get<View>(view: ReadView<View>, partition: string): View {
    const partitions = this.#cached.get(view) ?? new LRUCache({ max: MAX_CACHED_PARTITIONS });
    this.#cached.set(view, partitions);
    const known = partitions.get(partition);
    partitions.delete(partition);
    const isKnown = known !== undefined && this.#catchUp(view, partition, known);
    const cached = isKnown ? known : { value: view.build(this.#durable, partition), batch: 0 };
    partitions.set(partition, cached);
    return cached.value as View;
  }

  /** Notes that the commit of a batch begins, so that reads check whether the batch is already durable. */
  committing(changes: Overlay): void {
    this.#batches += 1;
    this.#committing = { number: this.#batches, changes };
  }

  /**
   * Ends the checks that {@link committing} began. Call this when that batch is durable, before {@link applied} with
   * its changes.
   */
  flushed(): void {
    this.#committing = null;
  }

  /** Applies durable changes to the cached views. Drops views that cannot apply them. */
  applied(changes: readonly Change[]): void {
    for (const [view, partitions] of this.#cached) {
      if (partitions.size === 0) continue;
      for (const change of changes) {
        const partition = String(change.key[0]);
        const cached = partitions.peek(partition);
        if (cached === undefined || !isBuiltFrom(view, change.key)) continue;
        if (!applyChange(view, cached, change)) partitions.delete(partition);
      }
    }
  }

  /** Applies the batch being committed if it is already durable. Returns false if the view must be rebuilt. */
  #catchUp(view: ReadView<unknown>, partition: string, cached: CachedView): boolean {
    if (this.#committing === null || cached.batch === this.#committing.number) return true;
    const changes = listChanges(this.#committing.changes, view, partition);
    // A batch is durable as a whole or not at all. If one row differs from the batch, no row of it is durable.
    if (!changes.every((change) => isAsWritten(this.#durable, change))) return true;
    cached.batch = this.#committing.number;
    return changes.every((change) => applyChange(view, cached, change));
  }
}

/** Whether the durable row equals the change's result. Throws if the row cannot be read. */
export function isAsWritten(durable: Reading, change: Change): boolean {
  return isDeepStrictEqual(durable.get(change.key), change.op === "put" ? change.value : undefined);
}

function listChanges(batch: Overlay, view: ReadView<unknown>, partition: string): Change[] {
  const changes: Change[] = [];
  for (const [table] of view.rows) {
    for (const group of batch.groupsBelow([partition, rowSpace, table])) changes.push(...group.values());
  }
  return changes.filter(({ key }) => isBuiltFrom(view, key));
}

function isBuiltFrom({ rows }: ReadView<unknown>, key: Key): boolean {
  return key[1] === rowSpace && rows.some((row) => row.every((part, index) => key[index + 2] === part));
}

/**
 * Applies a change. Returns false if the view cannot apply it, or throws. The next read then rebuilds the view; if that
 * fails too, the read reports the error.
 */
function applyChange(view: ReadView<unknown>, { value }: CachedView, change: Change): boolean {
  try {
    return view.apply(value, change);
  } catch {
    return false;
  }
}
