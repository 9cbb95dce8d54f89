import { toAmount } from "../../money.js";
import { countSpent } from "../budget/replay-ceiling.js";
import type { ReplayRow } from "../replay/replay.js";

/** A replay without its copies and figures, in the form that its stream publishes. */
export type ReplayRowView = ReturnType<typeof replayRowView>;

/** Shows a replay without its copies and figures. */
export function replayRowView(replay: ReplayRow) {
  const { id, setId, setVersion, lineId, stationId, stationKey, candidate, fingerprint, state, repeats } = replay;
  const { ceiling, createdAt, startedAt, endedAt, probe, pairedWith, search, counts, runs, waiting, judged } = replay;
  const spent = { amount: toAmount(countSpent(replay)), currency: ceiling.currency };
  return {
    id,
    setId,
    setVersion,
    lineId,
    stationId,
    stationKey,
    candidate,
    fingerprint,
    state,
    judged,
    repeats,
    ceiling,
    createdAt,
    startedAt,
    endedAt,
    probe,
    pairedWith,
    search,
    progress: { settled: counts.settled, of: runs * repeats, spent, ceiling, waiting: waiting?.for ?? null },
  };
}
