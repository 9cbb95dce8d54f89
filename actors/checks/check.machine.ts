/**
 * A check of a planned change, `replay-check/<id>`: the guarding set of its station, replayed under the planned config
 * beside the live one. Messages are classified before the step. Where an event has another name
 * than its message, the message follows in brackets.
 *
 * | state           | moved by                            | next      | also                                        |
 * |-----------------|-------------------------------------|-----------|---------------------------------------------|
 * | new             | start.made (check.start)            | running   | its row, the rows of its replay and of a    |
 * |                 |                                     |           | baseline where the set has none: they begin |
 * |                 |                                     |           | and tell it what becomes of them; a change  |
 * |                 |                                     |           | record                                      |
 * | any             | start.answered (check.start)        | same      | answered with an earlier check: it holds    |
 * |                 |                                     |           | still, or was started under this key        |
 * | any             | start.refused (check.start)         | same      | refused                                     |
 * | running         | moved.on (replay.moved)             | running   | counts what regressed and what compares     |
 * | running         | moved.failed (replay.moved)         | failed    | more regressed than may; replays may go on  |
 * | running         | moved.passed (replay.moved)         | passed    | both ended, with enough scored              |
 * | running         | moved.undecided (replay.moved)      | undecided | both ended or are gone, and why             |
 * | failed, passed, | moved.on (replay.moved)             | same      | what was found, as the replays end          |
 * | undecided       |                                     |           |                                             |
 * | any             | check.forget                        | new       | removes its rows                            |
 * | any             | check.other (replay.moved, late)    | same      |                                             |
 *
 * 1. A verdict but `running` is never left (`verdict.ts`); it is in the row in the turn that finds it.
 * 2. Until nothing of its replays runs any more it watches and pins both; then what it shows is kept.
 * 3. In `new` it has no rows, and stops.
 * 4. A start tells the oldest checks of its set to go where there is no room for another (`check-room.ts`).
 */
import { chartOf, type InTurn, type NoContext, toEvent } from "../../runtime/chart.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { TurnReading } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { ReplayJudging } from "../replays/judging/model-terms.js";
import { type CheckMessage, replayCheckRef, type StartCheck } from "./check.messages.js";
import { isDecided, replayChecks } from "./check.table.js";
import { forgetCheck, startCheck, takeMoved } from "./check.transitions.js";
import { readSides } from "./check-sides.js";
import { prepareCheck } from "./prepare-check.js";
import { decide } from "./verdict.js";

/** The event of each message to a check. Reads only. */
function classifyCheck(judging: ReplayJudging) {
  return (message: CheckMessage, _state: unknown, turn: TurnReading) => {
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

function toStart(message: StartCheck, turn: TurnReading, judging: ReplayJudging) {
  const refuse = (refusal: Refusal) => toEvent("start.refused", { ...message, refusal });
  const start = prepareCheck(message, turn, judging);
  switch (start.to) {
    case "start":
      if (replayChecks.get(turn, turn.self.partition, turn.self.id) !== undefined) return refuse(taken);
      return toEvent("start.made", { ...message, prepared: start.prepared, judging });
    case "refuse":
      return refuse(start.refusal);
    default: {
      const how = start.to === "reuse" ? "reused" : "replayed";
      return toEvent("start.answered", { ...message, started: { checkId: start.checkId, how } });
    }
  }
}

const taken: Refusal = { refused: "conflict", detail: "The check has started." };

/** What it finds once one of its replays moved. What it was told too late changes nothing. */
function toMoved(turn: TurnReading) {
  const row = replayChecks.get(turn, turn.self.partition, turn.self.id);
  if (row === undefined || row.endedAt !== null) return toEvent("check.other");
  const sides = readSides(turn, turn.self.partition, row);
  const decision = decide(sides, row.threshold.mostRegressions);
  if (isDecided(row) || decision.verdict === "running") return toEvent("moved.on", { sides, decision });
  return toEvent(`moved.${decision.verdict}`, { sides, decision });
}

const { on, machine } = chartOf<NoContext, ReturnType<ReturnType<typeof classifyCheck>>>();

const leave = ({ turn }: InTurn) => turn.stop();

/** Transitions of a check that is decided. */
const decided = {
  ...on("start.answered", ({ turn, started }) => turn.reply(started)),
  ...on("start.refused", ({ turn, refusal }) => turn.reply(refusal)),
  ...on("moved.on", (event) => takeMoved(event.turn, event)),
  ...on("check.forget", "new", ({ turn }) => forgetCheck(turn), leave),
  ...on("check.other"),
};

const checkMachine = machine({
  id: "replay-check",
  initial: "new",
  states: {
    new: {
      on: {
        ...on("start.made", "running", (event) => startCheck(event, event.prepared, event.judging)),
        ...on("start.answered", ({ turn, started }) => turn.reply(started), leave),
        ...on("start.refused", ({ turn, refusal }) => turn.reply(refusal), leave),
        ...on("check.forget", leave),
        ...on("check.other", leave),
      },
    },
    running: {
      on: {
        ...decided,
        ...on("moved.failed", "failed", (event) => takeMoved(event.turn, event)),
        ...on("moved.passed", "passed", (event) => takeMoved(event.turn, event)),
        ...on("moved.undecided", "undecided", (event) => takeMoved(event.turn, event)),
      },
    },
    failed: { on: decided },
    passed: { on: decided },
    undecided: { on: decided },
  },
});

/** See the table above; `judging` is what scores the copies of its replays. */
export function replayCheckActor(judging: ReplayJudging) {
  return defineActor(replayCheckRef, { machine: checkMachine, classify: classifyCheck(judging), version: 1 });
}
