/**
 * What was decided in a task, `decisions/<task>`: one set, drafted after runs and shown with the task's pull request.
 *
 * | state     | moved by         | condition                | next      | also                                       |
 * |-----------|------------------|--------------------------|-----------|--------------------------------------------|
 * | none      | decisions.draft  | the task is there        | proposed  | the set is kept                            |
 * | proposed  | decisions.draft  |                          | proposed  | the set takes the place of the earlier one |
 * | discarded | decisions.draft  |                          | proposed  | likewise                                   |
 * | proposed  | decisions.merged |                          | stands    | lists find the set                         |
 * | proposed  | decisions.closed |                          | discarded | for a pull request closed without merging  |
 * | stands    | any              |                          | stands    | nothing is drafted for the task again      |
 */
import { setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import type { Delivered, Message } from "../../runtime/turn.js";
import { tasks } from "../tasks/task.table.js";
import { parseDraftedDecisions } from "./decision.js";
import { indexDecisionSet, type Merge, replaceDecisionSet } from "./decision.table.js";

/** Brings what was drafted from a completed run; what breaks a limit is dropped. */
export interface DraftDecisions extends Message {
  readonly type: "decisions.draft";
  readonly runId: string;
  readonly decisions: readonly unknown[];
}

/** Tells that the task's pull request was merged. */
export interface MergeDecisions extends Message, Merge {
  readonly type: "decisions.merged";
}

/** Tells that the task's pull request was closed without merging. */
export interface DiscardDecisions extends Message {
  readonly type: "decisions.closed";
}

type DecisionsEvent = Delivered<DraftDecisions | MergeDecisions | DiscardDecisions>;

const machine = setup({
  types: { events: {} as DecisionsEvent },
  guards: {
    isThere: ({ event: { turn } }) => tasks.get(turn, turn.self.partition, turn.self.id) !== undefined,
  },
  actions: {
    keep: ({ event }) => {
      if (event.type === "decisions.draft") storeDraft(event);
    },
    list: ({ event }) => {
      if (event.type === "decisions.merged") indexDecisionSet(event.turn, event);
    },
    stop: ({ event }) => event.turn.stop(),
  },
}).createMachine({
  id: "decisions",
  initial: "none",
  states: {
    none: {
      on: {
        "decisions.draft": [
          { guard: "isThere", target: "proposed", actions: "keep" },
          { target: "none", actions: "stop" },
        ],
        "decisions.merged": { target: "none", actions: "stop" },
        "decisions.closed": { target: "none", actions: "stop" },
      },
    },
    proposed: {
      on: {
        "decisions.draft": { target: "proposed", actions: "keep" },
        "decisions.merged": { target: "stands", actions: "list" },
        "decisions.closed": { target: "discarded" },
      },
    },
    discarded: {
      on: {
        "decisions.draft": { target: "proposed", actions: "keep" },
        "decisions.merged": { target: "discarded" },
        "decisions.closed": { target: "discarded" },
      },
    },
    stands: {
      on: {
        "decisions.draft": { target: "stands" },
        "decisions.merged": { target: "stands" },
        "decisions.closed": { target: "stands" },
      },
    },
  },
});

/** See the table above. */
export const decisionSetActor: ActorType = { kind: "decisions", machine, version: 1 };

function storeDraft({ turn, runId, decisions }: Delivered<DraftDecisions>): void {
  const task = tasks.get(turn, turn.self.partition, turn.self.id);
  if (task !== undefined) replaceDecisionSet(turn, { teamId: task.teamId, runId }, parseDraftedDecisions(decisions));
}
