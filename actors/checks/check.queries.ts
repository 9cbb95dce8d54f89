import type { Reading } from "../../storage/store.js";
import type { VisibleTeam } from "../access/team.queries.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findTeam } from "../replays/replay-set.queries.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import type { ReplayCheckRow } from "./check.js";
import { replayChecks } from "./check.table.js";

/** A check that a caller may read. */
export interface VisibleCheck extends VisibleTeam {
  readonly check: ReplayCheckRow;
}

/** The check; refused `not-found` unless the caller reads the team's outcomes and the check is the team's. */
export function findReplayCheck(
  reading: Reading,
  caller: Caller,
  { teamId, checkId }: { readonly teamId: string; readonly checkId: string },
): VisibleCheck | Refusal {
  const team = findTeam(reading, caller, teamId, "read");
  if (isRefusal(team)) return team;
  const check = findStoredCheck(reading, team.workspaceId, checkId);
  if (check?.teamId === teamId) return { ...team, check };
  return { refused: "not-found", detail: `Replay check ${checkId} not found.` };
}

/** A check by its id, for who may read it already; undefined when it is gone. */
export function findStoredCheck(reading: Reading, workspaceId: string, checkId: string): ReplayCheckRow | undefined {
  return replayChecks.get(reading, workspaceId, checkId);
}

/** Reads a slice of checks, newest first. */
type ReadChecks = (reading: Reading, cursor: Cursor<ReplayCheckRow> | null) => Slice<ReplayCheckRow>;

/** The checks over a set; with `before` those older than that one, none where it is of another set. */
export function checksOfSet(
  { workspaceId, setId }: { readonly workspaceId: string; readonly setId: string },
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): ReadChecks {
  return (reading, cursor) => {
    if (before !== undefined && findStoredCheck(reading, workspaceId, before)?.setId !== setId) {
      return { rows: [], next: null };
    }
    const page = { limit, before: before === undefined ? undefined : [before] };
    return replayChecks.page(reading, workspaceId, { setId }, { ...page, cursor });
  };
}
