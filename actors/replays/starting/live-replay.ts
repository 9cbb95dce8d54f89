import type { Turn } from "../../../runtime/turns/turn.js";
import type { JudgingSetup } from "../../lines/fingerprint.js";
import { toJudgeModel } from "../candidates/station-config.js";
import type { ReplayRow } from "../replay/replay.js";
import type { ReplayPlan } from "./replay-plan.js";
import type { StartingPoint } from "./starting-point.js";

/** The repeats and the ceiling of a replay of the live config. */
interface LiveTerms extends Pick<ReplayRow, "repeats" | "ceiling"> {
  /** Whether the replay checks the set; false by default, as for the replays of checks and searches. */
  readonly probe?: boolean;
  /** The search that uses the replay as its seed; none by default. */
  readonly search?: ReplayRow["search"];
  /** Maximum number of copies that run at once; by default the replay has no limit of its own. */
  readonly concurrency?: number | null;
  /** Whether a replay with the answer may follow; true by default. */
  readonly oracle?: boolean;
}

/**
 * Plans a replay of the live config over a whole set, which must have at least one entry. The replay becomes the set's
 * baseline.
 */
export function planLive(
  turn: Turn,
  { fingerprints, ...start }: StartingPoint,
  judging: JudgingSetup,
  { repeats, ceiling, probe = false, search = null, concurrency = null, oracle = true }: LiveTerms,
): ReplayPlan {
  const { live, set, line, station: block, entries } = start;
  return {
    set,
    line,
    block,
    config: live,
    live,
    fingerprints,
    entries,
    concurrency,
    judgeModel: toJudgeModel(live, judging),
    candidate: { id: turn.newId("cand"), name: "Live config", kind: "live" },
    repeats,
    ceiling,
    probe,
    pairedWith: null,
    startedBaseline: "itself",
    answers: null,
    search,
    oracle,
  };
}
