import type { Reading } from "../../storage/store.js";
import type { Copy } from "../statistics/copy.js";
import { type SuccessTotals, successTotals } from "../statistics/success.js";
import { compareSides, type Versus } from "./figures/versus.js";
import type { ReplayRow } from "./replay.js";
import { listCopies } from "./replay-copy.table.js";

/** Replays whose copies are remembered, and comparisons. The copies of one take about 30 KB. */
const MAX_REPLAYS = 200;
const MAX_COMPARISONS = 2_000;

/**
 * Figures of replays, remembered by what they are computed from, so that to read them again costs next to nothing.
 *
 * 1. A copy's result never changes once it is known, so that which results are known follows from their counts: figures
 *    of a replay are remembered under its id and its counts, which change in the turn that changes the copy.
 * 2. Nothing is remembered of a replay whose copies are not all there yet.
 * 3. It is bounded: beyond that, what was asked for least recently is forgotten.
 */
export class ReplayMemory {
  readonly #copies = new Remembered<readonly Copy[]>(MAX_REPLAYS);
  readonly #totals = new Remembered<SuccessTotals>(MAX_COMPARISONS);
  readonly #versus = new Remembered<Versus>(MAX_COMPARISONS);

  /** The results of a replay's copies, by place and then repeat. */
  copiesOf(reading: Reading, workspaceId: string, replay: ReplayRow): readonly Copy[] {
    return this.#copies.find(keyOf(replay)) ?? this.learn(replay, listCopies(reading, workspaceId, replay.id));
  }

  /** As {@link copiesOf}, from all rows of the replay's copies, which were read for something else. */
  learn(replay: ReplayRow, rows: readonly Copy[]): readonly Copy[] {
    const known = this.#copies.find(keyOf(replay));
    if (known !== undefined) return known;
    const copies = toCopies(rows);
    if (copies.length === replay.runs * replay.repeats) this.#copies.keep(keyOf(replay), copies);
    return copies;
  }

  totalsOf(reading: Reading, workspaceId: string, replay: ReplayRow): SuccessTotals {
    const known = this.#totals.find(keyOf(replay));
    if (known !== undefined) return known;
    const totals = successTotals(this.copiesOf(reading, workspaceId, replay));
    if (totals.entries === replay.runs * replay.repeats) this.#totals.keep(keyOf(replay), totals);
    return totals;
  }

  /** How `own` did beside `other`. `live` has the replays of the live config. */
  versus(reading: Reading, workspaceId: string, { own, other, live, minGain }: Compared): Versus {
    const key = [keyOf(own), keyOf(other), minGain, ...live.map(keyOf)].join(" ");
    const known = this.#versus.find(key);
    if (known !== undefined) return known;
    const sideOf = (replay: ReplayRow) => ({ ...replay, copies: this.copiesOf(reading, workspaceId, replay) });
    const all = [own, other, ...live];
    const versus = compareSides(sideOf(own), sideOf(other), {
      minGain,
      live: live.flatMap((replay) => this.copiesOf(reading, workspaceId, replay)),
    });
    const areWhole = all.every((replay) => this.#copies.find(keyOf(replay)) !== undefined);
    if (areWhole) this.#versus.keep(key, versus);
    return versus;
  }
}

/** Two replays beside each other, with those that say how much success moves by chance. */
export interface Compared {
  readonly own: ReplayRow;
  readonly other: ReplayRow;
  readonly live: readonly ReplayRow[];
  readonly minGain: number;
}

function keyOf({ id, counts: { settled, succeeded, failed, unscored } }: ReplayRow): string {
  return `${id}:${settled}:${succeeded}:${failed}:${unscored}`;
}

/** Only what success is computed from; copies of one run share their texts. */
function toCopies(copies: readonly Copy[]): readonly Copy[] {
  const texts = new Map<string, string>();
  const shared = (text: string): string => {
    const known = texts.get(text) ?? text;
    texts.set(known, known);
    return known;
  };
  return copies.map(({ taskId, originalRunId, repeat, result }) => ({
    ...{ taskId: shared(taskId), originalRunId: shared(originalRunId), repeat, result },
  }));
}

/** Values by key; the one that was asked for least recently goes first. */
class Remembered<Value> {
  readonly #max: number;
  readonly #values = new Map<string, Value>();

  constructor(max: number) {
    this.#max = max;
  }

  find(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  keep(key: string, value: Value): void {
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#max && oldest !== undefined) this.#values.delete(oldest);
  }
}
