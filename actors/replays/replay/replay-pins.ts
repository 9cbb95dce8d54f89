import { runs } from "../../runs/run.table.js";
import type { ReplayRow } from "./replay.js";
import { replays } from "./replay.table.js";
import type { ReplayEntry } from "./replay-input.table.js";

/**
 * Lists the rows that a replay pins until its judging is complete: the original runs, and the replay that it is paired
 * with.
 */
export function listPinned(
  { pairedWith }: ReplayRow,
  entries: readonly ReplayEntry[],
): readonly { readonly of: string; readonly id: string }[] {
  return [
    ...entries.map(({ runId }) => ({ of: runs.name, id: runId })),
    ...(pairedWith === null ? [] : [{ of: replays.name, id: pairedWith }]),
  ];
}
