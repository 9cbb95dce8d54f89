import { divide, fraction, fromText } from "../../fraction.js";
import { boundMoney, toAmount } from "../../money.js";
import { type MeasuredCopy, tallyPairs } from "../../statistics/comparison.js";
import { FEW } from "../../statistics/copy.js";
import type { SuccessTotals } from "../../statistics/success.js";
import { defineView } from "../../view.js";
import { progressAt } from "../figures/progress.js";
import type { ReplayFigures } from "../figures/replay-figures.js";
import { compareByTask } from "../figures/versus.js";
import type { ReplayCopyRow, ReplayRow } from "../replay/replay.js";
import type { WaitsFor } from "../replay/replay-waiting.js";
import { type CopyParts, copyView, listedCopyView } from "./copy.view.js";
import { replayRowView } from "./replay-row.view.js";
import {
  comparedCopySchema,
  type ListedReplayView,
  type ReplaySummary,
  type ReplayView,
  replaySummarySchema,
} from "./replay-schemas.js";

/** The data that a replay's view shows besides its figures. */
interface Shown {
  readonly parts: readonly CopyParts[];
  /** The time of the read, in milliseconds since the epoch, and what the replay waits for then. */
  readonly nowMs: number;
  readonly waiting: WaitsFor | null;
}

/** Shows the replay in a list. */
export function listedReplayView(figures: ReplayFigures, shown: Shown): ListedReplayView {
  return { ...commonView(figures, shown), entries: shown.parts.map(listedCopyView) };
}

interface ShownWhole extends Shown {
  /** The copies of the replay that this replay is compared with; empty if there is no such replay. */
  readonly other: readonly ReplayCopyRow[];
  readonly baselineId: string | null;
}

/** Shows the complete replay, with a row for each task. */
export function replayView(figures: ReplayFigures, shown: ShownWhole): ReplayView {
  const { parts, other, baselineId } = shown;
  const titles = new Map(parts.map(({ copy, title }) => [copy.taskId, title]));
  const rows = compareByTask(
    parts.map(toOwn),
    other.map((copy) => toCompared(copy, null)),
  );
  return {
    ...commonView(figures, shown),
    baselineId,
    entries: parts.map(copyView),
    comparison: rows.map(({ candidate, baseline, ...row }) => ({
      ...row,
      title: titles.get(row.taskId) ?? "",
      candidate: candidate.map(comparedView),
      baseline: baseline.map(comparedView),
    })),
  };
}

/** A copy with the data for its figures. */
interface ComparedCopy extends MeasuredCopy {
  readonly runId: string | null;
}

function toCompared(copy: ReplayCopyRow, pairOutcome: MeasuredCopy["pairOutcome"]): ComparedCopy {
  const { runId, taskId, originalRunId, repeat, result, priced, ms, steps } = copy;
  const spent = boundMoney(copy.spent);
  return { runId, taskId, originalRunId, repeat, result, spent, priced, ms, steps, pairOutcome };
}

function toOwn({ copy, pair }: CopyParts): ComparedCopy {
  return toCompared(copy, pair?.outcome ?? null);
}

const comparedView = defineView<ComparedCopy>()(comparedCopySchema, { pair: ({ pairOutcome }) => pairOutcome });

function commonView({ replay, isBaseline, totals, versus }: ReplayFigures, { parts, nowMs, waiting }: Shown) {
  const { startedAt, state } = replay;
  const row = replayRowView(replay);
  return {
    ...row,
    isBaseline,
    totals: totalsView(replay, totals),
    pairsAgainstBaseline: replay.pairedWith === null ? null : tallyPairs(parts.map(toOwn)),
    comparedWith: versus?.comparedWith ?? null,
    againstBaseline: versus?.againstBaseline ?? null,
    detectableGain: versus?.detectableGain ?? null,
    progress: progressAt(nowMs, { ...row.progress, startedAt, state, waiting }),
  };
}

const showSummary = defineView<ReplayRow, ReplayFigures>()(replaySummarySchema, {
  totals: (replay, { totals }) => totalsView(replay, totals),
  comparedWith: (_replay, { versus }) => versus?.comparedWith ?? null,
  againstBaseline: (_replay, { versus }) => versus?.againstBaseline ?? null,
});

/** Shows a replay's figures without its copies. */
export function replaySummary(figures: ReplayFigures): ReplaySummary {
  return showSummary(figures.replay, figures);
}

/** Shows a replay's success totals with its spending. */
export function totalsView(replay: ReplayRow, totals: SuccessTotals) {
  const { spending, ceiling } = replay;
  const { currency } = ceiling;
  const spent = fromText(spending.spent);
  const isKnown = totals.scored > 0 && spending.unpriced === 0;
  return {
    ...totals,
    few: totals.tasksScored < FEW,
    spent: { amount: toAmount(spent), currency },
    costPerRun: isKnown ? { amount: toAmount(divide(spent, fraction(totals.scored))), currency } : null,
  };
}
