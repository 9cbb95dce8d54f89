import type { ChangeEntry } from "../../runtime/topic.js";
import type { Reading } from "../../storage/store.js";
import { replays } from "./replay.table.js";
import { copyChange, healthChange } from "./replay-changes.js";

/** The stream entries of a second judging or check of a copy: the copy is shown with it, and its set's health is of it. */
export function secondLookChanges(
  reading: Reading,
  workspaceId: string,
  copy: Parameters<typeof copyChange>[0],
): ChangeEntry[] {
  const replay = replays.get(reading, workspaceId, copy.replayId);
  return [copyChange(copy), ...(replay === undefined ? [] : [healthChange(replay.setId)])];
}
