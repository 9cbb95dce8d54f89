import { reference } from "../../../runtime/cells/reference.js";
import type { Answered, Message } from "../../../runtime/turns/turn.js";
import type { Refusal } from "../../refusal.js";
import type { Keyed } from "../../resources/repeated-request.js";
import type { OwnerMessage, RunClaimed } from "../../runs/run.messages.js";
import type { Proposed } from "../agent/proposal.js";
import type { FailureCause } from "../rules/reflection.js";

/** The claim of the agent's run, as stated by the requesting runner. The turn checks the claim again. */
export interface ClaimedRun {
  readonly runId: string;
  readonly runnerId: string;
  readonly fence: number;
}

/** Sent by the search in the turn that writes the iteration's row: queues the agent's run. */
interface BeginIteration extends Message {
  readonly type: "iteration.begin";
}

/** Sent by the edge: the agent's proposal, or its format faults. A proposal with faults also counts as an attempt. */
export interface ProposeCandidates extends Answered<CandidatesProposed | Refusal>, Keyed, ClaimedRun {
  readonly type: "candidates.propose";
  readonly proposed: Proposed;
}

/** The answer to {@link ProposeCandidates}. */
export interface CandidatesProposed {
  readonly candidates: readonly {
    readonly candidateId: string;
    readonly name: string;
    readonly fingerprint: string;
  }[];
  /** How many more candidates the agent's iteration may propose. */
  readonly left: number;
  readonly replayed: boolean;
}

/** Sent by the edge: a reflection's agent records a cause. A second cause for a task replaces the first. */
export interface RecordCause extends Answered<CauseRecorded | Refusal>, Keyed, ClaimedRun {
  readonly type: "cause.record";
  readonly taskId: string;
  readonly cause: FailureCause;
  readonly evidence: string;
  readonly suggestion: string | null;
}

/** The answer to {@link RecordCause}. */
export interface CauseRecorded {
  readonly taskId: string;
  readonly cause: FailureCause;
  readonly replayRunId: string;
  readonly replayed: boolean;
}

/** Sent by the iteration's search when the search stops. Withdraws the run. */
interface StopIteration extends Message {
  readonly type: "iteration.stop";
}

/**
 * Sent by the iteration's search when the search is removed. Removes the iteration's runs; the search has already
 * removed the iteration's rows.
 */
export interface ForgetIteration extends Message {
  readonly type: "iteration.forget";
  readonly runIds: readonly string[];
}

/** The messages to an iteration. */
export type SearchIterationMessage =
  | BeginIteration
  | ProposeCandidates
  | RecordCause
  | StopIteration
  | ForgetIteration
  | OwnerMessage
  | RunClaimed;

/** An iteration of a search, addressed by its own id: `SearchIterationRow.id`. */
export const searchIterationRef = reference<SearchIterationMessage>("search-iteration");
