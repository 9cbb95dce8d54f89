import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Caller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import type { ReplayMoved } from "../replays/replay.messages.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { Objective } from "./rules/objective.js";
import type { SearchWarning } from "./rules/warnings.js";
import type { SearchBudget } from "./search.js";

/** What a person or token asks for, as it was sent: its form was looked at, its values are refused in the turn. */
export interface SearchTerms {
  readonly setId: string;
  readonly budget: SearchBudget;
  readonly agent: { readonly harness: string; readonly model: string | null; readonly effort: string | null };
  /** Null for the one that follows from the set's health. */
  readonly objective: string | null;
}

/** From the edge, to a search with a new id: starts it at a station of the team. */
export interface StartSearch extends Answered<SearchStarted | Refusal>, Keyed {
  readonly type: "search.start";
  readonly caller: Caller;
  /** The client for the change record. */
  readonly client: string | null;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly terms: SearchTerms;
}

export interface SearchStarted {
  readonly searchId: string;
  readonly seedReplayId: string;
  readonly objective: Objective;
  readonly warnings: readonly SearchWarning[];
  /** Whether an earlier request under the same key started it. */
  readonly replayed: boolean;
}

interface SearchStopped {
  /** Whether an earlier request under the same key stopped it. */
  readonly replayed: boolean;
}

/** Ends a search under way: its agent's run is withdrawn, its replays are stopped. */
export interface StopSearch extends Answered<SearchStopped | Refusal>, Keyed {
  readonly type: "search.stop";
  /** Null for the service itself, which is not in the change log. */
  readonly caller: Caller | null;
  /** The client for the change record. */
  readonly client: string | null;
}

/** Its station, line or team is gone. */
export interface StationLeft extends Message {
  readonly type: "station.left";
}

/** From an iteration: its agent had candidates admitted, whose rows are there. */
interface CandidatesAdmitted extends Message {
  readonly type: "candidates.admitted";
}

/** From an iteration: it ended or failed, as its row says. */
interface IterationOver extends Message {
  readonly type: "iteration.over";
}

/** It is stored too long, or its team is gone: removes it with its iterations and candidates, in any state. */
interface ForgetSearch extends Message {
  readonly type: "search.forget";
}

export type SearchMessage =
  | StartSearch
  | StopSearch
  | StationLeft
  | CandidatesAdmitted
  | IterationOver
  | ForgetSearch
  | ReplayMoved;

/** A search of a workspace. */
export const searchRef = reference<SearchMessage>("search");

/** The lane in which the runs of its agent wait for a runner. */
export function laneOfSearchAgent(searchId: string): string {
  return `search-agent:${searchId}`;
}
