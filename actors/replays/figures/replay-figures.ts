import type { Reading } from "../../../storage/store.js";
import type { JudgingSetup } from "../../lines/fingerprint.js";
import { DEFAULT_MIN_GAIN } from "../../lines/line.js";
import type { SuccessTotals } from "../../statistics/success.js";
import { findLiveFingerprints } from "../candidates/station-config.js";
import type { ReplayRow } from "../replay/replay.js";
import { replays } from "../replay/replay.table.js";
import type { ReplayMemory } from "../replay/replay-memory.js";
import { findBaseline } from "../sets/baseline.js";
import type { ReplaySetRow } from "../sets/replay-set.js";
import { findStationNow } from "../sets/run-refusal.js";
import { findCounterpart, type Versus } from "./versus.js";

/**
 * Maximum number of live replays of one config from which the random variation of success is measured. The newest ones
 * are used.
 */
const MAX_LIVE = 10;

/** The properties of a set that its replays' figures depend on. */
export interface SetTerms {
  readonly workspaceId: string;
  readonly baselineId: string | null;
  readonly minGain: number;
}

/** Reads the current properties of a set. One read is enough for all replays of the set in a request. */
export function readSetTerms(
  reading: Reading,
  workspaceId: string,
  set: ReplaySetRow,
  judging: JudgingSetup,
): SetTerms {
  const { line } = findStationNow(reading, workspaceId, set);
  const live = findLiveFingerprints(reading, workspaceId, set, judging);
  const baseline = live === undefined ? undefined : findBaseline(reading, workspaceId, set, { live });
  return {
    workspaceId,
    baselineId: baseline?.id ?? null,
    minGain: line?.replayCheck?.minGain ?? DEFAULT_MIN_GAIN,
  };
}

/** The figures of a replay. */
export interface ReplayFigures {
  readonly replay: ReplayRow;
  readonly isBaseline: boolean;
  readonly totals: SuccessTotals;
  /** The replay to compare with, and the comparison with that replay. Both are null if there is no such replay. */
  readonly counterpart: ReplayRow | null;
  readonly versus: Versus | null;
}

/** Returns the replay to compare with; null if there is none. */
export function findOther(
  reading: Reading,
  { workspaceId, baselineId }: SetTerms,
  replay: ReplayRow,
): ReplayRow | null {
  const otherId = findCounterpart(replay, baselineId);
  return otherId === null ? null : (replays.get(reading, workspaceId, otherId) ?? null);
}

/** Computes the figures of a replay. Uses the results that `memory` has cached. */
export function readFigures(reading: Reading, terms: SetTerms, replay: ReplayRow, memory: ReplayMemory): ReplayFigures {
  const { workspaceId, baselineId, minGain } = terms;
  const totals = memory.getTotals(reading, workspaceId, replay);
  const isBaseline = replay.id === baselineId;
  const other = findOther(reading, terms, replay);
  if (other === null) return { replay, isBaseline, totals, counterpart: null, versus: null };
  const live = listLiveLike(reading, workspaceId, other);
  const versus = memory.versus(reading, workspaceId, { own: replay, other, live, minGain });
  return { replay, isBaseline, totals, counterpart: other, versus };
}

/** Lists the newest live replays with the same config as this replay, newest first. */
function listLiveLike(reading: Reading, workspaceId: string, replay: ReplayRow): readonly ReplayRow[] {
  const { setId, runningFingerprint, scoringFingerprint } = replay;
  const filter = { setId, runningFingerprint, scoringFingerprint };
  return replays.all(reading, workspaceId, filter, {
    limit: MAX_LIVE,
    fits: ({ candidate }) => candidate.kind === "live",
  });
}
