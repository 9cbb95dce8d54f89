/**
 * The decisions of a task, `decisions/<task>`. A task has one set of decisions, which is drafted after runs. `classify`
 * turns each message into an event of this machine.
 *
 * | state     | moved by                                    | next      | also                                      |
 * |-----------|---------------------------------------------|-----------|-------------------------------------------|
 * | none      | draft.taken (decisions.draft)               | proposed  | stores the set                            |
 * | none      | draft.of-nothing (decisions.draft, the task | (ended)   |                                           |
 * |           | is gone)                                    |           |                                           |
 * | none      | decisions.merged, decisions.closed          | (ended)   |                                           |
 * | proposed  | draft.taken                                 | proposed  | the set replaces the earlier one          |
 * | discarded | draft.taken                                 | proposed  | the set replaces the earlier one          |
 * | proposed, | draft.of-nothing                            | same      |                                           |
 * | discarded |                                             |           |                                           |
 * | proposed  | decisions.merged                            | stands    | lists find the set                        |
 * | proposed  | decisions.closed                            | discarded | the pull request was closed, not merged   |
 * | discarded | decisions.merged, decisions.closed          | discarded |                                           |
 * | stands    | any                                         | stands    | the task's set no longer changes          |
 *
 * The rows of a set do not store the state. In `none` there are no rows. Only in `stands` do lists include the
 * decisions.
 */
import { createChart, type NoContext, toEvent } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import type { TurnReading } from "../../runtime/turns/turn.js";
import { tasks } from "../tasks/task.table.js";
import { parseDraftedDecisions } from "./decision.js";
import { indexDecisionSet, replaceDecisionSet } from "./decision.table.js";
import { type DecisionSetMessage, decisionSetRef } from "./decision-set.messages.js";

/** Turns a message into an event of the machine. Only reads. */
function classify(message: DecisionSetMessage, _state: unknown, turn: TurnReading) {
  if (message.type !== "decisions.draft") return message;
  const task = tasks.get(turn, turn.self.partition, turn.self.id);
  return task === undefined ? toEvent("draft.of-nothing") : toEvent("draft.taken", { ...message, teamId: task.teamId });
}

const { on, machine } = createChart<NoContext, ReturnType<typeof classify>>();

const drafted = on("draft.taken", "proposed", ({ turn, teamId, runId, decisions }) =>
  replaceDecisionSet(turn, { teamId, runId }, parseDraftedDecisions(decisions)),
);

const decisionSetMachine = machine({
  id: "decisions",
  initial: "none",
  states: {
    none: {
      on: {
        ...drafted,
        ...on("draft.of-nothing", ({ turn }) => turn.stop()),
        ...on("decisions.merged", ({ turn }) => turn.stop()),
        ...on("decisions.closed", ({ turn }) => turn.stop()),
      },
    },
    proposed: {
      on: {
        ...drafted,
        ...on("draft.of-nothing"),
        ...on("decisions.merged", "stands", (event) => indexDecisionSet(event.turn, event)),
        ...on("decisions.closed", "discarded"),
      },
    },
    discarded: {
      on: { ...drafted, ...on("draft.of-nothing"), ...on("decisions.merged"), ...on("decisions.closed") },
    },
    stands: {
      on: {
        ...on("draft.taken"),
        ...on("draft.of-nothing"),
        ...on("decisions.merged"),
        ...on("decisions.closed"),
      },
    },
  },
});

/** Defines the actor for a task's decisions (see the table above). */
export const decisionSetActor = defineActor(decisionSetRef, { machine: decisionSetMachine, classify, version: 1 });
