import type { Reference } from "../../../runtime/cells/reference.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import { table } from "../../../storage/table.js";
import type { ReplayMoved } from "./replay.messages.js";

/** An actor that a replay notifies of its progress (`tell-watchers.ts`): a check or a search. */
export interface ReplayWatcherRow {
  readonly replayId: string;
  readonly watcher: Reference<ReplayMoved>;
  /** The kinds of progress to notify the watcher of; absent if the watcher wants all kinds. */
  readonly hears?: readonly ReplayMoved["what"][];
}

/** Key: `[replay, kind of the watcher, its id]`. The rows are removed with the replay. */
export const replayWatchers = table<ReplayWatcherRow>("replay-watcher");

/**
 * Subscribes the watcher to a replay's progress, from the replay's next turn on. `hears` limits the subscription to
 * some kinds of progress. Idempotent. Call it in a turn that can read the replay.
 */
export function watchReplay(
  turn: Turn,
  replayId: string,
  watcher: Reference<ReplayMoved>,
  hears?: ReplayWatcherRow["hears"],
): void {
  const row = { replayId, watcher, ...(hears && { hears }) };
  replayWatchers.put(turn, turn.self.partition, [replayId, watcher.kind, watcher.id], row);
}

/**
 * Unsubscribes the watcher; does nothing if the watcher is not subscribed. Messages that were already sent may still
 * arrive.
 */
export function unwatchReplay(turn: Turn, replayId: string, { kind, id }: Reference<ReplayMoved>): void {
  replayWatchers.remove(turn, turn.self.partition, replayId, kind, id);
}
