import type { TurnReading } from "../../../runtime/turns/turn.js";
import type { Caller } from "../../caller.js";
import type { WriteScope } from "../../resources/kind.js";
import { getTeamKey } from "../../resources/resource-indexes.table.js";
import type { ReplaySetRow } from "../sets/replay-set.js";

/**
 * Returns the scope for validating a station block (`candidate-rules.ts`) when only a replay uses the block and nothing
 * is written.
 */
export function toBlockScope(
  turn: TurnReading,
  { teamId, lineId, stationKey }: Pick<ReplaySetRow, "teamId" | "lineId" | "stationKey">,
  caller: Caller,
): WriteScope<unknown> {
  const workspaceId = turn.self.partition;
  return {
    reading: turn,
    workspaceId,
    teamId,
    teamKey: getTeamKey(turn, workspaceId, teamId),
    previous: null,
    station: { lineId, stationKey },
    hidden: {},
    caller,
    now: turn.now,
    newId: () => {
      throw new Error("a check of a block makes nothing");
    },
  };
}
