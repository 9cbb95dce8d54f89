import type { Reading } from "../../storage/store.js";
import { replays } from "../replays/replay.table.js";
import { type CandidateSources, measureHeldOutRuns, measureSearchedRuns } from "./measure-candidate.js";
import type { HeldOutFigures, SearchedFigures } from "./rules/candidate-figures.js";
import type { SearchCandidateRow } from "./search.js";
import type { CandidateFiguresNow } from "./search-candidate.view.js";

/** Characters of figures that are remembered: those of a candidate of 50 tasks take about 5,000. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * Figures of candidates whose replays are under way, remembered by what they are computed from, so that to read them
 * again costs next to nothing. Those of replays that ended are stored with the candidate.
 *
 * 1. A copy's result never changes once it is known: figures of a replay are remembered under its id and its counts,
 *    which change in the turn that changes the copy, and so are those beside another replay under its counts too.
 * 2. It is bounded by the length of their JSON: what was asked for least recently is forgotten.
 */
export class SearchMemory {
  readonly #searched = new Remembered<SearchedFigures>(MAX_CHARACTERS / 2);
  readonly #heldOut = new Remembered<HeldOutFigures>(MAX_CHARACTERS / 2);

  /** The figures of a candidate as they are now: stored ones, else those of its replays as they stand. */
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

/** What figures of a replay beside the seed's are computed from; null when there is none. */
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

/** Values by key; the one that was asked for least recently goes first. */
class Remembered<Value extends object> {
  readonly #maxCharacters: number;
  readonly #values = new Map<string, { readonly value: Value; readonly characters: number }>();
  #characters = 0;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** What is remembered, else what `make` makes, which is remembered; null without a key. */
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
