import { reference } from "../../../runtime/cells/reference.js";
import type { Answered, Message } from "../../../runtime/turns/turn.js";
import type { Caller } from "../../caller.js";
import type { Refusal } from "../../refusal.js";
import type { Keyed } from "../../resources/repeated-request.js";
import type { OwnerMessage, RunClaimed } from "../../runs/run.messages.js";
import type { ReplayRow } from "./replay.js";

/** Sent in the turn that writes the replay's rows. The replay then creates and queues its copies. */
interface BeginReplay extends Message {
  readonly type: "replay.begin";
}

interface ReplayStopped {
  /** Whether an earlier request with the same idempotency key stopped the replay. */
  readonly replayed: boolean;
}

/** Ends a replay in progress and withdraws its runs. */
export interface StopReplay extends Answered<ReplayStopped | Refusal>, Keyed {
  readonly type: "replay.stop";
  /** Null if the service stops the replay itself; then there is no change record. */
  readonly caller: Caller | null;
  /** The client that the change record names; null if it names no client. */
  readonly client: string | null;
}

/**
 * Sent in three cases: the set is removed, retention removes the replay, or a new replay needs the space. Removes the
 * replay with its copies and their runs, in any state.
 */
export interface ForgetReplay extends Message {
  readonly type: "replay.forget";
}

/** Sent by the paired replay when it ends, if this replay has already finished. */
interface CounterpartEnded extends Message {
  readonly type: "counterpart.ended";
}

/** Sent by a replay to its watchers (`replay-watcher.table.ts`) in the turn in which it progresses. */
export interface ReplayMoved extends Message {
  readonly type: "replay.moved";
  readonly replayId: string;
  /**
   * `settled`: more copies have results. `ended`: the replay is in an end state. `judged`: all judging is complete.
   * `removed`: its rows are gone.
   */
  readonly what: "settled" | "ended" | "judged" | "removed";
}

/**
 * Sent by the replay's search when the search stops, or when no runner claimed a copy for a day. Stops a replay in
 * progress. If the replay has finished, ends only its judging.
 */
interface EndReplay extends Message {
  readonly type: "replay.end";
}

/** Sent by another replay or an iteration of the search, when the search's budget becomes full or is no longer full. */
interface BudgetMoved extends Message {
  readonly type: "purse.moved";
}

/** The messages to a replay. */
export type ReplayMessage =
  | BeginReplay
  | StopReplay
  | EndReplay
  | ForgetReplay
  | CounterpartEnded
  | BudgetMoved
  | OwnerMessage
  | RunClaimed;

/** Refers to a replay by workspace and replay id. */
export const replayRef = reference<ReplayMessage>("replay");

/** Returns the lane in which the replay's runs wait for a runner. The replays of a search share one lane. */
export function laneOfReplay({ id, search }: Pick<ReplayRow, "id" | "search">): string {
  return search === null ? `replay:${id}` : laneOfSearch(search.searchId);
}

/** Returns the lane of a search's replays. The search sets the limit of this lane. */
export function laneOfSearch(searchId: string): string {
  return `search:${searchId}`;
}
