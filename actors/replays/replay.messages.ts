import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Caller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { OwnerMessage, RunClaimed } from "../runs/run.messages.js";
import type { ReplayRow } from "./replay.js";

/** From the team's sets, in the turn that wrote the replay's rows: it makes and queues its copies. */
interface BeginReplay extends Message {
  readonly type: "replay.begin";
}

interface ReplayStopped {
  /** Whether an earlier request under the same key stopped it. */
  readonly replayed: boolean;
}

/** Ends a replay under way; its runs are withdrawn. */
export interface StopReplay extends Answered<ReplayStopped | Refusal>, Keyed {
  readonly type: "replay.stop";
  /** Null for the service itself, which is not in the change log. */
  readonly caller: Caller | null;
  /** The client for the change record. */
  readonly client: string | null;
}

/** Its set is gone, or it is stored too long: removes it with its copies and their runs, in any state. */
export interface ForgetReplay extends Message {
  readonly type: "replay.forget";
}

/** From the replay that it is paired with, which has ended after it. */
interface CounterpartEnded extends Message {
  readonly type: "counterpart.ended";
}

/** From a replay to whoever watches it (`replay-watcher.table.ts`), in the turn in which it moved. */
export interface ReplayMoved extends Message {
  readonly type: "replay.moved";
  readonly replayId: string;
  /**
   * `settled`: further copies have results. `ended`: it is in one of its ends. `judged`: all judging is over. `removed`:
   * its rows are gone.
   */
  readonly what: "settled" | "ended" | "judged" | "removed";
}

/** From its search, which was stopped: ends it if it is under way, and its judging. */
interface EndReplay extends Message {
  readonly type: "replay.end";
}

/** From another replay of its search, or from the search: the ceiling of all has no room any more, or room again. */
interface PurseMoved extends Message {
  readonly type: "purse.moved";
}

export type ReplayMessage =
  | BeginReplay
  | StopReplay
  | EndReplay
  | ForgetReplay
  | CounterpartEnded
  | PurseMoved
  | OwnerMessage
  | RunClaimed;

/** A replay of a workspace. */
export const replayRef = reference<ReplayMessage>("replay");

/** The lane in which its runs wait for a runner. The replays of a search share one. */
export function laneOfReplay({ id, search }: Pick<ReplayRow, "id" | "search">): string {
  return search === null ? `replay:${id}` : laneOfSearch(search.searchId);
}

/** The lane of the replays of a search, which the search limits. */
export function laneOfSearch(searchId: string): string {
  return `search:${searchId}`;
}
