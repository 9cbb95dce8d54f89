import type { TurnReading } from "../../runtime/turn.js";
import type { RunRow } from "../runs/run.js";
import { MAX_ATTEMPTS, toCopyResult } from "./copy-result.js";
import { lastBytes, OUTPUT_BYTES } from "./figures/excerpt.js";
import type { ReplayCopyRow, ReplayCounts, ReplayRow } from "./replay.js";
import { isUnderWay } from "./replay.table.js";
import { addReported, addSpending, isAtCeiling, mayStart, type PurseLeft } from "./replay-ceiling.js";
import { listCopies } from "./replay-copy.table.js";
import type { ReplayInputRow } from "./replay-input.table.js";
import { findPurseLeft } from "./replay-purse.js";

/**
 * What the change of a copy does to its replay, as plain data: computed when a message is classified, written when the
 * machine takes it. Reads only.
 */

/** A copy before and after a message. */
export interface CopyChange {
  readonly before: ReplayCopyRow;
  readonly after: ReplayCopyRow;
}

/** Where a replay goes: on, or to one of its ends. */
export type ReplayLead = "on" | "finished" | "over-budget";

export interface ReplayStep {
  /** The replay with the changes counted. */
  readonly row: ReplayRow;
  readonly changes: readonly CopyChange[];
  /** Queued runs that are withdrawn, since the ceiling is reached. */
  readonly withdrawn: readonly string[];
  readonly leads: ReplayLead;
}

/**
 * The step of a replay in which a copy changes, or null: that was judged in an earlier turn, or whose search has another
 * room. `before` is as it is stored. At the ceiling its queued
 * copies go back, but for those that may start again; it is over budget when none runs, none may, and all that settled
 * have results. A replay that has ended stays in its state.
 */
export function stepReplay(turn: TurnReading, before: ReplayRow, change: CopyChange | null): ReplayStep {
  const changes = change === null ? [] : [change];
  const row = countChanges(before, changes);
  if (!isUnderWay(row)) return { row, changes, withdrawn: [], leads: "on" };
  if (isComplete(row)) return { row, changes, withdrawn: [], leads: "finished" };
  const purse = findPurseLeft(turn, before);
  if (!isAtCeiling(row, purse)) return { row, changes, withdrawn: [], leads: "on" };
  const copies = listCopies(turn, turn.self.partition, row.id).map((copy) =>
    change !== null && isSameCopy(copy, change.after) ? change.after : copy,
  );
  const back = takeBack(copies.filter((copy) => !mayStart(row, copy, purse)));
  const left = countChanges(row, back.changes);
  const isOver =
    left.counts.running === 0 && left.counts.settled === countResults(left) && !canGoOn(left, copies, purse);
  return {
    ...{ row: left, changes: [...changes, ...back.changes], withdrawn: back.withdrawn },
    leads: isOver ? "over-budget" : "on",
  };
}

/** Whether a copy waits that may start, though the replay is at its ceiling: its runner was lost. */
function canGoOn(row: ReplayRow, copies: readonly ReplayCopyRow[], purse: PurseLeft | null): boolean {
  return copies.some((copy) => (copy.state === "waiting" || copy.state === "queued") && mayStart(row, copy, purse));
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

/** The replay after changes of its copies. */
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

/** The copies that wait for a runner, back in their places: their runs are withdrawn. */
export function withdrawQueued(turn: TurnReading, replay: ReplayRow): Pick<ReplayStep, "changes" | "withdrawn"> {
  if (replay.counts.queued === 0) return { changes: [], withdrawn: [] };
  return takeBack(listCopies(turn, turn.self.partition, replay.id));
}

/** Takes those back that are queued. A runner may have been found for one in this moment; its agent has not begun. */
function takeBack(copies: readonly ReplayCopyRow[]): Pick<ReplayStep, "changes" | "withdrawn"> {
  const queued = copies.filter(({ state }) => state === "queued");
  return {
    changes: queued.map((before) => ({ before, after: { ...before, state: "waiting", runId: null } })),
    withdrawn: queued.flatMap(({ runId }) => runId ?? []),
  };
}

/** A copy whose run is over: it goes back when its runner was lost, twice at most; else it is settled. */
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
    ...{ ...copy, ...spent, state: "settled", ...toCopyResult(run, input), outcome: run.outcome },
    check: check && { passed: check.passed, exitCode: check.exitCode, tail: lastBytes(check.output, OUTPUT_BYTES) },
    ...{ steps: run.steps, ms: lengthOf(run), toolMisses: run.calls?.misses ?? 0 },
  };
  return settled.result === null ? toBeJudged(settled, replay) : settled;
}

/** A copy whose result is its judge's: nobody judges for a replay that has ended. */
function toBeJudged(copy: ReplayCopyRow, replay: ReplayRow): ReplayCopyRow {
  if (isUnderWay(replay)) return { ...copy, state: "judging" };
  return { ...copy, result: "unscored", why: { code: "stopped", text: "The replay was stopped first." } };
}

function lengthOf({ startedAt, endedAt }: RunRow): number | null {
  return startedAt === null || endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
}
