import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Caller } from "../caller.js";
import type { Money } from "../money.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { StationPlace } from "./run-refusal.js";
import type { StartWarning } from "./start-warnings.js";

/** What became of a change of a set. */
export interface SetChanged {
  readonly setId: string;
  /** Whether an earlier request under the same key made it. */
  readonly replayed: boolean;
}

interface SetMessage extends Answered<SetChanged | Refusal> {
  readonly caller: Caller;
}

/** Opens an empty set. */
export interface OpenSet extends SetMessage, StationPlace, Keyed {
  readonly type: "set.open";
  readonly name: string;
}

export interface RenameSet extends SetMessage {
  readonly type: "set.rename";
  readonly setId: string;
  readonly name: string;
}

/** Removes a set with its entries, which lets go of their runs. */
export interface DeleteSet extends SetMessage {
  readonly type: "set.delete";
  readonly setId: string;
  /** The client for the change record. */
  readonly client: string | null;
}

/** Most runs of a set (replays, Limits). */
export const MAX_ENTRIES = 50;

/** Adds runs to a set: all of them, or none. */
export type AddEntries = SetMessage & Keyed & AddedRuns & { readonly type: "entry.add"; readonly setId: string };

/** One run, or several: at least one, each once. */
export type AddedRuns = { readonly runId: string } | { readonly runIds: readonly string[] };

export interface RemoveEntry extends SetMessage {
  readonly type: "entry.remove";
  readonly setId: string;
  readonly runId: string;
}

/** Marks the set as the one that changes of its station are checked with, or takes the mark away. */
export interface MarkGuard extends SetMessage {
  readonly type: "guard.mark";
  readonly setId: string;
  readonly guardsChanges: boolean;
  /** The client for the change record. */
  readonly client: string | null;
}

/** Starts a replay of the set, and a baseline beside it when the set has none. */
export interface StartReplay extends Answered<ReplayStarted | Refusal>, Keyed {
  readonly type: "replay.start";
  readonly caller: Caller;
  /** The client for the change record. */
  readonly client: string | null;
  readonly setId: string;
  /** The id of a proposed candidate of the station, or `live`. */
  readonly candidate: string;
  /** Above 0, at most 1,000. */
  readonly ceiling: Money;
  /** 1 to 5. */
  readonly repeats: number;
  /** False for no replay with the answer after a baseline that starts; true by default. */
  readonly oracle?: boolean;
}

export interface ReplayStarted {
  readonly replayId: string;
  /** The ceiling that holds. */
  readonly ceiling: Money;
  /** The baseline that started: the replay itself, or another beside it. Null when the set has one. */
  readonly baseline: {
    readonly id: string;
    readonly ceiling: Money;
    readonly status: "started" | "starting";
  } | null;
  /** The replay with the answer that follows once that baseline has finished, with its ceiling; null for none. */
  readonly oracle: { readonly ceiling: Money } | null;
  readonly warnings: readonly StartWarning[];
  readonly replayed: boolean;
}

/** From a replay of the live config, in the turn in which it finished. */
export interface LiveReplayFinished extends Message {
  readonly type: "replay.finished";
  readonly replayId: string;
}

/** The team or its workspace is gone: removes all of its sets. */
export interface DissolveSets extends Message {
  readonly type: "sets.dissolve";
}

/** At the start of the service: holds the commits of entries of an earlier release. */
export interface HoldEntryCommits extends Message {
  readonly type: "commits.hold";
}

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

/** The replay sets of a team, by workspace and team. */
export const replaySetsRef = reference<ReplaySetMessage>("replay-sets");
