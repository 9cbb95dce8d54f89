import type { ChangeEntry } from "../../../runtime/feeds/topic.js";
import type { Reading } from "../../../storage/store.js";
import { replays } from "../replay/replay.table.js";
import { copyChange, healthChange } from "./replay-changes.js";

/**
 * Returns the stream entries for a changed second judging or second check: one for the copy, and one for the health of
 * the set.
 */
export function secondLookChanges(
  reading: Reading,
  workspaceId: string,
  copy: Parameters<typeof copyChange>[0],
): ChangeEntry[] {
  const replay = replays.get(reading, workspaceId, copy.replayId);
  return [copyChange(copy), ...(replay === undefined ? [] : [healthChange(replay.setId)])];
}
