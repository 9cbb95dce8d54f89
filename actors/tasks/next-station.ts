import type { TurnReading } from "../../runtime/turns/turn.js";
import { findLine, findStation, laterStations } from "../lines/line.queries.js";
import type { RunRow } from "../runs/run.js";
import type { RunOver } from "../runs/run.messages.js";
import type { NextStation, TaskContext } from "./task.js";

/** Number of abandoned attempts in a row after which the task goes to a person. */
const MAX_ABANDONED = 5;

/** Decides where the task goes after its run has ended. Reads only. */
export function nextStation(
  turn: TurnReading,
  run: RunRow | undefined,
  { outcome }: Pick<RunOver, "outcome">,
  { abandoned }: Pick<TaskContext, "abandoned">,
): NextStation {
  if (run === undefined) return { next: "inbox", asks: "The run was deleted." };
  switch (outcome) {
    case "completed":
      return nextStationOfCompleted(turn, run);
    case "abandoned":
      return abandoned + 1 < MAX_ABANDONED
        ? { next: "queued" }
        : { next: "inbox", asks: `${MAX_ABANDONED} runs in a row lost their runner.` };
    case "failed":
      return { next: "inbox", asks: run.failure?.message ?? "The run failed." };
    default:
      return { next: "inbox", asks: run.reason ?? `The run was ${outcome}.` };
  }
}

function nextStationOfCompleted(turn: TurnReading, run: RunRow): NextStation {
  const { ending } = run;
  if (ending?.kind === "ask") return { next: "inbox", asks: ending.question };
  const line = findLine(turn, turn.self.partition, run.lineId);
  if (ending?.kind === "handover") {
    return findStation(line, ending.to) === undefined
      ? { next: "inbox", asks: `It was handed over to ${ending.to}, which the line no longer has.` }
      : { next: "queued", to: ending.to };
  }
  if (laterStations(line, run.stationKey, run.passesTo).length === 0) return { next: "done" };
  return { next: "inbox", asks: ending?.note || "The run ended without handing over." };
}
