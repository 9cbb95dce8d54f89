import type { Turn, TurnReading } from "../../../runtime/turns/turn.js";
import { compare, fromText, ZERO } from "../../fraction.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import { findLeaving } from "../../tables/row-quota.js";
import type { ReplayRow } from "../replay/replay.js";
import { replayRef } from "../replay/replay.messages.js";
import { isRetainedReplay } from "../replay/replay.retention.js";
import { isUnderWay, replays } from "../replay/replay.table.js";
import type { ReplaySetRow } from "../sets/replay-set.js";

/** Maximum number of replays stored for a set. */
export const MAX_REPLAYS = 200;

interface Wanted {
  /** Number of replays that are about to start. */
  readonly count: number;
  /** The existing replay that a new replay is compared with; null if there is none. */
  readonly beside: string | null;
}

/**
 * Makes space in a set for new replays: tells the oldest removable replays to remove themselves, and returns null.
 * Starts with replays that were stopped before any copy was scored or had a cost. If too few replays are removable,
 * removes none and returns a refusal.
 */
export function freeReplayQuota(turn: Turn, set: ReplaySetRow, wanted: Wanted): Refusal | null {
  const found = findRemovableReplays(turn, set, wanted);
  if (isRefusal(found)) return found;
  requestRemoval(turn, found);
  return null;
}

/** Tells replays to remove themselves. */
export function requestRemoval(turn: Turn, replayIds: readonly string[]): void {
  for (const id of replayIds) turn.send(replayRef(turn.self.partition, id), { type: "replay.forget" });
}

/**
 * Returns the ids of the replays to remove so that the new replays fit. Refuses if too few replays are removable. A
 * replay is not removable in these cases:
 * - The replay is running, or its judging is not complete.
 * - Another replay depends on the replay.
 * - {@link isRetainedReplay} is true.
 */
export function findRemovableReplays(
  turn: TurnReading,
  set: Pick<ReplaySetRow, "id">,
  { count, beside }: Wanted,
): readonly string[] | Refusal {
  const { partition } = turn.self;
  const stored = replays.all(turn, partition, { setId: set.id });
  const named = new Set(stored.flatMap(({ pairedWith, answers }) => [pairedWith, answers, beside]));
  const mayGo = (replay: ReplayRow) =>
    !isUnderWay(replay) && replay.judged && !named.has(replay.id) && !isRetainedReplay(turn, replay);
  const leaving = findLeaving(inOrder(stored), { most: MAX_REPLAYS, count, mayGo });
  return leaving === null ? full : leaving.map(({ id }) => id);
}

const full: Refusal = {
  refused: "conflict",
  detail:
    `The set has ${MAX_REPLAYS} replays, the maximum. Each of them is running, or other replays or the set's figures ` +
    "depend on it. Stop one, wait until one has ended, or delete the set.",
};

/** Orders replays for removal: first the empty ones, then the others. Each group is ordered from oldest to newest. */
function inOrder(newestFirst: readonly ReplayRow[]): readonly ReplayRow[] {
  const oldestFirst = newestFirst.toReversed();
  return [...oldestFirst.filter(isEmpty), ...oldestFirst.filter((replay) => !isEmpty(replay))];
}

/** Whether the replay was stopped before any copy was scored or had a cost. */
function isEmpty({ state, counts, spending }: ReplayRow): boolean {
  const hasScored = counts.succeeded + counts.failed > 0;
  return state === "stopped" && !hasScored && spending.unpriced === 0 && compare(fromText(spending.spent), ZERO) === 0;
}
