import type { Reading } from "../../../storage/store.js";
import { boundMoney } from "../../money.js";
import type { MeasuredCopy } from "../../statistics/comparison.js";
import { replayPairs } from "../judging/replay-pair.table.js";
import { toName } from "../reads/replay-parts.js";
import { listCopies } from "./replay-copy.table.js";

/** A copy with the data for its figures, and the id of its run. `runId` is null while the copy has no run. */
export interface ReplayedCopy extends MeasuredCopy {
  readonly runId: string | null;
}

/**
 * Lists the copies of a replay, with the data for the replay's figures. Ordered by place and then repeat; at most 250.
 */
export function listReplayedCopies(reading: Reading, workspaceId: string, replayId: string): readonly ReplayedCopy[] {
  const pairs = replayPairs.list(reading, workspaceId, [replayId]);
  const outcomes = new Map(pairs.map((pair) => [toName(pair), pair.outcome]));
  return listCopies(reading, workspaceId, replayId).map((copy) => {
    const { runId, taskId, originalRunId, repeat, result, priced, ms, steps } = copy;
    const pairOutcome = outcomes.get(toName(copy)) ?? null;
    return {
      runId,
      taskId,
      originalRunId,
      repeat,
      result,
      spent: boundMoney(copy.spent),
      priced,
      ms,
      steps,
      pairOutcome,
    };
  });
}
