/**
 * A replay of a set, `replay/<id>`: each of its runs, repeated under one config. Its rows were written with its start
 * (`start-replay.ts`). Messages are classified before the step (`classify-replay.ts`). Where an event has another name
 * than its message, the message follows in brackets.
 *
 * | state          | moved by                           | next        | also                                     |
 * |----------------|------------------------------------|-------------|------------------------------------------|
 * | new            | replay.begin                       | queued      | the limit of its lane                    |
 * | queued,running | copies.make (woken `make`)         | same        | makes 50 copies; fills its queue         |
 * | queued         | copies.make-last (woken `make`)    | finished    | none of its runs can be repeated         |
 * | queued,running | copy.taken (run.claimed)           | running     | fills its queue                          |
 * | queued,running | step.on (run.over, purse.moved,    | same        | a copy settles, and is judged if there   |
 * |                | woken `settle`)                    |             | is a judge, or goes back for another     |
 * |                |                                    |             | attempt; fills its queue. At the ceiling |
 * |                |                                    |             | the queued runs are withdrawn, but those |
 * |                |                                    |             | of copies that may start again           |
 * | queued,running | judging.answered (effect.ended)    | same        | a copy has its result, or the question   |
 * |                |                                    |             | waits; `settle`                          |
 * | queued,running | judging.on (woken `judging`)       | same        | asks what is to be asked                 |
 * | queued,running | step.finished (run.over, `settle`) | finished    | every copy has a result; second looks or |
 * |                |                                    |             | pairs begin                              |
 * | queued,running | step.over-budget (the same)        | over-budget | at the ceiling; the last that ran        |
 * |                |                                    |             | settles, others never started, and no    |
 * |                |                                    |             | lost one may start again                 |
 * | queued,running | replay.stop, also replay.end       | stopped     | its runs are withdrawn, its judging ends |
 * |                |                                    |             | a change record                          |
 * | finished       | judging.answered, judging.on       | same        | second judgings and readings of pairs    |
 * | finished       | judging.end (replay.end)           | same        | its judging ends                         |
 * | finished       | recheck.over (run.over)            | same        | a second check                           |
 * | finished       | counterpart.ended                  | same        | pairs begin                              |
 * | finished,      | step.on (run.over)                 | same        | a copy settles that ran at the stop      |
 * | stopped,       |                                    |             |                                          |
 * | over-budget    |                                    |             |                                          |
 * | the same       | copies.make (woken `make`)         | same        | makes 50 copies, which never start       |
 * | any            | stop.refused (replay.stop)         | same        | refused                                  |
 * | any but new    | stop.repeated (replay.stop under a | same        | answered again                           |
 * |                | key that was taken before)         |             |                                          |
 * | any            | replay.forget                      | removing    | its row is removed, its runs withdrawn   |
 * | removing       | copies.remove (woken `remove`)     | removing    | 50 copies with their runs, until none is |
 * |                |                                    |             | left and it stops                        |
 * | any            | replay.other (run.began, .asking,  | same        |                                          |
 * |                | note, or of another run)           |             |                                          |
 *
 * 1. A copy and the counts and sums of the row change in one turn.
 * 2. At most 20 of its runs wait for a runner. At the ceiling none is queued but that of a copy
 *    which was lost and counts its share already (`replay-ceiling.ts`); none is after the end.
 * 3. Each run that it queued is the newest attempt of a copy, or lost, or withdrawn and forgotten.
 * 4. A turn that gives copies results, ends it, ends its judging or removes it tells its watchers (`replay.moved`).
 */
import { assertEvent, assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered, Turn } from "../../runtime/turn.js";
import { classifyReplay } from "./classify-replay.js";
import type { JudgingScene } from "./judging/judging-scene.js";
import type { ModelTerms } from "./judging/model-terms.js";
import {
  goOnJudging,
  takeAnswer,
  takeCounterpartEnded,
  takeRecheckRunOver,
} from "./judging/replay-judging.transitions.js";
import { replayRef } from "./replay.messages.js";
import {
  applyStep,
  beginReplay,
  endJudging,
  endReplay,
  judgeOn,
  makeCopies,
  releaseWhenJudged,
  stopReplay,
  takeCopy,
} from "./replay.transitions.js";
import type { ReplayContext, ReplayEvent } from "./replay-events.js";
import { beginRemoval, removeCopies } from "./replay-removal.js";
import { telling } from "./tell-watchers.js";

const begun: ReplayContext = { made: 0, next: 0, back: [] };

/** Transitions of every state after the start, but of one that is removed. */
const always = {
  "stop.refused": { actions: "refuse" },
  "stop.repeated": { actions: "answerAgain" },
  "replay.forget": { target: "removing", actions: "beginRemoval" },
  "replay.other": { actions: "ignore" },
} as const;

