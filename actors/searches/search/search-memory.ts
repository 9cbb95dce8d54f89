import type { Reading } from "../../../storage/store.js";
import { replays } from "../../replays/replay/replay.table.js";
import { type CandidateSources, measureHeldOutRuns, measureSearchedRuns } from "../candidates/measure-candidate.js";
import type { CandidateFiguresNow } from "../reads/search-candidate.view.js";
import type { HeldOutFigures, SearchedFigures } from "../rules/candidate-figures.js";
import type { SearchCandidateRow } from "./search.js";

/** Maximum size of the cached figures, in characters. The figures of a candidate with 50 tasks take about 5,000. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * A cache for the figures of candidates whose replays are running, which makes repeated reads cheap. Once replays end,
 * their figures are stored with the candidate.
 *
 * 1. A copy's known result never changes. The cache key of a replay's figures is its id with its counts, which change
 *    in the same turn as the copy. The key of a comparison includes the other replay's id and counts.
 * 2. The total length of the figures' JSON is limited. When full, the cache evicts the least recently used entry.
 */
export class SearchMemory {
  readonly #searched = new Remembered<SearchedFigures>(MAX_CHARACTERS / 2);
  readonly #heldOut = new Remembered<HeldOutFigures>(MAX_CHARACTERS / 2);

  /** Returns the current figures of a candidate: the stored figures, or else the figures of its running replays. */
  figuresOf(
    reading: Reading,
    workspaceId: string,
    { candidate: row, ...sources }: CandidateSources & { readonly candidate: SearchCandidateRow },
  ): CandidateFiguresNow {
    const of = { ...sources, candidate: row };
    const keyOf = (replayId: string | null) =>
      toKey(reading, workspaceId, { replayId, seedReplayId: sources.seed.replayId });
    const heldOutReplayId = row.seed ? row.replayId : row.heldOutReplayId;
    return {
      row,
      searched:
        row.searched ?? this.#searched.find(keyOf(row.replayId), () => measureSearchedRuns(reading, workspaceId, of)),
      heldOut:
        row.heldOut ?? this.#heldOut.find(keyOf(heldOutReplayId), () => measureHeldOutRuns(reading, workspaceId, of)),
    };
  }
}

/** Returns the cache key for a replay's figures and its comparison with the seed; null without a replay. */
function toKey(
  reading: Reading,
  workspaceId: string,
  { replayId, seedReplayId }: { readonly replayId: string | null; readonly seedReplayId: string | null },
): string | null {
  const parts = [replayId, seedReplayId].map((id) => {
    const replay = id === null ? undefined : replays.get(reading, workspaceId, id);
    if (replay === undefined) return null;
    const { settled, succeeded, failed, unscored } = replay.counts;
    return [id, replay.state, settled, succeeded, failed, unscored, replay.spending.spent, replay.spending.unpriced];
  });
  return parts[0] === null ? null : JSON.stringify(parts);
}

/** An LRU cache of values by key. */
class Remembered<Value extends object> {
  readonly #maxCharacters: number;
  readonly #values = new Map<string, { readonly value: Value; readonly characters: number }>();
  #characters = 0;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** Returns the cached value, or caches and returns the result of `make`; null without a key. */
  find(key: string | null, make: () => Value | null): Value | null {
    if (key === null) return null;
    const known = this.#values.get(key);
    if (known !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, known);
      return known.value;
    }
    const value = make();
    if (value !== null) this.#keep(key, value);
    return value;
  }

  #keep(key: string, value: Value): void {
    const characters = key.length + JSON.stringify(value).length;
    this.#values.set(key, { value, characters });
    this.#characters += characters;
    for (const [oldest, { characters: freed }] of this.#values) {
      if (this.#characters <= this.#maxCharacters) return;
      this.#values.delete(oldest);
      this.#characters -= freed;
    }
  }
}
