/**
 * A check of a planned change, `replay-check/<id>`: the guarding set of its station, replayed under the planned config
 * beside the live one. Messages are classified before the step (`classify-check.ts`). Where an event has another name
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
import { assertEvent, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import type { ReplayJudging } from "../replays/judging/model-terms.js";
import { replayCheckRef } from "./check.messages.js";
import { forgetCheck, startCheck, takeMoved } from "./check.transitions.js";
import type { CheckEvent } from "./check-events.js";
import { classifyCheck } from "./classify-check.js";

/** Transitions of a check that is decided. */
const decided = {
  "start.answered": { actions: "answer" },
  "start.refused": { actions: "refuse" },
  "moved.on": { actions: "takeMoved" },
  "check.forget": { target: "new", actions: ["forget", "leave"] },
  "check.other": { actions: "ignore" },
} as const;

const createMachine = (judging: ReplayJudging) =>
  setup({
    types: { events: {} as Delivered<CheckEvent> },
    actions: {
      start: ({ event }) => {
        assertEvent(event, "start.made");
        const { turn, message, prepared } = event;
        startCheck(turn, message, prepared, judging);
        turn.reply({ checkId: turn.self.id, how: "started" });
      },
      answer: ({ event }) => {
        assertEvent(event, "start.answered");
        event.turn.reply(event.started);
      },
      refuse: ({ event }) => {
        assertEvent(event, "start.refused");
        event.turn.reply(event.refusal);
      },
      takeMoved: ({ event }) => {
        assertEvent(event, ["moved.on", "moved.failed", "moved.passed", "moved.undecided"]);
        takeMoved(event.turn, event);
      },
      forget: ({ event }) => forgetCheck(event.turn),
      leave: ({ event }) => event.turn.stop(),
      ignore: () => undefined,
    },
  }).createMachine({
    id: "replay-check",
    initial: "new",
    states: {
      new: {
        on: {
          "start.made": { target: "running", actions: "start" },
          "start.answered": { target: "new", actions: ["answer", "leave"] },
          "start.refused": { target: "new", actions: ["refuse", "leave"] },
          "check.forget": { target: "new", actions: "leave" },
          "check.other": { target: "new", actions: "leave" },
        },
      },
      running: {
        on: {
          ...decided,
          "moved.failed": { target: "failed", actions: "takeMoved" },
          "moved.passed": { target: "passed", actions: "takeMoved" },
          "moved.undecided": { target: "undecided", actions: "takeMoved" },
        },
      },
      failed: { on: decided },
      passed: { on: decided },
      undecided: { on: decided },
    },
  });

/** See the table above; `judging` is what scores the copies of its replays. */
export function replayCheckActor(judging: ReplayJudging) {
  return defineActor(replayCheckRef, { machine: createMachine(judging), classify: classifyCheck(judging), version: 1 });
}
