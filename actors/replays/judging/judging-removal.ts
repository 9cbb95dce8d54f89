import type { Turn } from "../../../runtime/turns/turn.js";
import { type EndRun, runRef } from "../../runs/run.messages.js";
import type { ReplayCopyRow } from "../replay/replay.js";
import { dropLooks } from "./look-questions.js";
import { replayPairs } from "./replay-pair.table.js";
import { replayRechecks } from "./replay-recheck.table.js";
import { replayVerdicts } from "./replay-verdict.table.js";

/** Drops all judging questions of a replay that is being removed. */
export function dropJudging(turn: Turn, replayId: string): void {
  dropLooks({ turn, replayId });
}

/**
 * Removes a copy's verdicts, pair and second check, and the runs of the second check. Called when the copy's replay is
 * removed.
 */
export function removeLooks(turn: Turn, { replayId, place, repeat }: ReplayCopyRow): void {
  const { partition } = turn.self;
  const copy = [replayId, place, repeat];
  for (const row of replayVerdicts.list(turn, partition, copy)) replayVerdicts.remove(turn, partition, row);
  const pair = replayPairs.get(turn, partition, ...copy);
  if (pair !== undefined) replayPairs.remove(turn, partition, pair);
  const recheck = replayRechecks.get(turn, partition, ...copy);
  if (recheck === undefined) return;
  for (const runId of [...recheck.lostRunIds, recheck.runId].filter((id) => id !== null)) {
    const end: EndRun = { type: "run.end", outcome: "withdrawn", reason: "The replay was removed." };
    const run = runRef(partition, runId);
    turn.send(run, end);
    turn.send(run, { type: "run.forget" });
  }
  replayRechecks.remove(turn, partition, recheck);
}
