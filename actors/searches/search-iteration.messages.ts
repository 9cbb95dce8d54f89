import { reference } from "../../runtime/reference.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { Keyed } from "../resources/repeated-request.js";
import type { OwnerMessage, RunClaimed } from "../runs/run.messages.js";
import type { Proposed } from "./agent/proposal.js";
import type { FailureCause } from "./rules/reflection.js";

/** The runner that says it holds the run, and the fence of its claim; checked again in the turn. */
export interface HeldRun {
  readonly runId: string;
  readonly runnerId: string;
  readonly fence: number;
}

/** From the search, in the turn that wrote the iteration's row: queues the agent's run. */
interface BeginIteration extends Message {
  readonly type: "iteration.begin";
}

/** From the edge: what the agent proposes, or the faults of its form. Counted as an attempt either way. */
export interface ProposeCandidates extends Answered<CandidatesProposed | Refusal>, Keyed, HeldRun {
  readonly type: "candidates.propose";
  readonly proposed: Proposed;
}

export interface CandidatesProposed {
  readonly candidates: readonly {
    readonly candidateId: string;
    readonly name: string;
    readonly fingerprint: string;
  }[];
  /** How many more its iteration may propose. */
  readonly left: number;
  readonly replayed: boolean;
}

/** From the edge: a reflection's agent records a cause. A second one for a task replaces the first. */
export interface RecordCause extends Answered<CauseRecorded | Refusal>, Keyed, HeldRun {
  readonly type: "cause.record";
  readonly taskId: string;
  readonly cause: FailureCause;
  readonly evidence: string;
  readonly suggestion: string | null;
}

export interface CauseRecorded {
  readonly taskId: string;
  readonly cause: FailureCause;
  readonly replayRunId: string;
  readonly replayed: boolean;
}

/** From its search, which stopped: its run is withdrawn. */
interface StopIteration extends Message {
  readonly type: "iteration.stop";
}

/** From its search, which is removed: its rows are gone, its runs go. */
export interface ForgetIteration extends Message {
  readonly type: "iteration.forget";
  readonly runIds: readonly string[];
}

export type SearchIterationMessage =
  | BeginIteration
  | ProposeCandidates
  | RecordCause
  | StopIteration
  | ForgetIteration
  | OwnerMessage
  | RunClaimed;

/** An iteration of a search, by its own id: `SearchIterationRow.id`. */
export const searchIterationRef = reference<SearchIterationMessage>("search-iteration");
