import type { Turn } from "../../../runtime/turns/turn.js";
import type { ReplayRow } from "./replay.js";
import type { ReplayMoved } from "./replay.messages.js";
import { isUnderWay, replays } from "./replay.table.js";
import { type ReplayWatcherRow, replayWatchers } from "./replay-watcher.table.js";

/**
 * Does the work of a replay's turn, then notifies the replay's watchers of `settled`, `ended` and `judged`, each at
 * most once per turn. If the replay has no watchers, the only additional cost is one look-up.
 */
export function notifyingWatchers<Result>(turn: Turn, work: () => Result): Result {
  const watchers = listWatchers(turn);
  if (watchers.length === 0) return work();
  const before = findRow(turn);
  const result = work();
  const after = findRow(turn);
  if (before !== undefined && after !== undefined) {
    for (const what of whatMoved(before, after)) tell(turn, watchers, what);
  }
  return result;
}

/** Notifies the watchers that the replay is removed, and unsubscribes them. */
export function notifyRemoved(turn: Turn): void {
  const watchers = listWatchers(turn);
  tell(turn, watchers, "removed");
  for (const { replayId, watcher } of watchers) {
    replayWatchers.remove(turn, turn.self.partition, replayId, watcher.kind, watcher.id);
  }
}

function whatMoved(before: ReplayRow, after: ReplayRow): readonly ReplayMoved["what"][] {
  const moved: ReplayMoved["what"][] = [];
  if (countResults(before) !== countResults(after)) moved.push("settled");
  if (isUnderWay(before) && !isUnderWay(after)) moved.push("ended");
  if (!before.judged && after.judged) moved.push("judged");
  return moved;
}

function tell(turn: Turn, watchers: readonly ReplayWatcherRow[], what: ReplayMoved["what"]): void {
  for (const { replayId, watcher, hears } of watchers) {
    if (hears?.includes(what) !== false) turn.send(watcher, { type: "replay.moved", replayId, what });
  }
}

function countResults({ counts: { succeeded, failed, unscored } }: ReplayRow): number {
  return succeeded + failed + unscored;
}

function findRow(turn: Turn): ReplayRow | undefined {
  return replays.get(turn, turn.self.partition, turn.self.id);
}

function listWatchers(turn: Turn): readonly ReplayWatcherRow[] {
  return replayWatchers.list(turn, turn.self.partition, [turn.self.id]);
}
