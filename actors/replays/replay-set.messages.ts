import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Caller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { StationPlace } from "./run-refusal.js";

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

export interface AddEntry extends SetMessage, Keyed {
  readonly type: "entry.add";
  readonly setId: string;
  readonly runId: string;
}

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

/** The team or its workspace is gone: removes all of its sets. */
export interface DissolveSets extends Message {
  readonly type: "sets.dissolve";
}

export type ReplaySetMessage = OpenSet | RenameSet | DeleteSet | AddEntry | RemoveEntry | MarkGuard | DissolveSets;

/** The replay sets of a team, by workspace and team. */
export const replaySetsRef = reference<ReplaySetMessage>("replay-sets");
