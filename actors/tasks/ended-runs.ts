/**
 * The outcomes of a task's ended runs. The task remembers the runs whose outcome can still change, in the order in
 * which these runs ended. The functions update the outcome rows of runs (`run-facts/run-outcome.table.ts`). Functions
 * that take `ended` return the runs that the task still has to remember.
 */
import type { Turn } from "../../runtime/turns/turn.js";
import type { LineFields } from "../lines/line.js";
import { findRunFact, runFacts } from "../run-facts/run-fact.table.js";
import { type NextAct, type RunOutcomeRow, runOutcomes, type TaskOutcome } from "../run-facts/run-outcome.table.js";
import type { RunRow } from "../runs/run.js";
import type { RunOver } from "../runs/run.messages.js";
import { runs } from "../runs/run.table.js";
import { timeText } from "../time-text.js";
import type { EndedRun, NextStation } from "./task.js";

/** Maximum number of ended runs that a task remembers. If there are more, the task remembers the latest. */
const MAX_REMEMBERED = 100;

/** An ended run, and its outcome for the task. */
export interface RunEnd {
  readonly runId: string;
  /** Key of the run's station. */
  readonly station: string;
  readonly outcome: TaskOutcome;
  /** Whether the task continues with the run's change. */
  readonly stands: boolean;
}

/**
 * Returns the run's end as the task records it. `isBack` says whether the run handed the task over to an earlier
 * station.
 */
export function toRunEnd(
  { runId, outcome }: Pick<RunOver, "runId" | "outcome">,
  run: Pick<RunRow, "ending"> | undefined,
  { station, next, isBack }: { readonly station: string; readonly next: NextStation["next"]; readonly isBack: boolean },
): RunEnd {
  const end = (of: TaskOutcome, stands = false): RunEnd => ({ runId, station, outcome: of, stands });
  if (outcome === "failed") return end("failed");
  if (outcome !== "completed") return end("other");
  if (run?.ending?.kind === "ask") return end("asked");
  return next === "done" ? end("accepted") : end("other", !isBack);
}

/** Adds an ended run. If the run's change stands, the changes of earlier runs at the same station no longer stand. */
export function addRunEnd(turn: Turn, ended: readonly EndedRun[], end: RunEnd): readonly EndedRun[] {
  const { runId, station, outcome, stands } = end;
  store(turn, runId, { outcome, next: null });
  const others = stands ? ended.map((run) => (run.station === station ? { ...run, stands: false } : run)) : ended;
  return remember([...others, { runId, station, stands, waits: true }]);
}

/** Accepts the remaining changes, after the task is done or its pull request was merged. */
export function acceptChanges(turn: Turn, ended: readonly EndedRun[]): readonly EndedRun[] {
  return settle(turn, ended, { outcome: "accepted", isMeant: () => true });
}

/**
 * Marks the remaining changes as not accepted, after the task's pull request was closed without a merge. The task still
 * remembers their runs, because a later merge accepts the changes.
 */
export function markUnaccepted(turn: Turn, ended: readonly EndedRun[]): readonly EndedRun[] {
  settle(turn, ended, { outcome: "other", isMeant: () => true });
  return ended;
}

/** Marks the remaining changes from the station `to` onward as sent back, because the task returns to that station. */
export function sendBackChanges(
  turn: Turn,
  ended: readonly EndedRun[],
  { line, to }: { readonly line: LineFields | undefined; readonly to: string },
): readonly EndedRun[] {
  const order = line?.stations.map(({ key }) => key) ?? [];
  const from = order.indexOf(to);
  return settle(turn, ended, { outcome: "sent-back", isMeant: ({ station }) => order.indexOf(station) >= from });
}

/** Records a person's action as the next act after each remembered run that has no next act yet. */
export function recordAct(turn: Turn, ended: readonly EndedRun[], act: NextAct): readonly EndedRun[] {
  const next = { act, at: timeText(turn.now) };
  for (const { runId, waits } of ended) if (waits) move(turn, runId, { next });
  return remember(ended.map((run) => ({ ...run, waits: false })));
}

function settle(
  turn: Turn,
  ended: readonly EndedRun[],
  { outcome, isMeant }: { readonly outcome: TaskOutcome; readonly isMeant: (run: EndedRun) => boolean },
): readonly EndedRun[] {
  const isSettled = (run: EndedRun) => run.stands && isMeant(run);
  for (const run of ended) if (isSettled(run)) move(turn, run.runId, { outcome });
  return remember(ended.map((run) => (isSettled(run) ? { ...run, stands: false } : run)));
}

function remember(ended: readonly EndedRun[]): readonly EndedRun[] {
  return ended.filter(({ stands, waits }) => stands || waits).slice(-MAX_REMEMBERED);
}

function move(turn: Turn, runId: string, change: Partial<RunOutcomeRow>): void {
  const { partition } = turn.self;
  const before = runOutcomes.get(turn, partition, runId);
  if (before !== undefined) store(turn, runId, { ...before, ...change });
}

/** Stores the outcome row of a run. If the run has a fact, also copies the outcome to the fact. */
function store(turn: Turn, runId: string, row: RunOutcomeRow): void {
  const { partition } = turn.self;
  runOutcomes.put(turn, partition, runId, row);
  const run = runs.get(turn, partition, runId);
  const fact = run === undefined ? undefined : findRunFact(turn, partition, run);
  if (fact !== undefined) runFacts.put(turn, partition, fact, { ...fact, taskOutcome: row.outcome, next: row.next });
}
