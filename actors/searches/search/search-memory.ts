import { LRUCache } from "lru-cache";
import type { Reading } from "../../../storage/store.js";
import { replays } from "../../replays/replay/replay.table.js";
import { type CandidateSources, measureHeldOutRuns, measureSearchedRuns } from "../candidates/measure-candidate.js";
import type { CandidateFiguresNow } from "../reads/search-candidate.view.js";
import type { HeldOutFigures, SearchedFigures } from "../rules/candidate-figures.js";
import type { SearchCandidateRow } from "./search.js";

/**
 * Maximum size of the cached figures, in characters. The figures of a candidate with 50 tasks take about 5,000
 * characters.
 */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/**
 * A cache for the figures of candidates whose replays are running, which makes repeated reads cheap. Once replays end,
 * their figures are stored with the candidate.
 *
 * 1. A copy's known result never changes. The cache key has the replay's id, state, counts and spending, which change
 * in the same turn as the copy. The key also has these values of the seed's replay, because the figures compare the
 * candidate with the seed.
 * 2. The total length of the figures' JSON is limited. When full, the cache evicts the least recently used entry.
 */
export class SearchMemory {
  readonly #searched = createMemory<SearchedFigures>();
  readonly #heldOut = createMemory<HeldOutFigures>();

  /** Returns the current figures of a candidate: the stored figures, or else the figures of its running replays. */
  getFigures(
    reading: Reading,
    workspaceId: string,
    { candidate: row, ...sources }: CandidateSources & { readonly candidate: SearchCandidateRow },
  ): CandidateFiguresNow {
    const of = { ...sources, candidate: row };
    const findKey = (replayId: string | null) =>
      toKey(reading, workspaceId, { replayId, seedReplayId: sources.seed.replayId });
    const heldOutReplayId = row.seed ? row.replayId : row.heldOutReplayId;
    return {
      row,
      searched:
        row.searched ??
        find(this.#searched, findKey(row.replayId), () => measureSearchedRuns(reading, workspaceId, of)),
      heldOut:
        row.heldOut ??
        find(this.#heldOut, findKey(heldOutReplayId), () => measureHeldOutRuns(reading, workspaceId, of)),
    };
  }
}

/** Returns the cache key for a replay's figures and its comparison with the seed; null if there is no replay. */
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

function createMemory<Figures extends object>(): LRUCache<string, Figures> {
  return new LRUCache({
    maxSize: MAX_CHARACTERS / 2,
    sizeCalculation: (figures, key) => key.length + JSON.stringify(figures).length,
  });
}

/** Returns the cached figures, or caches and returns the result of `measure`; null if the key is null. */
function find<Figures extends object>(
  memory: LRUCache<string, Figures>,
  key: string | null,
  measure: () => Figures | null,
): Figures | null {
  if (key === null) return null;
  const known = memory.get(key);
  if (known !== undefined) return known;
  const figures = measure();
  if (figures !== null) memory.set(key, figures);
  return figures;
}
