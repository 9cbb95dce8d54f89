/**
 * A check of a planned change, `replay-check/<id>`: it replays the guarding set of its station under the planned config
 * and compares the result with the live config. `classifyCheck` turns each message into an event before the step. If an
 * event's name differs from its message's name, the message follows in brackets.
 *
 * | state           | moved by                         | next      | also                                        |
 * |-----------------|----------------------------------|-----------|---------------------------------------------|
 * | new             | start.made (check.start)         | running   | starts its replay, and a baseline if the    |
 * |                 |                                  |           | set has none; watches both replays; writes  |
 * |                 |                                  |           | its row and a change record                 |
 * | any             | start.answered (check.start)     | same      | answers with an earlier check that is still |
 * |                 |                                  |           | valid, or was started with this key         |
 * | any             | start.refused (check.start)      | same      | answers with the refusal                    |
 * | running         | moved.on (replay.moved)          | running   | counts regressed and compared tasks         |
 * | running         | moved.failed (replay.moved)      | failed    | too many regressions; replays may continue  |
 * | running         | moved.passed (replay.moved)      | passed    | both ended, with enough scored tasks        |
 * | running         | moved.undecided (replay.moved)   | undecided | both ended or are gone; stores why          |
 * | failed, passed, | moved.on (replay.moved)          | same      | updates the counts until the replays end    |
 * | undecided       |                                  |           |                                             |
 * | any             | check.forget                     | new       | removes its rows                            |
 * | any             | check.other (replay.moved, late) | same      |                                             |
 *
 * 1. Every verdict except `running` is final (`verdict.ts`). The turn that finds such a verdict writes it to
 * the row, and stores the results.
 * 2. The check watches and pins both replays until it has a verdict and both replays have ended without running runs
 * (or are gone). Then it stores the results again.
 * 3. In `new` the check has no rows. Every event except `start.made` stops the actor there.
 * 4. If the set has the maximum number of checks, a start tells the oldest ended check to remove itself
 * (`prepare-check.ts`).
 */
import { createChart, type InTurn, type NoContext, toEvent } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import type { TurnReading } from "../../runtime/turns/turn.js";
import type { Refusal } from "../refusal.js";
import type { ReplayJudging } from "../replays/judging/model-terms.js";
import { type CheckMessage, replayCheckRef, type StartCheck } from "./check.messages.js";
import { isDecided, replayChecks } from "./check.table.js";
import { forgetCheck, startCheck, takeMoved } from "./check.transitions.js";
import { readSides } from "./check-sides.js";
import { prepareCheck } from "./prepare-check.js";
import { decide } from "./verdict.js";

/** Returns a function that finds the event for each message to a check. The function only reads. */
function classifyCheck(judging: ReplayJudging) {
  return (message: CheckMessage, _state: unknown, turn: TurnReading) => {
    switch (message.type) {
      case "check.start":
        return toStart(message, turn, judging);
      case "replay.moved":
        return toMoved(turn);
      // The event of `check.forget` is the message itself. A message of an unknown type has no transition.
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

/**
 * Returns the event for a progress notification from a replay. Returns `check.other` if the check has no row or has
 * ended.
 */
function toMoved(turn: TurnReading) {
  const row = replayChecks.get(turn, turn.self.partition, turn.self.id);
  if (row === undefined || row.endedAt !== null) return toEvent("check.other");
  const sides = readSides(turn, turn.self.partition, row);
  const decision = decide(sides, row.threshold.mostRegressions);
  if (isDecided(row) || decision.verdict === "running") return toEvent("moved.on", { sides, decision });
  return toEvent(`moved.${decision.verdict}`, { sides, decision });
}

const { on, machine } = createChart<NoContext, ReturnType<ReturnType<typeof classifyCheck>>>();

const stopActor = ({ turn }: InTurn) => turn.stop();

/** Transitions that all states except `new` share. */
const decided = {
  ...on("start.answered", ({ turn, started }) => turn.reply(started)),
  ...on("start.refused", ({ turn, refusal }) => turn.reply(refusal)),
  ...on("moved.on", (event) => takeMoved(event.turn, event)),
  ...on("check.forget", "new", ({ turn }) => forgetCheck(turn), stopActor),
  ...on("check.other"),
};

const checkMachine = machine({
  id: "replay-check",
  initial: "new",
  states: {
    new: {
      on: {
        ...on("start.made", "running", (event) => startCheck(event, event.prepared, event.judging)),
        ...on("start.answered", ({ turn, started }) => turn.reply(started), stopActor),
        ...on("start.refused", ({ turn, refusal }) => turn.reply(refusal), stopActor),
        ...on("check.forget", stopActor),
        ...on("check.other", stopActor),
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

/** Defines the check actor (see the table above). `judging` describes how this deployment scores copies. */
export function replayCheckActor(judging: ReplayJudging) {
  return defineActor(replayCheckRef, { machine: checkMachine, classify: classifyCheck(judging), version: 1 });
}
