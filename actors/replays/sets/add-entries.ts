import type { Delivered, Turn } from "../../../runtime/turns/turn.js";
import type { Refusal } from "../../refusal.js";
import type { RunRow } from "../../runs/run.js";
import { runs } from "../../runs/run.table.js";
import { tasks } from "../../tasks/task.table.js";
import type { ReplaySetRow } from "./replay-set.js";
import { type AddEntries, MAX_ENTRIES, type SetChanged } from "./replay-set.messages.js";
import { insertEntries, replayEntries } from "./replay-set.table.js";
import { changeSet, isSearched, searchUnderWay, stationLeft } from "./replay-set.transitions.js";
import { findStationNow, type RunRefusalCode, refuseRun, runRefusals } from "./run-refusal.js";

/** A run that a request names. */
interface Named {
  readonly runId: string;
  /** The path of the run's field in the request body. */
  readonly path: string;
}

interface Found extends Named {
  readonly run: RunRow;
  readonly taskId: string;
}

/** Adds either all of the runs to a set, or none. A refusal names each run that cannot be added. */
export function addEntries(event: Delivered<AddEntries>): SetChanged | Refusal {
  const { turn } = event;
  const named: readonly Named[] =
    "runIds" in event
      ? event.runIds.map((runId, index) => ({ runId, path: `runIds[${index}]` }))
      : [{ runId: event.runId, path: "runId" }];
  return changeSet(event, (set) => {
    const found = named.flatMap((each) => findRun(turn, set, each) ?? []);
    const missing = named.filter(({ runId }) => found.every((each) => each.runId !== runId));
    if (missing.length > 0) return notFound(missing);
    const refusal = refuseRuns(turn, set, found);
    if (refusal === null) insertEntries(turn, set, found);
    return refusal;
  });
}

/**
 * Returns the named run with its task. Returns null if the run or its task is not stored, or if the run belongs to
 * another team.
 */
function findRun(turn: Turn, { teamId }: ReplaySetRow, named: Named): Found | null {
  const { partition } = turn.self;
  const run = runs.get(turn, partition, named.runId);
  const taskId = run?.taskId ?? null;
  if (run?.teamId !== teamId || taskId === null || tasks.get(turn, partition, taskId) === undefined) return null;
  return { ...named, run, taskId };
}

function notFound(missing: readonly Named[]): Refusal {
  return { refused: "not-found", detail: missing.map(({ runId }) => `Run ${runId} not found.`).join(" ") };
}

/** Returns why the runs cannot be added; null if all of them can be added. */
function refuseRuns(turn: Turn, set: ReplaySetRow, found: readonly Found[]): Refusal | null {
  const { partition } = turn.self;
  if (isSearched(turn, set)) return searchUnderWay;
  const station = findStationNow(turn, partition, set);
  if (station.station === undefined) return stationLeft;
  const entries = replayEntries.list(turn, partition, [set.id]);
  const existing = new Set(entries.map(({ runId }) => runId));
  const refused = found.flatMap(({ run, runId, path }): (Named & { readonly code: RunRefusalCode })[] => {
    const code = refuseRun(turn, partition, run, station);
    if (code !== "other-station" && existing.has(runId)) return [{ code: "in-set", runId, path }];
    return code === null ? [] : [{ code, runId, path }];
  });
  const elsewhere = refused.filter(({ code }) => code === "other-station");
  if (elsewhere.length > 0) {
    return { refused: "invalid", errors: elsewhere.map(({ code, path }) => ({ path, message: runRefusals[code] })) };
  }
  const sentences = refused.map(({ code, runId, path }) =>
    path === "runId" ? runRefusals[code] : `${runId}: ${runRefusals[code]}`,
  );
  if (sentences.length > 0) return { refused: "conflict", detail: sentences.join(" ") };
  if (entries.length + found.length <= MAX_ENTRIES) return null;
  return { refused: "conflict", detail: `Replay set is full. Maximum runs: ${MAX_ENTRIES}` };
}
