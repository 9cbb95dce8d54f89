import { reference } from "../../../runtime/cells/reference.js";
import type { Answered, Message } from "../../../runtime/turns/turn.js";
import type { Caller } from "../../caller.js";
import type { Money } from "../../money.js";
import type { Refusal } from "../../refusal.js";
import type { Keyed } from "../../resources/repeated-request.js";
import type { StartWarning } from "../starting/start-warnings.js";
import type { StationPlace } from "./run-refusal.js";

/** The result of a change to a set. */
export interface SetChanged {
  readonly setId: string;
  /** Whether an earlier request with the same idempotency key made the change. */
  readonly replayed: boolean;
}

interface SetMessage extends Answered<SetChanged | Refusal> {
  readonly caller: Caller;
}

/** Creates an empty set. */
export interface OpenSet extends SetMessage, StationPlace, Keyed {
  readonly type: "set.open";
  readonly name: string;
}

/** Renames a set. */
export interface RenameSet extends SetMessage {
  readonly type: "set.rename";
  readonly setId: string;
  readonly name: string;
}

/** Removes a set with its entries and replays. The entries release their runs. */
export interface DeleteSet extends SetMessage {
  readonly type: "set.delete";
  readonly setId: string;
  /** The client that the change record names; null if it names no client. */
  readonly client: string | null;
}

/** Maximum number of runs in a set (see "Limits" in the replays document). */
export const MAX_ENTRIES = 50;

/** Adds either all of the runs to a set, or none. */
export type AddEntries = SetMessage & Keyed & AddedRuns & { readonly type: "entry.add"; readonly setId: string };

/** One run, or several: at least one, without duplicates. */
export type AddedRuns = { readonly runId: string } | { readonly runIds: readonly string[] };

/** Removes a run from a set. */
export interface RemoveEntry extends SetMessage {
  readonly type: "entry.remove";
  readonly setId: string;
  readonly runId: string;
}

/** Sets or clears a set's guard mark. The marked set of a station is used to check planned changes of the station. */
export interface MarkGuard extends SetMessage {
  readonly type: "guard.mark";
  readonly setId: string;
  readonly guardsChanges: boolean;
  /** The client that the change record names; null if it names no client. */
  readonly client: string | null;
}

/** Starts a replay of the set, and a baseline with it if the set has none. */
export interface StartReplay extends Answered<ReplayStarted | Refusal>, Keyed {
  readonly type: "replay.start";
  readonly caller: Caller;
  /** The client that the change record names; null if it names no client. */
  readonly client: string | null;
  readonly setId: string;
  /** The id of a candidate that was proposed for the station, or `live`. */
  readonly candidate: string;
  /** More than 0, at most 1,000. */
  readonly ceiling: Money;
  /** From 1 to 5. */
  readonly repeats: number;
  /** If this request starts a baseline: whether a replay with the answer may follow the baseline. True by default. */
  readonly oracle?: boolean;
}

/** The answer to {@link StartReplay}. */
export interface ReplayStarted {
  readonly replayId: string;
  /** The ceiling of the replay. */
  readonly ceiling: Money;
  /**
   * The baseline that this request starts: the replay itself, or a separate replay. Null if the set already has a
   * baseline, or if the started baseline has been removed.
   */
  readonly baseline: {
    readonly id: string;
    readonly ceiling: Money;
    readonly status: "started" | "starting";
  } | null;
  /** The replay with the answer that follows the new baseline; null if no such replay follows. */
  readonly oracle: { readonly ceiling: Money } | null;
  readonly warnings: readonly StartWarning[];
  readonly replayed: boolean;
}

/** Sent by a replay of the live config in the turn in which it finishes. */
export interface LiveReplayFinished extends Message {
  readonly type: "replay.finished";
  readonly replayId: string;
}

/** Removes all sets of a team after the team or its workspace was deleted. */
export interface DissolveSets extends Message {
  readonly type: "sets.dissolve";
}

/** Sent at service start. Adds the missing holds on the commits of entries that an earlier release stored. */
export interface HoldEntryCommits extends Message {
  readonly type: "commits.hold";
}

/** The messages to a team's replay sets. */
export type ReplaySetMessage =
  | OpenSet
  | RenameSet
  | DeleteSet
  | AddEntries
  | RemoveEntry
  | MarkGuard
  | StartReplay
  | LiveReplayFinished
  | HoldEntryCommits
  | DissolveSets;

/** The replay sets of a team, addressed by workspace and team. */
export const replaySetsRef = reference<ReplaySetMessage>("replay-sets");
