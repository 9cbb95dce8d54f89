import { reference } from "../../../runtime/cells/reference.js";
import type { Answered, Message } from "../../../runtime/turns/turn.js";
import type { Caller } from "../../caller.js";
import type { Refusal } from "../../refusal.js";
import type { ReplayMoved } from "../../replays/replay/replay.messages.js";
import type { Keyed } from "../../resources/repeated-request.js";
import type { Objective } from "../rules/objective.js";
import type { SearchWarning } from "../rules/warnings.js";
import type { SearchBudget } from "./search.js";

/**
 * The terms in a request to start a search, as sent. The edge has already validated the form of the terms; the turn
 * refuses invalid values.
 */
export interface SearchTerms {
  readonly setId: string;
  readonly budget: SearchBudget;
  readonly agent: { readonly harness: string; readonly model: string | null; readonly effort: string | null };
  /** Null for the default objective, which depends on the set's health. */
  readonly objective: string | null;
}

/** Sent by the edge to a search with a new id: starts the search at a station of the team. */
export interface StartSearch extends Answered<SearchStarted | Refusal>, Keyed {
  readonly type: "search.start";
  readonly caller: Caller;
  /** The client that the change record names; null if it names no client. */
  readonly client: string | null;
  readonly teamId: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly terms: SearchTerms;
}

/** The answer to {@link StartSearch}. */
export interface SearchStarted {
  readonly searchId: string;
  readonly seedReplayId: string;
  readonly objective: Objective;
  readonly warnings: readonly SearchWarning[];
  /** Whether an earlier request with the same idempotency key started the search. */
  readonly replayed: boolean;
}

interface SearchStopped {
  /** Whether an earlier request with the same idempotency key stopped the search. */
  readonly replayed: boolean;
}

/** Ends a running search: withdraws its agent's run and stops its replays. */
export interface StopSearch extends Answered<SearchStopped | Refusal>, Keyed {
  readonly type: "search.stop";
  /** Null if the service stops the search itself; then there is no change record. */
  readonly caller: Caller | null;
  /** The client that the change record names; null if it names no client. */
  readonly client: string | null;
}

/** Sent when the search's line changed or was removed. The search then checks whether its station is gone. */
export interface StationLeft extends Message {
  readonly type: "station.left";
}

/** Sent by an iteration after its agent's candidates were admitted and their rows written. */
interface CandidatesAdmitted extends Message {
  readonly type: "candidates.admitted";
}

/** Sent by an iteration when it ends or fails. The iteration's row has the details. */
interface IterationOver extends Message {
  readonly type: "iteration.over";
}

/**
 * Sent by retention, or to make space for a new search. Removes the search with its iterations and candidates, in any
 * state.
 */
interface ForgetSearch extends Message {
  readonly type: "search.forget";
}

/** The messages to a search. */
export type SearchMessage =
  | StartSearch
  | StopSearch
  | StationLeft
  | CandidatesAdmitted
  | IterationOver
  | ForgetSearch
  | ReplayMoved;

/** Refers to a search by workspace and search id. */
export const searchRef = reference<SearchMessage>("search");

/** Returns the lane in which the agent's runs wait for a runner. */
export function laneOfSearchAgent(searchId: string): string {
  return `search-agent:${searchId}`;
}