/** Transitions of the states in which it runs copies. */
const underWay = {
  ...always,
  "copies.make": { actions: "makeCopies" },
  "copy.taken": { target: "running", actions: "takeCopy" },
  "step.on": { actions: "applyStep" },
  "judging.answered": { actions: "takeAnswer" },
  "judging.on": { actions: "judgeOn" },
  "step.finished": { target: "finished", actions: ["applyStep", "finish"] },
  "step.over-budget": { target: "over-budget", actions: ["applyStep", "endOverBudget"] },
  "replay.stop": { target: "stopped", actions: "stop" },
} as const;

/** Transitions of its ends. */
const ended = {
  ...always,
  "copies.make": { actions: "makeCopies" },
  "step.on": { actions: "applyStep" },
  "judging.answered": { actions: ["takeAnswer", "release"] },
  "judging.on": { actions: ["judgeOn", "release"] },
  "judging.end": { actions: "endJudging" },
  "recheck.over": { actions: ["takeRecheck", "release"] },
  "counterpart.ended": { actions: ["pairUp", "release"] },
} as const;

const createMachine = (terms: ModelTerms | null) =>
  setup({
    types: { context: {} as ReplayContext, events: {} as Delivered<ReplayEvent> },
    actions: {
      begin: ({ event }) => beginReplay(event.turn),
      makeCopies: assign(({ context, event }) => makeCopies(event.turn, context)),
      takeCopy: assign(({ context, event }) => {
        assertEvent(event, "copy.taken");
        return takeCopy(event.turn, context, event.step);
      }),
      applyStep: assign(({ context, event }) => {
        assertEvent(event, ["step.on", "step.finished", "step.over-budget"]);
        const { turn, step } = event;
        return telling(turn, () => applyStep(toScene(turn, terms), context, step));
      }),
      takeAnswer: ({ event }) => {
        assertEvent(event, "judging.answered");
        const scene = toScene(event.turn, terms);
        telling(event.turn, () => judgeOn(scene, () => takeAnswer(scene, event.ended)));
      },
      judgeOn: ({ event }) => {
        const scene = toScene(event.turn, terms);
        telling(event.turn, () => judgeOn(scene, () => goOnJudging(scene)));
      },
      endJudging: ({ event }) => endJudging(toScene(event.turn, terms)),
      takeRecheck: ({ event }) => {
        assertEvent(event, "recheck.over");
        const { turn, run } = event;
        telling(turn, () => takeRecheckRunOver(toScene(turn, terms), run));
      },
      pairUp: ({ event: { turn } }) => telling(turn, () => takeCounterpartEnded(toScene(turn, terms))),
      release: ({ event }) => releaseWhenJudged(event.turn),
      finish: ({ event: { turn } }) => telling(turn, () => endReplay(toScene(turn, terms), "finished")),
      endOverBudget: ({ event: { turn } }) => telling(turn, () => endReplay(toScene(turn, terms), "over-budget")),
      stop: ({ event }) => {
        assertEvent(event, "replay.stop");
        telling(event.turn, () => stopReplay(event, terms));
      },
      refuse: ({ event }) => {
        assertEvent(event, "stop.refused");
        event.turn.reply(event.refusal);
      },
      answerAgain: ({ event }) => {
        assertEvent(event, "stop.repeated");
        event.turn.reply({ replayed: true });
      },
      beginRemoval: ({ event }) => beginRemoval(event.turn),
      removeCopies: ({ event }) => removeCopies(event.turn),
      leave: ({ event }) => event.turn.stop(),
      ignore: () => undefined,
    },
  }).createMachine({
    id: "replay",
    context: begun,
    initial: "new",
    states: {
      new: {
        on: {
          "replay.begin": { target: "queued", actions: "begin" },
          "stop.refused": { target: "new", actions: ["refuse", "leave"] },
          "replay.forget": { target: "removing", actions: "beginRemoval" },
          "replay.other": { target: "new", actions: "leave" },
        },
      },
      queued: { on: { ...underWay, "copies.make-last": { target: "finished", actions: ["makeCopies", "finish"] } } },
      running: { on: underWay },
      finished: { on: ended },
      stopped: { on: ended },
      "over-budget": { on: ended },
      removing: {
        on: {
          "stop.refused": { actions: "refuse" },
          "replay.forget": { actions: "ignore" },
          "replay.other": { actions: "ignore" },
          "copies.remove": { actions: "removeCopies" },
        },
      },
    },
  });

function toScene(turn: Turn, terms: ModelTerms | null): JudgingScene {
  return { turn, terms, replayId: turn.self.id };
}

/** See the table above. `terms` are those of the model that judges; null for none. */
export function replayActor(terms: ModelTerms | null) {
  return defineActor(replayRef, { machine: createMachine(terms), classify: classifyReplay, version: 1 });
}
