import type { Turn } from "../../runtime/turn.js";
import type { JudgingSetup } from "../lines/fingerprint.js";
import type { ReplayRow } from "./replay.js";
import type { ReplayPlan } from "./replay-plan.js";
import type { StartingPoint } from "./starting-point.js";
import { toJudgeModel } from "./station-config.js";

/** How often a replay of the live config repeats each run, and what it may spend. */
interface LiveTerms extends Pick<ReplayRow, "repeats" | "ceiling"> {
  /** Whether it checks the set; by default it does not, as none of a check or a search does. */
  readonly probe?: boolean;
  /** The search that it is the seed of; by default none. */
  readonly search?: ReplayRow["search"];
  /** Most copies that run at once; by default no limit of its own. */
  readonly concurrency?: number | null;
  /** Whether a replay with the answer may follow; by default it may. */
  readonly oracle?: boolean;
}

/** The plan of a replay of the live config over a whole set, which becomes the set's baseline. Has at least one entry. */
export function planLive(
  turn: Turn,
  { fingerprints, ...start }: StartingPoint,
  judging: JudgingSetup,
  { repeats, ceiling, probe = false, search = null, concurrency = null, oracle = true }: LiveTerms,
): ReplayPlan {
  const { live, set, line, station: block, entries } = start;
  return {
    ...{ set, line, block, config: live, live, fingerprints, entries, concurrency },
    judgeModel: toJudgeModel(live, judging),
    candidate: { id: turn.newId("cand"), name: "Live config", kind: "live" },
    ...{ repeats, ceiling, probe, pairedWith: null, startedBaseline: "itself", answers: null, search, oracle },
  };
}
