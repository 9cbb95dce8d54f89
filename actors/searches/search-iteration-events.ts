import type { Answered, Message, Woken } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { AdmittedCandidate } from "./admit-candidates.js";
import type { SearchIterationRow } from "./search.js";
import type {
  BeginIteration,
  CandidatesProposed,
  CauseRecorded,
  ForgetIteration,
  ProposeCandidates,
  RecordCause,
  SearchIterationMessage,
  StopIteration,
} from "./search-iteration.messages.js";

/** A runner took the agent's run. */
interface AgentTaken extends Message {
  readonly type: "agent.taken";
}
/** Its run is over: it ended, failed, or its runner was lost and it is run again. */
interface AgentOver extends Message {
  readonly type: "agent.ended" | "agent.failed" | "agent.lost";
  /** The iteration with what the run reported. */
  readonly row: SearchIterationRow;
}
/** A run that was withdrawn is over: what it reported counts. */
interface AgentSettled extends Message {
  readonly type: "agent.settled";
  readonly row: SearchIterationRow;
}
/** No runner took the run for a day. */
interface AgentUnclaimed extends Message {
  readonly type: "agent.unclaimed";
}
interface ProposalAdmitted extends Omit<ProposeCandidates, "type"> {
  readonly type: "proposal.admitted";
  readonly admitted: readonly AdmittedCandidate[];
}
/** What is proposed is refused, and counts as an attempt. */
interface ProposalRefused extends Answered<Refusal> {
  readonly type: "proposal.refused";
  readonly refusal: Refusal;
}
interface CauseTaken extends Omit<RecordCause, "type"> {
  readonly type: "cause.taken";
}
/** A request of its agent that is refused for who asks, or when. */
interface AgentRefused extends Answered<Refusal> {
  readonly type: "agent.refused";
  readonly refusal: Refusal;
}
/** A request of its agent under a key that was taken before. */
interface AgentRepeated extends Answered<CandidatesProposed | CauseRecorded> {
  readonly type: "agent.repeated";
  readonly answer: CandidatesProposed | CauseRecorded;
}
/** A message that changes nothing. */
interface Other extends Message {
  readonly type: "iteration.other";
}

/** The messages that an iteration gets. */
export type IterationIncoming = SearchIterationMessage | Woken;

/** A message classified by its effect, with what was read to classify it. */
export type IterationEvent =
  | BeginIteration
  | AgentTaken
  | AgentOver
  | AgentSettled
  | AgentUnclaimed
  | ProposalAdmitted
  | ProposalRefused
  | CauseTaken
  | AgentRefused
  | AgentRepeated
  | StopIteration
  | ForgetIteration
  | Other;
