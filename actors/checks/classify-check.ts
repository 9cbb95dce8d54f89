import type { TurnReading } from "../../runtime/turn.js";
import type { JudgingSetup } from "../lines/fingerprint.js";
import type { Refusal } from "../refusal.js";
import type { CheckMessage, StartCheck } from "./check.messages.js";
import { isDecided, replayChecks } from "./check.table.js";
import type { CheckEvent } from "./check-events.js";
import { readSides } from "./check-sides.js";
import { prepareCheck } from "./prepare-check.js";
import { decide } from "./verdict.js";

/** The event of each message to a check. Reads only. */
export function classifyCheck(judging: JudgingSetup) {
  return (message: CheckMessage, _state: unknown, turn: TurnReading): CheckEvent => {
    switch (message.type) {
      case "check.start":
        return toStart(message, turn, judging);
      case "replay.moved":
        return toMoved(turn);
      // No transition takes a message of an unknown type.
      default:
        return message;
    }
  };
}

function toStart(message: StartCheck, turn: TurnReading, judging: JudgingSetup): CheckEvent {
  const start = prepareCheck(message, turn, judging);
  switch (start.to) {
    case "start":
      if (replayChecks.get(turn, turn.self.partition, turn.self.id) !== undefined)
        return { type: "start.refused", refusal: taken };
      return { type: "start.made", message, prepared: start.prepared };
    case "refuse":
      return { type: "start.refused", refusal: start.refusal };
    default: {
      const how = start.to === "reuse" ? "reused" : "replayed";
      return { type: "start.answered", started: { checkId: start.checkId, how } };
    }
  }
}

const taken: Refusal = { refused: "conflict", detail: "The check has started." };

/** What it finds once one of its replays moved. What it was told too late changes nothing. */
function toMoved(turn: TurnReading): CheckEvent {
  const row = replayChecks.get(turn, turn.self.partition, turn.self.id);
  if (row === undefined || row.endedAt !== null) return { type: "check.other" };
  const sides = readSides(turn, turn.self.partition, row);
  const decision = decide(sides, row.threshold.mostRegressions);
  if (isDecided(row) || decision.verdict === "running") return { type: "moved.on", sides, decision };
  return { type: `moved.${decision.verdict}`, sides, decision };
}
