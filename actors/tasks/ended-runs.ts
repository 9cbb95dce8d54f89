/**
 * What becomes of the ended runs of a task. The task remembers those that may still change, in the order of their ends,
 * and moves their rows (`run-facts/run-outcome.table.ts`). Each function returns what the task remembers then.
 */
import type { Turn } from "../../runtime/turn.js";
import type { LineFields } from "../lines/line.js";
import { findRunFact, runFacts } from "../run-facts/run-fact.table.js";
import { type NextAct, type RunOutcomeRow, runOutcomes, type TaskOutcome } from "../run-facts/run-outcome.table.js";
import type { RunRow } from "../runs/run.js";
import type { RunOver } from "../runs/run.messages.js";
import { runs } from "../runs/run.table.js";
import { timeText } from "../time-text.js";
import type { EndedRun, NextStation } from "./task.js";

/** Most ended runs that a task remembers: the latest ones. */
const MAX_REMEMBERED = 100;

/** A run that is over, and where its task goes. */
export interface RunEnd {
  readonly runId: string;
  /** Key of the station that it ran at. */
  readonly station: string;
  readonly outcome: TaskOutcome;
  /** Whether its change goes on with the task. */
  readonly stands: boolean;
}

/** How a run ended for its task. `isBack` says that it handed over to an earlier station. */
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

/** A run is over. Its change takes the place of that of an earlier run at its station. */
export function addRunEnd(turn: Turn, ended: readonly EndedRun[], end: RunEnd): readonly EndedRun[] {
  const { runId, station, outcome, stands } = end;
  store(turn, runId, { outcome, next: null });
  const others = stands ? ended.map((run) => (run.station === station ? { ...run, stands: false } : run)) : ended;
  return remember([...others, { runId, station, stands, waits: true }]);
}

/** The task is done: the changes that stand are accepted. */
export function acceptStanding(turn: Turn, ended: readonly EndedRun[]): readonly EndedRun[] {
  return settle(turn, ended, { outcome: "accepted", isMeant: () => true });
}

/** The pull request of the task was closed without a merge. What stands is not accepted, unless it is merged yet. */
export function leaveStanding(turn: Turn, ended: readonly EndedRun[]): readonly EndedRun[] {
  settle(turn, ended, { outcome: "other", isMeant: () => true });
  return ended;
}

/** The task goes back to the station `to`: the changes that stand from there on are sent back. */
export function sendBackStanding(
  turn: Turn,
  ended: readonly EndedRun[],
  { line, to }: { readonly line: LineFields | undefined; readonly to: string },
): readonly EndedRun[] {
  const order = line?.stations.map(({ key }) => key) ?? [];
  const from = order.indexOf(to);
  return settle(turn, ended, { outcome: "sent-back", isMeant: ({ station }) => order.indexOf(station) >= from });
}

/** A person did something with the task: it is the next act after every run that waits for one. */
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

/** Stores what became of a run, also in its fact if it has ended. */
function store(turn: Turn, runId: string, row: RunOutcomeRow): void {
  const { partition } = turn.self;
  runOutcomes.put(turn, partition, runId, row);
  const run = runs.get(turn, partition, runId);
  const fact = run === undefined ? undefined : findRunFact(turn, partition, run);
  if (fact !== undefined) runFacts.put(turn, partition, fact, { ...fact, taskOutcome: row.outcome, next: row.next });
}
