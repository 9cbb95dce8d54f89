import type { Turn } from "../../runtime/turn.js";
import { runRef } from "../runs/run.messages.js";
import { removePins } from "../tables/pins.js";
import { COPIES_AT_ONCE, wakeUps } from "./classify-replay.js";
import { dropJudging, removeLooks } from "./judging/judging-removal.js";
import { removeMade } from "./made-candidate.table.js";
import { replays } from "./replay.table.js";
import { endRun, freeLane, releasePinned } from "./replay.transitions.js";
import { replayTopic, searchedReplayTopic } from "./replay-changes.js";
import { isSettled, replayCopies } from "./replay-copy.table.js";
import { replayInputs } from "./replay-input.table.js";
import { tellRemoved } from "./tell-watchers.js";

/** Removes the row of the replay of this turn, so that readers do not find it any more; its copies go in slices. */
export function beginRemoval(turn: Turn): void {
  const { partition, id } = turn.self;
  const row = replays.get(turn, partition, id);
  const input = replayInputs.get(turn, partition, id);
  if (row !== undefined && input !== undefined) {
    dropJudging(turn, id);
    releasePinned(turn, row);
    freeLane(turn);
    replays.remove(turn, partition, row);
    turn.publishChange(replayTopic(id), { type: "deleted" });
    if (row.search !== null) {
      const gone = { type: "replay", replay: { id, state: "gone" } } as const;
      turn.publishChange(searchedReplayTopic(row.search.searchId), gone);
    }
    removeMade(turn, row);
    replayInputs.remove(turn, partition, input);
    removePins(turn, { of: replays.name, id });
    tellRemoved(turn);
  }
  turn.cancelWake(wakeUps.make);
  turn.cancelWake(wakeUps.settle);
  turn.wake(wakeUps.remove, turn.now);
}

/** Removes a slice of its copies with their runs. */
export function removeCopies(turn: Turn): void {
  const { partition, id } = turn.self;
  const copies = replayCopies.list(turn, partition, [id], { limit: COPIES_AT_ONCE });
  for (const copy of copies) {
    if (copy.runId !== null && !isSettled(copy)) endRun(turn, copy.runId, "The replay was removed.");
    for (const runId of [...copy.lostRunIds, copy.runId].flatMap((each) => each ?? [])) {
      turn.send(runRef(partition, runId), { type: "run.forget" });
    }
    removeLooks(turn, copy);
    replayCopies.remove(turn, partition, copy);
  }
  if (copies.length === COPIES_AT_ONCE) {
    turn.wake(wakeUps.remove, turn.now);
    return;
  }
  turn.stop();
}
