/**
 * An iteration of a search, `search-iteration/<id>`: one run of the search's agent, which proposes candidates or reflects
 * on what failed. Its row is written by its search in the turn that starts it; messages are classified before the step
 * (`classify-iteration.ts`). Where an event has another name than its message, the message follows in brackets.
 *
 * | state          | moved by                                | next    | also                                           |
 * |----------------|-----------------------------------------|---------|------------------------------------------------|
 * | new            | iteration.begin                         | wanted  | queues the agent's run                         |
 * | wanted         | agent.taken (run.claimed)               | running | the first time counts in `iterationsRun`       |
 * | wanted         | agent.unclaimed (woken, after a day)    | failed  | withdraws the run; tells the search            |
 * | wanted,running | agent.ended (run.over)                  | ended   | counts what it reported; tells the search      |
 * |                | (also of a lost runner, with nothing    |         |                                                |
 * |                | left to propose or to find a cause of)  |         |                                                |
 * | wanted,running | agent.failed (run.over)                 | failed  | the same                                       |
 * | wanted,running | agent.lost (run.over, at most twice)    | wanted  | counts what it reported; queues another run    |
 * | wanted,running | iteration.stop                          | failed  | withdraws the run; tells the search            |
 * | wanted,running | proposal.admitted (candidates.propose)  | same    | rows of the candidates; tells the search       |
 * | wanted,running | proposal.refused (candidates.propose)   | same    | refused; counts as an attempt                  |
 * | wanted,running | cause.taken (cause.record)              | same    | the cause, in place of an earlier one          |
 * | wanted,running | agent.repeated (either, under a key     | same    | answered again                                 |
 * |                | that was taken before)                  |         |                                                |
 * | any            | agent.refused (either)                  | same    | refused: who asks does not hold the run, or    |
 * |                |                                         |         | the iteration is of the other kind             |
 * | ended, failed  | agent.settled (run.over)                | same    | counts what a withdrawn run reported           |
 * | any            | iteration.forget                        | gone    | its runs are removed                           |
 * | any            | iteration.other                         | same    |                                                |
 *
 * 1. At most one run of it is under way; none is once it ended or failed.
 * 2. What its runs report is counted in the purse in the turn in which they are over, each once.
 */
import { assertEvent, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import type { ReplayJudging } from "../replays/judging/model-terms.js";
import { classifyIteration } from "./classify-iteration.js";
import { searchIterationRef } from "./search-iteration.messages.js";
import {
  admit,
  countAgent,
  endIteration,
  forgetIteration,
  recordCause,
  refuseProposal,
  takeAgent,
  wantAgent,
  withdrawAgent,
} from "./search-iteration.transitions.js";
import type { IterationEvent } from "./search-iteration-events.js";

/** Transitions of every state after the start. */
const always = {
  "agent.refused": { actions: "refuse" },
  "iteration.forget": { actions: "forget" },
  "iteration.other": { actions: "ignore" },
} as const;

/** Transitions of the states in which a run is under way. */
const underWay = {
  ...always,
  "agent.ended": { target: "ended", actions: ["count", "end"] },
  "agent.failed": { target: "failed", actions: ["count", "fail"] },
  "agent.lost": { target: "wanted", actions: ["count", "want"] },
  "iteration.stop": { target: "failed", actions: "withdraw" },
  "proposal.admitted": { actions: "admit" },
  "proposal.refused": { actions: "refuseProposal" },
  "cause.taken": { actions: "recordCause" },
  "agent.repeated": { actions: "answerAgain" },
} as const;

/** Transitions of its ends. */
const over = { ...always, "agent.settled": { actions: "count" } } as const;

const createMachine = (judging: ReplayJudging) =>
  setup({
    types: { events: {} as Delivered<IterationEvent> },
    actions: {
      want: ({ event }) => wantAgent(event.turn),
      take: ({ event }) => takeAgent(event.turn),
      count: ({ event }) => {
        assertEvent(event, ["agent.ended", "agent.failed", "agent.lost", "agent.settled"]);
        countAgent(event.turn, event.row);
      },
      end: ({ event }) => endIteration(event.turn, "ended"),
      fail: ({ event }) => endIteration(event.turn, "failed"),
      giveUp: ({ event }) => withdrawAgent(event.turn, "No runner took the agent's run for a day."),
      withdraw: ({ event }) => withdrawAgent(event.turn, "The search was stopped."),
      admit: ({ event }) => {
        assertEvent(event, "proposal.admitted");
        admit({ ...event, type: "candidates.propose" }, event.admitted, judging);
      },
      refuseProposal: ({ event }) => {
        assertEvent(event, "proposal.refused");
        refuseProposal(event.turn, event.refusal);
      },
      recordCause: ({ event }) => {
        assertEvent(event, "cause.taken");
        recordCause({ ...event, type: "cause.record" });
      },
      answerAgain: ({ event }) => {
        assertEvent(event, "agent.repeated");
        event.turn.reply(event.answer);
      },
      refuse: ({ event }) => {
        assertEvent(event, "agent.refused");
        event.turn.reply(event.refusal);
      },
      forget: ({ event }) => {
        assertEvent(event, "iteration.forget");
        forgetIteration(event);
      },
      leave: ({ event }) => event.turn.stop(),
      ignore: () => undefined,
    },
  }).createMachine({
    id: "search-iteration",
    initial: "new",
    states: {
      new: {
        on: {
          "iteration.begin": { target: "wanted", actions: "want" },
          "agent.refused": { target: "new", actions: ["refuse", "leave"] },
          "iteration.forget": { target: "new", actions: "forget" },
          "iteration.other": { target: "new", actions: "leave" },
        },
      },
      wanted: {
        on: {
          ...underWay,
          "agent.taken": { target: "running", actions: "take" },
          "agent.unclaimed": { target: "failed", actions: "giveUp" },
        },
      },
      running: { on: underWay },
      ended: { on: over },
      failed: { on: over },
    },
  });

/** See the table above; `judging` is what scores the copies of its search's replays. */
export function searchIterationActor(judging: ReplayJudging): ActorType {
  const classify = classifyIteration(judging);
  return defineActor(searchIterationRef, { machine: createMachine(judging), classify, version: 1 });
}
