import type { Reading } from "../../storage/store.js";
import type { VisibleTeam } from "../access/members/team.queries.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findTeam } from "../replays/sets/replay-set.queries.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import type { ReplayCheckRow } from "./check.js";
import { replayChecks } from "./check.table.js";

/** A check that a caller may read. */
export interface VisibleCheck extends VisibleTeam {
  readonly check: ReplayCheckRow;
}

/**
 * Returns the check. Refuses with `not-found` if the check does not exist or belongs to another team, or if the caller
 * cannot read the team's outcomes.
 */
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

/** Returns a check by id without an access check, for callers that were already checked; undefined if it is gone. */
export function findStoredCheck(reading: Reading, workspaceId: string, checkId: string): ReplayCheckRow | undefined {
  return replayChecks.get(reading, workspaceId, checkId);
}

/** Reads a slice of checks, newest first. */
type ReadChecks = (reading: Reading, cursor: Cursor<ReplayCheckRow> | null) => Slice<ReplayCheckRow>;

/**
 * Returns a function that reads the checks of a set. If `before` is the id of a check, the function reads only older
 * checks. The function reads nothing if this check is gone or belongs to another set.
 */
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
