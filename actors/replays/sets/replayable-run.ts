import type { Reading } from "../../../storage/store.js";
import { toOrigin } from "../../opener.js";
import { type RunFact, runFacts } from "../../run-facts/run-fact.table.js";
import { runOutcomes, type TaskOutcome } from "../../run-facts/run-outcome.table.js";
import type { RunRow } from "../../runs/run.js";
import { runs } from "../../runs/run.table.js";
import type { Cursor, Slice } from "../../tables/page-source.js";
import type { TaskRow } from "../../tasks/task.js";
import { tasks } from "../../tasks/task.table.js";
import { replayEntries } from "./replay-set.table.js";
import { findStationNow, refuseRun, type StationPlace } from "./run-refusal.js";

/** Maximum number of a station's runs to list or to choose from (see "Limits" in the replays document). */
const MAX_LISTED = 50;

/** An ended run with its task, as lists and sets show them. */
export interface PastRun {
  readonly run: RunRow;
  readonly task: TaskRow;
  /** `other` if unknown. */
  readonly outcome: TaskOutcome;
  /** Null if unknown. */
  readonly origin: string | null;
}

/** Returns a run with its task; undefined if either is no longer stored. */
export function findPastRun(reading: Reading, workspaceId: string, runId: string): PastRun | undefined {
  const run = runs.get(reading, workspaceId, runId);
  const task = run === undefined || run.taskId === null ? undefined : tasks.get(reading, workspaceId, run.taskId);
  if (run === undefined || task === undefined) return undefined;
  const outcome = runOutcomes.get(reading, workspaceId, runId)?.outcome ?? "other";
  return { run, task, outcome, origin: task.openedBy === null ? null : toOrigin(task.openedBy) };
}

/** A station of a team. */
export interface StationOfTeam extends StationPlace {
  readonly workspaceId: string;
  readonly teamId: string;
}

/** Reads a slice of runs, newest first. */
type ReadRuns = (reading: Reading, cursor: Cursor<RunFact> | null) => Slice<RunFact>;

/** Returns a function that reads the station's latest ended runs that are still stored. */
export function latestRuns(station: StationOfTeam): ReadRuns {
  return (reading, cursor) => listRuns(reading, station, { cursor, isWanted: () => true });
}

/**
 * Returns a function that reads the station's latest ended runs. Reads only runs that can be repeated and are not in
 * the set.
 */
export function candidatesFor(set: StationOfTeam & { readonly setId: string }): ReadRuns {
  const { workspaceId, setId } = set;
  return (reading, cursor) => {
    const station = findStationNow(reading, workspaceId, set);
    const isWanted = ({ run }: PastRun) =>
      refuseRun(reading, workspaceId, run, station) === null &&
      !listSetsOfRun(reading, workspaceId, run.id).includes(setId);
    return listRuns(reading, set, { cursor, isWanted });
  };
}

function listRuns(
  reading: Reading,
  { workspaceId, teamId, stationId }: StationOfTeam,
  { cursor, isWanted }: { readonly cursor: Cursor<RunFact> | null; readonly isWanted: (past: PastRun) => boolean },
): Slice<RunFact> {
  const fits = ({ runId }: RunFact) => {
    const past = findPastRun(reading, workspaceId, runId);
    return past !== undefined && isWanted(past);
  };
  return runFacts.page(reading, workspaceId, { teamId, stationId }, { limit: MAX_LISTED, cursor, fits });
}

/** Lists the ids of the sets that contain a run, oldest first. */
export function listSetsOfRun(reading: Reading, workspaceId: string, runId: string): readonly string[] {
  return replayEntries
    .all(reading, workspaceId, { runId })
    .map(({ setId }) => setId)
    .sort();
}
