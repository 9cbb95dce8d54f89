import type { TurnReading } from "../../../runtime/turns/turn.js";
import type { RunRow } from "../../runs/run.js";
import { addReported, addSpending, type BudgetLeft, isAtCeiling, mayStart } from "../budget/replay-ceiling.js";
import { findBudgetLeft } from "../budget/search-budget.js";
import { MAX_ATTEMPTS, toCopyResult } from "../copies/copy-result.js";
import { listCopies } from "../copies/replay-copy.table.js";
import { lastBytes, OUTPUT_BYTES } from "../figures/excerpt.js";
import type { ReplayCopyRow, ReplayCounts, ReplayRow } from "./replay.js";
import { isUnderWay } from "./replay.table.js";
import type { ReplayInputRow } from "./replay-input.table.js";

/**
 * Computes the effect of a copy's change on its replay, as plain data. Only reads. The machine's transition writes the
 * effect.
 */

/** A copy before and after a message. */
export interface CopyChange {
  readonly before: ReplayCopyRow;
  readonly after: ReplayCopyRow;
}

/** Where a step leads the replay: it continues, or reaches an end state. */
export type ReplayLead = "on" | "finished" | "over-budget";

/** The effect of a message on a replay. */
export interface ReplayStep {
  /** The replay, with the changes included in its counts and spending. */
  readonly row: ReplayRow;
  readonly changes: readonly CopyChange[];
  /** Queued runs to withdraw because the replay reached its ceiling. */
  readonly withdrawn: readonly string[];
  readonly leads: ReplayLead;
}

/**
 * Computes the step for a changed copy. If `change` is null, computes the step after a change of the stored row or of
 * the search's budget. `before` is the stored row. At the ceiling, queued copies return to `waiting`, except copies
 * that may start again. The replay is over budget when no copy runs, no copy may start, and all settled copies have
 * results. A replay that has ended keeps its state.
 */
export function stepReplay(turn: TurnReading, before: ReplayRow, change: CopyChange | null): ReplayStep {
  const changes = change === null ? [] : [change];
  const row = countChanges(before, changes);
  if (!isUnderWay(row)) return { row, changes, withdrawn: [], leads: "on" };
  if (isComplete(row)) return { row, changes, withdrawn: [], leads: "finished" };
  const budget = findBudgetLeft(turn, before);
  if (!isAtCeiling(row, budget)) return { row, changes, withdrawn: [], leads: "on" };
  const copies = listCopies(turn, turn.self.partition, row.id).map((copy) =>
    change !== null && isSameCopy(copy, change.after) ? change.after : copy,
  );
  const back = takeBack(copies.filter((copy) => !mayStart(row, copy, budget)));
  const left = countChanges(row, back.changes);
  const isOver =
    left.counts.running === 0 && left.counts.settled === countResults(left) && !canGoOn(left, copies, budget);
  return {
    row: left,
    changes: [...changes, ...back.changes],
    withdrawn: back.withdrawn,
    leads: isOver ? "over-budget" : "on",
  };
}

/** Whether a copy whose runner was lost may start again, although the replay is at its ceiling. */
function canGoOn(row: ReplayRow, copies: readonly ReplayCopyRow[], budget: BudgetLeft | null): boolean {
  return copies.some((copy) => (copy.state === "waiting" || copy.state === "queued") && mayStart(row, copy, budget));
}

function isSameCopy(one: ReplayCopyRow, { place, repeat }: ReplayCopyRow): boolean {
  return one.place === place && one.repeat === repeat;
}

/** Whether every copy has a result. */
export function isComplete(replay: ReplayRow): boolean {
  return countResults(replay) === replay.runs * replay.repeats;
}

function countResults({ counts: { succeeded, failed, unscored } }: ReplayRow): number {
  return succeeded + failed + unscored;
}

/** Updates the replay's counts and spending for changes of its copies. */
export function countChanges(replay: ReplayRow, changes: readonly CopyChange[]): ReplayRow {
  const { currency } = replay.ceiling;
  let { counts, spending } = replay;
  for (const change of changes) {
    counts = addCounts(addCounts(counts, change.before, -1), change.after, 1);
    spending = addSpending(spending, currency, change);
  }
  return { ...replay, counts, spending };
}

function addCounts(counts: ReplayCounts, { state, result }: ReplayCopyRow, more: 1 | -1): ReplayCounts {
  const counted = { ...counts };
  if (state === "queued" || state === "running") counted[state] += more;
  else if (state !== "waiting") counted.settled += more;
  if (result !== null) counted[result] += more;
  return counted;
}

/** Returns all queued copies to `waiting`. Also returns their runs, which the caller must withdraw. */
export function withdrawQueued(turn: TurnReading, replay: ReplayRow): Pick<ReplayStep, "changes" | "withdrawn"> {
  if (replay.counts.queued === 0) return { changes: [], withdrawn: [] };
  return takeBack(listCopies(turn, turn.self.partition, replay.id));
}

/**
 * Returns queued copies to `waiting`. A runner may just have claimed the run of a queued copy, but the run's agent has
 * not started.
 */
function takeBack(copies: readonly ReplayCopyRow[]): Pick<ReplayStep, "changes" | "withdrawn"> {
  const queued = copies.filter(({ state }) => state === "queued");
  return {
    changes: queued.map((before) => ({ before, after: { ...before, state: "waiting", runId: null } })),
    withdrawn: queued.flatMap(({ runId }) => runId ?? []),
  };
}

/**
 * Applies the end of a copy's run. If the runner was lost while the replay was in progress, the copy waits for another
 * attempt, up to {@link MAX_ATTEMPTS} in total; otherwise it settles.
 */
export function endAttempt(
  replay: ReplayRow,
  copy: ReplayCopyRow,
  run: RunRow,
  input: Pick<ReplayInputRow, "config" | "live">,
): ReplayCopyRow {
  const { currency } = replay.ceiling;
  const isPriced = run.spent === null ? run.startedAt === null : run.spent.currency === currency;
  const spent = { spent: addReported(copy.spent, run.spent, currency), priced: copy.priced && isPriced };
  if (run.outcome === "abandoned" && copy.lostRunIds.length + 1 < MAX_ATTEMPTS && isUnderWay(replay)) {
    return { ...copy, ...spent, state: "waiting", runId: null, lostRunIds: [...copy.lostRunIds, run.id] };
  }
  const { check } = run;
  const settled: ReplayCopyRow = {
    ...copy,
    ...spent,
    state: "settled",
    ...toCopyResult(run, input),
    outcome: run.outcome,
    check: check && { passed: check.passed, exitCode: check.exitCode, tail: lastBytes(check.output, OUTPUT_BYTES) },
    steps: run.steps,
    ms: findLength(run),
    toolMisses: run.calls?.misses ?? 0,
  };
  return settled.result === null ? toBeJudged(settled, replay) : settled;
}

/** Returns a copy whose result depends on the judge: in the state `judging` or, if the replay has ended, unscored. */
function toBeJudged(copy: ReplayCopyRow, replay: ReplayRow): ReplayCopyRow {
  if (isUnderWay(replay)) return { ...copy, state: "judging" };
  return { ...copy, result: "unscored", why: { code: "stopped", text: "The replay was stopped first." } };
}

function findLength({ startedAt, endedAt }: RunRow): number | null {
  return startedAt === null || endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
}
