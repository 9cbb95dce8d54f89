import type { Reading } from "../../storage/store.js";
import type { VisibleTeam } from "../access/team.queries.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { type ReplayRow, replays } from "./replay.table.js";
import { findTeam, type Wish } from "./replay-set.queries.js";

/** A replay that a caller may read. */
export interface VisibleReplay extends VisibleTeam {
  readonly replay: ReplayRow;
}

/** The replay; refused `not-found` unless the caller reads the team's outcomes and the replay is the team's. */
export function findReplay(
  reading: Reading,
  caller: Caller,
  { wish, teamId, replayId }: { readonly wish: Wish; readonly teamId: string; readonly replayId: string },
): VisibleReplay | Refusal {
  const team = findTeam(reading, caller, teamId, wish);
  if (isRefusal(team)) return team;
  const replay = replays.get(reading, team.workspaceId, replayId);
  return replay?.teamId === teamId
    ? { ...team, replay }
    : { refused: "not-found", detail: `Replay ${replayId} not found.` };
}
