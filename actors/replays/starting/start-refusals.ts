import type { TurnReading } from "../../../runtime/turns/turn.js";
import type { Refusal } from "../../refusal.js";
import { listUnderWay } from "../replay/replay.table.js";
import type { ReplaySetRow } from "../sets/replay-set.js";
import { MAX_UNDER_WAY } from "./replay-plan.js";

/** The refusal for a set without runs. */
export const noRuns: Refusal = {
  refused: "invalid",
  errors: [{ path: "", message: "Replay must replay at least one run." }],
  hint: "Add ended runs of the station to the set's entries first; the station's replayable-runs lists them.",
};

/** Returns why another replay of the team cannot start now; null if it can start. */
export function refuseMore(turn: TurnReading, { teamId }: Pick<ReplaySetRow, "teamId">): Refusal | null {
  if (listUnderWay(turn, turn.self.partition, { teamId }).length < MAX_UNDER_WAY) return null;
  const detail = `${MAX_UNDER_WAY} replays of the team are under way. Stop one, or wait until one has ended.`;
  return { refused: "conflict", detail };
}
