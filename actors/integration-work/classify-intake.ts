import type { Message, TurnReading } from "../../runtime/turn.js";
import { findResource } from "../resources/resource.table.js";
import type { CheckIntake, IntakeMessage } from "./delivery.messages.js";

/** The integration is gone. */
interface IntakeGone extends Message {
  readonly type: "intake.gone";
}

/** The integration is still there. No state takes it. */
interface IntakeStays extends Message {
  readonly type: "intake.stays";
}

export type IntakeEvent = IntakeGone | IntakeStays | Exclude<IntakeMessage, CheckIntake>;

/** Classifies each message to an intake as an event of its machine. Reads only. */
export function classifyIntake(message: IntakeMessage, _state: unknown, turn: TurnReading): IntakeEvent {
  if (message.type !== "intake.check") return message;
  const { partition, id } = turn.self;
  const isThere = findResource(turn, partition, "integration", id) !== undefined;
  return { type: isThere ? "intake.stays" : "intake.gone" };
}
