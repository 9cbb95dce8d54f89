import type { Reference } from "../../runtime/reference.js";
import type { Turn } from "../../runtime/turn.js";
import { table } from "../../storage/table.js";
import type { ReplayMoved } from "./replay.messages.js";

/** An actor that is told what becomes of a replay (`tell-watchers.ts`): a check, a search. */
export interface ReplayWatcherRow {
  readonly replayId: string;
  readonly watcher: Reference<ReplayMoved>;
  /** What it is told; absent for everything. */
  readonly hears?: readonly ReplayMoved["what"][];
}

/** `[replay, kind of the watcher, its id]`: they go with the replay. */
export const replayWatchers = table<ReplayWatcherRow>("replay-watcher");

/** Has the watcher told from the replay's next turn on, of `hears` alone; again is fine. In a turn that sees the replay. */
export function watchReplay(
  turn: Turn,
  replayId: string,
  watcher: Reference<ReplayMoved>,
  hears?: ReplayWatcherRow["hears"],
): void {
  const row = { replayId, watcher, ...(hears && { hears }) };
  replayWatchers.put(turn, turn.self.partition, [replayId, watcher.kind, watcher.id], row);
}

/** Has it told no more; none is fine. What was sent before may still arrive. */
export function unwatchReplay(turn: Turn, replayId: string, { kind, id }: Reference<ReplayMoved>): void {
  replayWatchers.remove(turn, turn.self.partition, replayId, kind, id);
}
