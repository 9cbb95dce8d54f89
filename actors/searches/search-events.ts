import type { Answered, Message, Woken } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { NextStep } from "./rules/decide-next.js";
import type { SearchCandidateRow, SearchIterationRow } from "./search.js";
import type {
  ForgetSearch,
  SearchMessage,
  SearchStarted,
  SearchStopped,
  StartSearch,
  StopSearch,
} from "./search.messages.js";
import type { SearchStart } from "./start-search.js";

/** A row before and after a message. */
export interface RowChange<Row> {
  readonly before: Row;
  readonly after: Row;
}

/** What a message changed that the search waited for, and what it does next. */
export interface SearchSteps {
  /** Candidates whose replays ended since, with their figures. */
  readonly candidates: readonly RowChange<SearchCandidateRow>[];
  /** Reflections that ended since, with what came of them. */
  readonly iterations: readonly RowChange<SearchIterationRow>[];
  readonly steps: readonly NextStep[];
}

interface SearchMayStart extends Omit<StartSearch, "type"> {
  readonly type: "search.starts";
  readonly start: SearchStart;
}
interface StartRefused extends Answered<Refusal> {
  readonly type: "start.refused";
  readonly refusal: Refusal;
}
/** A start under a key that was taken before. */
interface StartRepeated extends Answered<SearchStarted | Refusal> {
  readonly type: "start.repeated";
  readonly answer: SearchStarted | Refusal;
}
/** It goes on, in the state that its steps lead to. */
interface StepsTaken extends Message {
  readonly type: "steps.seeding" | "steps.searching" | "steps.holding-out" | "steps.finished" | "steps.stopped";
  readonly taken: SearchSteps;
}
/** The pairs of a candidate are judged: its figures have them. */
interface CandidateMeasured extends Message {
  readonly type: "candidate.measured";
  readonly change: RowChange<SearchCandidateRow>;
}
/** A replay is looked at: it goes on until then, or no runner took a copy for too long (null). */
interface ReplayLookedAt extends Message {
  readonly type: "replay.looked-at";
  readonly replayId: string;
  readonly againMs: number | null;
}
interface StopRefused extends Answered<Refusal> {
  readonly type: "stop.refused";
  readonly refusal: Refusal;
}
/** A stop under a key that was taken before. */
interface StopRepeated extends Answered<SearchStopped> {
  readonly type: "stop.repeated";
}
/** A message that changes nothing. */
interface Other extends Message {
  readonly type: "search.other";
}

/** The messages that a search gets. */
export type SearchIncoming = SearchMessage | Woken;

/** A message classified by its effect, with what was read to classify it. */
export type SearchEvent =
  | SearchMayStart
  | StartRefused
  | StartRepeated
  | StepsTaken
  | CandidateMeasured
  | ReplayLookedAt
  | StopSearch
  | StopRefused
  | StopRepeated
  | ForgetSearch
  | Other;
