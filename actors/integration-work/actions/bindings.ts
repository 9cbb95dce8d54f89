import type { Subscriber } from "../../../runtime/cells/actor-type.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import type { Reading } from "../../../storage/store.js";
import type { EventTask, WorkFact } from "../../events/catalogue.js";
import { type TaskAsk, type TaskHappened, taskHappenings } from "../../events/task-happening.js";
import type { BindingEvent } from "./action-run.js";
import { actionRunRef } from "./action-run.messages.js";
import { listBindings, type PlacedBinding } from "./team-bindings.js";

/** A task event in the form that bindings use. */
interface Happened {
  readonly event: BindingEvent;
  readonly occurrence: string;
  readonly teamId: string;
  readonly task: EventTask;
  readonly ask: TaskAsk | null;
}

/**
 * Starts a run for each matching binding of the team's integrations when a task event occurs. Each fact arrives once,
 * and the run id is derived from the event and the binding, so no binding runs twice for one event.
 */
export const bindingSubscriber: Subscriber<WorkFact | TaskHappened> = {
  name: "bindings of integrations act on tasks",
  facts: ["task.opened", "task.moved", ...taskHappenings],
  hears(fact, workspaceId, reading) {
    const happened = toHappened(fact);
    return happened !== null && bindingsOn(reading, workspaceId, happened).length > 0;
  },
  handle(fact, turn) {
    const happened = toHappened(fact);
    if (happened !== null) runBindings(turn, happened);
  },
};

function toHappened(fact: WorkFact | TaskHappened): Happened | null {
  if ("happening" in fact) {
    const { on, occurrence, teamId, task, ask } = fact.happening;
    return { event: on, occurrence, teamId, task, ask };
  }
  const { on, occurrence, teamId, task } = fact.work;
  return on === "task.opened" || on === "task.moved" ? { event: on, occurrence, teamId, task, ask: null } : null;
}

function runBindings(turn: Turn, happened: Happened): void {
  const { partition: workspaceId } = turn.self;
  const { event, occurrence, task, ask } = happened;
  for (const { integrationId, index } of bindingsOn(turn, workspaceId, happened)) {
    // Ids increase with the time of the event.
    const id = `act_${occurrence.slice(occurrence.indexOf("_") + 1)}-${integrationId.slice(-8)}-${index}`;
    turn.send(actionRunRef(workspaceId, id), { type: "action.bound", integrationId, index, event, task, ask });
  }
}

/** Lists the bindings of the team's integrations for the event. */
function bindingsOn(reading: Reading, workspaceId: string, { teamId, event }: Happened): readonly PlacedBinding[] {
  return listBindings(reading, workspaceId, teamId).filter((binding) => binding.event === event);
}
