import type { Message, TurnReading } from "../../runtime/turn.js";
import { tasks } from "../tasks/task.table.js";
import type { DecisionSetMessage, DiscardDecisions, DraftDecisions, MergeDecisions } from "./decision-set.messages.js";

/** A set was drafted for a task that is there. */
export interface DraftTaken extends Omit<DraftDecisions, "type"> {
  readonly type: "draft.taken";
  /** The task's. */
  readonly teamId: string;
}

/** A set was drafted for a task that does not exist. */
interface DraftOfNothing extends Message {
  readonly type: "draft.of-nothing";
}

/** A classified message, with what was read to classify it. */
export type DecisionSetEvent = DraftTaken | DraftOfNothing | MergeDecisions | DiscardDecisions;

/** Classifies a message as an event of the machine. Reads only. */
export function classifyDecisionSet(message: DecisionSetMessage, _state: unknown, turn: TurnReading): DecisionSetEvent {
  if (message.type !== "decisions.draft") return message;
  const task = tasks.get(turn, turn.self.partition, turn.self.id);
  return task === undefined ? { type: "draft.of-nothing" } : { ...message, type: "draft.taken", teamId: task.teamId };
}
