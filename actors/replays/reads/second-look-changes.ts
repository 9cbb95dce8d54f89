import type { ChangeEntry } from "../../../runtime/feeds/topic.js";
import type { Reading } from "../../../storage/store.js";
import { replays } from "../replay/replay.table.js";
import { copyChange, healthChange } from "./replay-changes.js";

/** Lists the stream entries for a second judging or check: the view of its copy and the health of its set change. */
export function secondLookChanges(
  reading: Reading,
  workspaceId: string,
  copy: Parameters<typeof copyChange>[0],
): ChangeEntry[] {
  const replay = replays.get(reading, workspaceId, copy.replayId);
  return [copyChange(copy), ...(replay === undefined ? [] : [healthChange(replay.setId)])];
}
