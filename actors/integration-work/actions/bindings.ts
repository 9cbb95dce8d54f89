import type { Subscriber } from "../../../runtime/cells/actor-type.js";
import { VersionCache } from "../../../runtime/rows/version-cache.js";
import { estimateWeight } from "../../../runtime/rows/weight.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import type { Reading } from "../../../storage/store.js";
import type { EventTask, WorkFact } from "../../events/catalogue.js";
import { type TaskAsk, type TaskHappened, taskHappenings } from "../../events/task-happening.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import { expectResource, listAddresses } from "../../resources/resource.table.js";
import { getTeamKey } from "../../resources/resource-indexes.table.js";
import type { BindingEvent } from "./action-run.js";
import { actionRunRef } from "./action-run.messages.js";

/** A task event in the form that bindings use. */
interface Happened {
  readonly event: BindingEvent;
  readonly occurrence: string;
  readonly teamId: string;
  readonly task: EventTask;
  readonly ask: TaskAsk | null;
}

/**
 * When a task event occurs, starts a run for each matching binding of the team's integrations. Each event fact arrives
 * once, and the run id is derived from the event and the binding. So no binding runs twice for one event.
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

/** A binding, by its integration and its index in the integration's `on`. */
interface PlacedBinding {
  readonly integrationId: string;
  readonly index: number;
  readonly event: BindingEvent;
}

/** The cached bindings of teams. All bindings of a team are under one key. */
const cachedBindings = new VersionCache<readonly PlacedBinding[]>();
const KEY = "on";

/**
 * Lists the bindings of a team's integrations, ordered by address. The list is cached until the workspace's
 * configuration changes, because every task event needs it.
 */
export function listBindings(reading: Reading, workspaceId: string, teamId: string): readonly PlacedBinding[] {
  const cached = cachedBindings.find(reading, workspaceId);
  const known = cached?.find(teamId, KEY);
  if (known !== undefined) return known;
  const bindings = readBindings(reading, workspaceId, teamId);
  cached?.hold(teamId, KEY, bindings, estimateWeight(bindings));
  return bindings;
}

function readBindings(reading: Reading, workspaceId: string, teamId: string): readonly PlacedBinding[] {
  const under = getTeamKey(reading, workspaceId, teamId);
  return listAddresses(reading, workspaceId, "integration", { under }).flatMap(({ id: integrationId }) => {
    const { fields } = expectResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
    return (fields.on ?? []).map(({ event }, index) => ({ integrationId, index, event }));
  });
}
