/**
 * The decisions of a task, `decisions/<task>`: one set, drafted after runs and shown with the task's pull request.
 * Messages are classified before the step (`classify-decision-set.ts`).
 *
 * | state     | moved by                                       | next      | also                                       |
 * |-----------|------------------------------------------------|-----------|--------------------------------------------|
 * | none      | draft.taken (decisions.draft)                  | proposed  | stores the set                             |
 * | none      | draft.of-nothing (the same, no task is there)  | (ended)   |                                            |
 * | none      | decisions.merged, decisions.closed             | (ended)   |                                            |
 * | proposed  | draft.taken                                    | proposed  | the set replaces the earlier one           |
 * | discarded | draft.taken                                    | proposed  | the same                                   |
 * | proposed, | draft.of-nothing                               | same      |                                            |
 * | discarded |                                                |           |                                            |
 * | proposed  | decisions.merged                               | stands    | lists find the set                         |
 * | proposed  | decisions.closed                               | discarded | for a pull request closed without merging  |
 * | discarded | decisions.merged, decisions.closed             | discarded |                                            |
 * | stands    | any                                            | stands    | nothing is drafted for the task again      |
 *
 * Its rows have no state of their own: in `none` there are none, and lists find them in `stands` alone.
 */
import { assertEvent, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import { classifyDecisionSet, type DecisionSetEvent, type DraftTaken } from "./classify-decision-set.js";
import { parseDraftedDecisions } from "./decision.js";
import { indexDecisionSet, replaceDecisionSet } from "./decision.table.js";
import { decisionSetRef } from "./decision-set.messages.js";

const machine = setup({
  types: { events: {} as Delivered<DecisionSetEvent> },
  actions: {
    storeDraft: ({ event }) => {
      assertEvent(event, "draft.taken");
      storeDraft(event);
    },
    stop: ({ event }) => event.turn.stop(),
  },
}).createMachine({
  id: "decisions",
  initial: "none",
  states: {
    none: {
      on: {
        "draft.taken": { target: "proposed", actions: "storeDraft" },
        "draft.of-nothing": { target: "none", actions: "stop" },
        "decisions.merged": { target: "none", actions: "stop" },
        "decisions.closed": { target: "none", actions: "stop" },
      },
    },
    proposed: {
      on: {
        "draft.taken": { target: "proposed", actions: "storeDraft" },
        "draft.of-nothing": { target: "proposed" },
        "decisions.merged": { target: "stands", actions: ({ event }) => indexDecisionSet(event.turn, event) },
        "decisions.closed": { target: "discarded" },
      },
    },
    discarded: {
      on: {
        "draft.taken": { target: "proposed", actions: "storeDraft" },
        "draft.of-nothing": { target: "discarded" },
        "decisions.merged": { target: "discarded" },
        "decisions.closed": { target: "discarded" },
      },
    },
    stands: {
      on: {
        "draft.taken": { target: "stands" },
        "draft.of-nothing": { target: "stands" },
        "decisions.merged": { target: "stands" },
        "decisions.closed": { target: "stands" },
      },
    },
  },
});

/** See the table above. */
export const decisionSetActor = defineActor(decisionSetRef, { machine, classify: classifyDecisionSet, version: 1 });

function storeDraft({ turn, teamId, runId, decisions }: Delivered<DraftTaken>): void {
  replaceDecisionSet(turn, { teamId, runId }, parseDraftedDecisions(decisions));
}
