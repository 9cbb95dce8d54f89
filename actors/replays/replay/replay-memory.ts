import { createRecentEntries } from "../../../runtime/recent-entries.js";
import type { Reading } from "../../../storage/store.js";
import type { Copy } from "../../statistics/copy.js";
import { type SuccessTotals, successTotals } from "../../statistics/success.js";
import { listCopies } from "../copies/replay-copy.table.js";
import { compareSides, type Versus } from "../figures/versus.js";
import type { ReplayRow } from "./replay.js";

/** Maximum number of replays whose copies are cached. The copies of one replay take about 30 KB. */
const MAX_REPLAYS = 200;
const MAX_COMPARISONS = 2_000;

/**
 * A cache of replay figures, which makes repeated reads cheap.
 *
 * 1. A copy's known result never changes, so the counts of results identify which results are known. The cache key of a
 *    replay is its id with its counts, which change in the same turn as the copy.
 * 2. A replay is cached only once it has all of its copies.
 * 3. The size is limited. When full, the cache evicts the least recently used entry.
 */
export class ReplayMemory {
  readonly #copies = createRecentEntries<readonly Copy[]>(MAX_REPLAYS);
  readonly #totals = createRecentEntries<SuccessTotals>(MAX_COMPARISONS);
  readonly #versus = createRecentEntries<Versus>(MAX_COMPARISONS);

  /** Returns the results of a replay's copies, by place and then repeat. */
  listCopies(reading: Reading, workspaceId: string, replay: ReplayRow): readonly Copy[] {
    return this.#copies.get(toKey(replay)) ?? this.learn(replay, listCopies(reading, workspaceId, replay.id));
  }

  /** Like {@link listCopies}, for a caller that has already read the rows of all of the replay's copies. */
  learn(replay: ReplayRow, rows: readonly Copy[]): readonly Copy[] {
    const known = this.#copies.get(toKey(replay));
    if (known !== undefined) return known;
    const copies = toCopies(rows);
    if (copies.length === replay.runs * replay.repeats) this.#copies.set(toKey(replay), copies);
    return copies;
  }

  /** Returns the success totals of a replay's copies. */
  getTotals(reading: Reading, workspaceId: string, replay: ReplayRow): SuccessTotals {
    const known = this.#totals.get(toKey(replay));
    if (known !== undefined) return known;
    const totals = successTotals(this.listCopies(reading, workspaceId, replay));
    if (totals.entries === replay.runs * replay.repeats) this.#totals.set(toKey(replay), totals);
    return totals;
  }

  /** Compares `own` with `other`. The random variation of success is measured from the replays in `live`. */
  versus(reading: Reading, workspaceId: string, { own, other, live, minGain }: Compared): Versus {
    const key = [toKey(own), toKey(other), minGain, ...live.map(toKey)].join(" ");
    const known = this.#versus.get(key);
    if (known !== undefined) return known;
    const toSide = (replay: ReplayRow) => ({ ...replay, copies: this.listCopies(reading, workspaceId, replay) });
    const all = [own, other, ...live];
    const versus = compareSides(toSide(own), toSide(other), {
      minGain,
      live: live.flatMap((replay) => this.listCopies(reading, workspaceId, replay)),
    });
    const areWhole = all.every((replay) => this.#copies.get(toKey(replay)) !== undefined);
    if (areWhole) this.#versus.set(key, versus);
    return versus;
  }
}

/** Two replays to compare, and the live replays from which the random variation of success is measured. */
export interface Compared {
  readonly own: ReplayRow;
  readonly other: ReplayRow;
  readonly live: readonly ReplayRow[];
  readonly minGain: number;
}

function toKey({ id, counts: { settled, succeeded, failed, unscored } }: ReplayRow): string {
  return `${id}:${settled}:${succeeded}:${failed}:${unscored}`;
}

/** Keeps only the fields that success is computed from. Copies of one run share their strings, which saves memory. */
function toCopies(copies: readonly Copy[]): readonly Copy[] {
  const texts = new Map<string, string>();
  const shared = (text: string): string => {
    const known = texts.get(text) ?? text;
    texts.set(known, known);
    return known;
  };
  return copies.map(({ taskId, originalRunId, repeat, result }) => ({
    taskId: shared(taskId),
    originalRunId: shared(originalRunId),
    repeat,
    result,
  }));
}
