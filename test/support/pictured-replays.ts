import { add, decimal, fraction, toText } from "../../actors/fraction.js";
import { replayCopies } from "../../actors/replays/copies/replay-copy.table.js";
import type { ReplayCopyRow, ReplayRow } from "../../actors/replays/replay/replay.js";
import { replays } from "../../actors/replays/replay/replay.table.js";
import { type ReplayInputRow, replayInputs } from "../../actors/replays/replay/replay-input.table.js";
import type { ReplaySetRow } from "../../actors/replays/sets/replay-set.js";
import { replayEntries, replaySets } from "../../actors/replays/sets/replay-set.table.js";
import type { CountingWriting } from "../../actors/tables/blobs.js";
import type { PublishingWriting } from "../../actors/tables/on-write.js";
import { replayConfig, replayInput, replayRow } from "./replay-rows.js";

/** The workspace and the set of every {@link PicturedReplay}. */
export const replayPlace = { workspaceId: "ws_1", setId: "rset_1" };

type Into = PublishingWriting & CountingWriting;

export function setRow(given: Partial<ReplaySetRow> = {}): ReplaySetRow {
  return {
    id: replayPlace.setId,
    teamId: "team_1",
    lineId: "line_1",
    stationId: "sta_1",
    stationKey: "work",
    name: "Hard ones",
    version: 1,
    guardsChanges: false,
    createdAt: "2026-01-01T00:00:00.000Z",
    ...given,
  };
}

/** Writes a set with its runs, named `run_<task>`. */
export function putSet(into: Into, set: ReplaySetRow, tasks: readonly string[]): void {
  replaySets.insert(into, replayPlace.workspaceId, set);
  for (const [index, taskId] of tasks.entries()) {
    const entry = { setId: set.id, place: index + 1, runId: `run_${taskId}`, taskId, addedAt: set.createdAt };
    replayEntries.insert(into, replayPlace.workspaceId, entry);
  }
}

/**
 * Results of copies as one text per task, all of the same length: `+` succeeded, `-` failed, `?` unscored, `j` settled
 * but not judged, `.` not settled.
 */
export type Pictured = Readonly<Record<string, string>>;

const states: Readonly<Record<string, Pick<ReplayCopyRow, "state" | "result">>> = {
  "+": { state: "judged", result: "succeeded" },
  "-": { state: "judged", result: "failed" },
  "?": { state: "settled", result: "unscored" },
  j: { state: "judging", result: null },
  ".": { state: "running", result: null },
};

/** The rows of a replay: each settled copy cost 0.1 EUR and took 2 seconds and 3 steps. */
export interface PicturedReplay {
  readonly replay: ReplayRow;
  readonly input: ReplayInputRow;
  readonly copies: readonly ReplayCopyRow[];
}

export function picturedReplay(
  pictured: Pictured,
  given: Partial<ReplayRow> = {},
  config = replayConfig,
): PicturedReplay {
  const id = given.id ?? "rep_1";
  const tasks = Object.entries(pictured);
  const copies = tasks.flatMap(([taskId, results], index) =>
    [...results].map((result, at) => copyRow({ replayId: id, place: index + 1, repeat: at + 1, taskId }, result)),
  );
  const replay = replayRow({
    id,
    teamId: "team_1",
    candidate: { id: "cand_1", name: "Other words", kind: "proposed" },
    state: "running",
    runs: tasks.length,
    repeats: tasks[0]?.[1].length ?? 0,
    ceiling: { amount: 100, currency: "EUR" },
    startedAt: "2026-01-01T00:00:10.000Z",
    endedAt: null,
    startedBaseline: null,
    judged: false,
    counts: toCounts(copies),
    spending: toSpending(copies),
    ...given,
  });
  const entries = tasks.map(([taskId], index) => ({
    place: index + 1,
    runId: `run_${taskId}`,
    taskId,
    title: `Task ${taskId}`,
    refusal: null,
  }));
  const input = replayInput({ replayId: id, config, entries });
  return { replay, input, copies };
}

type CopyName = Pick<ReplayCopyRow, "replayId" | "place" | "repeat" | "taskId">;

export function copyRow(name: CopyName, picture: string): ReplayCopyRow {
  const { state, result } = states[picture] ?? { state: "waiting", result: null };
  const isSettled = picture !== ".";
  return {
    ...name,
    originalRunId: `run_${name.taskId}`,
    state,
    result,
    lostRunIds: [],
    runId: `${name.replayId}/${name.place}/${name.repeat}`,
    why: result === "failed" ? { code: "check", text: "The check failed." } : null,
    outcome: isSettled ? "completed" : null,
    check: isSettled ? { passed: result !== "failed", exitCode: result === "failed" ? 1 : 0, tail: "done" } : null,
    ...(isSettled ? { spent: { amount: 0.1, currency: "EUR" }, steps: 3, ms: 2_000 } : unknown),
    priced: true,
    toolMisses: 0,
  };
}

const unknown = { spent: null, steps: null, ms: null };

/** Counts the copies of each kind, in the form of the field `counts` of a replay's row. */
export function toCounts(copies: readonly ReplayCopyRow[]): ReplayRow["counts"] {
  const count = (fits: (copy: ReplayCopyRow) => boolean) => copies.filter(fits).length;
  return {
    queued: count(({ state }) => state === "queued"),
    running: count(({ state }) => state === "running"),
    settled: count(({ state }) => ["settled", "judging", "judged"].includes(state)),
    succeeded: count(({ result }) => result === "succeeded"),
    failed: count(({ result }) => result === "failed"),
    unscored: count(({ result }) => result === "unscored"),
  };
}

function toSpending(copies: readonly ReplayCopyRow[]): ReplayRow["spending"] {
  const spent = copies.reduce((sum, copy) => add(sum, decimal(copy.spent?.amount ?? 0)), fraction(0));
  return { spent: toText(spent), besides: "0/1", unpriced: copies.filter(({ priced }) => !priced).length };
}

/** Writes the rows of a replay. */
export function putReplay(into: Into, { replay, input, copies }: PicturedReplay): ReplayRow {
  const { workspaceId } = replayPlace;
  replays.insert(into, workspaceId, replay);
  replayInputs.insert(into, workspaceId, input);
  for (const copy of copies) replayCopies.insert(into, workspaceId, copy);
  return replay;
}
