import { topic } from "../../runtime/topic.js";
import type { Turn, TurnReading } from "../../runtime/turn.js";
import { add, compare, type Fraction, fromText, subtract, toText, ZERO } from "../fraction.js";
import { type Money, toAmount } from "../money.js";
import { reachesCeiling } from "../statistics/spending.js";
import type { ReplayRow } from "./replay.js";
import { replayRef } from "./replay.messages.js";
import { isUnderWay, replays } from "./replay.table.js";
import { countSpent, type PurseLeft } from "./replay-ceiling.js";
import { type ReplayPurseRow, replayPurses } from "./replay-purse.table.js";

/**
 * The purse of a search: one ceiling for all its replays and the runs of its agent.
 *
 * 1. It changes in the turn in which the spending of one of them changes, by the difference: whatever number of copies
 *    there is, that is one row.
 * 2. When it becomes full, or has room again, the replays under way are told.
 */

/** What is counted at once. */
export interface Counted {
  /** What counts against the ceiling. */
  readonly counted: Fraction;
  /** What was reported. */
  readonly spent: Fraction;
}

/** Opens the purse of a search that starts. */
export function openPurse(turn: Turn, { searchId, ceiling }: Pick<ReplayPurseRow, "searchId" | "ceiling">): void {
  const none = toText(ZERO);
  replayPurses.put(turn, turn.self.partition, searchId, { searchId, ceiling, counted: none, spent: none });
}

/** What its purse leaves to a replay, as the replay is stored; null for one of no search. */
export function findPurseLeft(turn: TurnReading, stored: ReplayRow): PurseLeft | null {
  if (stored.search === null) return null;
  const purse = replayPurses.get(turn, turn.self.partition, stored.search.searchId);
  if (purse === undefined) return null;
  return { ceiling: purse.ceiling, others: subtract(fromText(purse.counted), countSpent(stored)) };
}

/** Writes a replay, and counts in its purse what it counts more than before. */
export function putReplay(turn: Turn, before: ReplayRow, after: ReplayRow): void {
  replays.put(turn, turn.self.partition, before, after);
  if (after.search === null || before.spending === after.spending) return;
  const counted = subtract(countSpent(after), countSpent(before));
  const spent = subtract(reported(after), reported(before));
  countInPurse(turn, after.search.searchId, { counted, spent });
}

/** Adds to what a search spent; less than nothing takes away. Its replays are told when their room ends or begins. */
export function countInPurse(turn: Turn, searchId: string, more: Counted): void {
  if (compare(more.counted, ZERO) === 0 && compare(more.spent, ZERO) === 0) return;
  const { partition, id: self } = turn.self;
  const purse = replayPurses.get(turn, partition, searchId);
  if (purse === undefined) return;
  const counted = add(fromText(purse.counted), more.counted);
  const spent = add(fromText(purse.spent), more.spent);
  replayPurses.put(turn, partition, searchId, { ...purse, counted: toText(counted), spent: toText(spent) });
  publishSpent(turn, purse, spent);
  if (isFull(fromText(purse.counted), purse.ceiling) === isFull(counted, purse.ceiling)) return;
  const others = replays
    .all(turn, partition, { searchId })
    .filter((replay) => isUnderWay(replay) && replay.id !== self);
  for (const { id } of others) turn.send(replayRef(partition, id), { type: "purse.moved" });
}

/** What the stream of a search publishes of its spending. */
const searchTopic = topic<{ readonly type: "spent"; readonly spent: Money }>("search");

function publishSpent(
  turn: Turn,
  { searchId, ceiling: { currency }, spent: before }: ReplayPurseRow,
  spent: Fraction,
): void {
  const [was, now] = [toAmount(fromText(before)), toAmount(spent)];
  if (was === now) return;
  turn.publishChange(searchTopic(searchId), { type: "spent", spent: { amount: now, currency } });
}

function isFull(counted: Fraction, ceiling: Money): boolean {
  return reachesCeiling(counted, ceiling);
}

/** What a replay spent, with what counts beside its copies. */
function reported({ spending }: ReplayRow): Fraction {
  return add(fromText(spending.spent), fromText(spending.besides));
}
