import type { Reading } from "../../../storage/store.js";
import type { VisibleTeam } from "../../access/members/team.queries.js";
import type { Caller } from "../../caller.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import type { RunRow } from "../../runs/run.js";
import { runs } from "../../runs/run.table.js";
import type { Cursor, Slice } from "../../tables/page-source.js";
import { findCopyOfRun, listCopies, replayCopies } from "../copies/replay-copy.table.js";
import { type ReplayRecheckRow, replayRechecks } from "../judging/replay-recheck.table.js";
import { findTeam, type VisibleSet, type Wish } from "../sets/replay-set.queries.js";
import { replaySets } from "../sets/replay-set.table.js";
import type { ReplayCopyRow, ReplayRow } from "./replay.js";
import { replays } from "./replay.table.js";

/** A replay that a caller may read, with its set. */
export interface VisibleReplay extends VisibleSet {
  readonly replay: ReplayRow;
}

/**
 * Returns the replay. Refuses with `not-found` if the caller cannot read the team's outcomes, or if the replay does not
 * exist or belongs to another team. If `wish` is not `read`, also refuses a caller who may not plan.
 */
export function findReplay(
  reading: Reading,
  caller: Caller,
  { wish, teamId, replayId }: { readonly wish: Wish; readonly teamId: string; readonly replayId: string },
): VisibleReplay | Refusal {
  const team = findTeam(reading, caller, teamId, wish);
  if (isRefusal(team)) return team;
  return findTeamReplay(reading, team, replayId) ?? { refused: "not-found", detail: `Replay ${replayId} not found.` };
}

/** A replay run with its copy. The run is an attempt of the copy, or its second check. */
export interface VisibleReplayRun extends VisibleReplay {
  readonly run: RunRow;
  readonly copy: ReplayCopyRow;
}

/**
 * Returns the run. Refuses with `not-found` if the caller cannot read the team's outcomes or the run belongs to no
 * replay of the team.
 */
export function findReplayRun(
  reading: Reading,
  caller: Caller,
  { teamId, runId }: { readonly teamId: string; readonly runId: string },
): VisibleReplayRun | Refusal {
  const team = findTeam(reading, caller, teamId, "read");
  if (isRefusal(team)) return team;
  const run = runs.get(reading, team.workspaceId, runId);
  const replay = run?.owner.kind === "replay" ? findTeamReplay(reading, team, run.owner.id) : undefined;
  const copy = replay === undefined ? undefined : findCopy(reading, replay, runId);
  if (run === undefined || replay === undefined || copy === undefined) {
    return { refused: "not-found" };
  }
  return { ...replay, run, copy };
}

/**
 * Finds the copy of a run; undefined if there is none. An index finds newest attempts; earlier attempts and second
 * checks require a scan of the replay.
 */
function findCopy(
  reading: Reading,
  { workspaceId, replay: { id: replayId } }: VisibleReplay,
  runId: string,
): ReplayCopyRow | undefined {
  const newest = findCopyOfRun(reading, workspaceId, { replayId, runId });
  if (newest !== undefined) return newest;
  const hasRun = (row: ReplayRecheckRow) => row.runId === runId || row.lostRunIds.includes(runId);
  const recheck = replayRechecks.list(reading, workspaceId, [replayId]).find(hasRun);
  if (recheck !== undefined) return replayCopies.get(reading, workspaceId, replayId, recheck.place, recheck.repeat);
  return listCopies(reading, workspaceId, replayId).find(({ lostRunIds }) => lostRunIds.includes(runId));
}

function findTeamReplay(reading: Reading, team: VisibleTeam, replayId: string): VisibleReplay | undefined {
  const replay = replays.get(reading, team.workspaceId, replayId);
  const set = replay === undefined ? undefined : replaySets.get(reading, team.workspaceId, replay.setId);
  return replay === undefined || set?.teamId !== team.teamId ? undefined : { ...team, replay, set };
}

/** Returns a replay by id without an access check, for callers that were already checked; undefined if it is gone. */
export function findStoredReplay(reading: Reading, workspaceId: string, replayId: string): ReplayRow | undefined {
  return replays.get(reading, workspaceId, replayId);
}

/** Reads a slice of replays, newest first. */
type ReadReplays = (reading: Reading, cursor: Cursor<ReplayRow> | null) => Slice<ReplayRow>;

/** Returns a function that reads the replays of a set. `before` is the id of a replay: only older replays are read. */
export function replaysOfSet(
  { workspaceId, setId }: { readonly workspaceId: string; readonly setId: string },
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): ReadReplays {
  const page = { limit, before: before === undefined ? undefined : [before] };
  return (reading, cursor) => replays.page(reading, workspaceId, { setId }, { ...page, cursor });
}
