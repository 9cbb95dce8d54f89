import { z } from "zod";
import { permit, seesOutcomes } from "../../actors/access/visibility.js";
import type { Caller } from "../../actors/caller.js";
import { findHookOccurrenceById } from "../../actors/hooks/hook-occurrence.table.js";
import { hookOccurrenceView } from "../../actors/hooks/hook-occurrence.view.js";
import type { Kind } from "../../actors/resources/kind.js";
import { toRepresentation } from "../../actors/resources/representation.js";
import { findResource } from "../../actors/resources/resource.table.js";
import { findLocation } from "../../actors/resources/resource-location.table.js";
import { listOpenApprovals } from "../../actors/runs/approval.table.js";
import { approvalView } from "../../actors/runs/approval.view.js";
import { runs } from "../../actors/runs/run.table.js";
import { runRowView, stepsView } from "../../actors/runs/run.view.js";
import { tasks } from "../../actors/tasks/task.table.js";
import { taskView } from "../../actors/tasks/task.view.js";
import { taskItemView } from "../../actors/tasks/task-item.view.js";
import { listMemberships } from "../../actors/workspaces/member.table.js";
import type { Reading } from "../../storage/store.js";

/** What a topic is about: something that the API names by its id. */
export interface About {
  readonly workspaceId: string;
  readonly id: string;
}

/** One kind of topic of the stream. */
export interface Topic {
  /** Whether it is there and the caller may see it: false where the API answers 404. Asked again for each change. */
  readonly sees: (reading: Reading, caller: Caller, about: About) => boolean;
  /** What it shows at its beginning; undefined when it is gone. */
  readonly view: (reading: Reading, about: About) => unknown;
  /** A change as the caller may see it, or undefined when they may not; without this it is shown as it is. */
  readonly change?: (reading: Reading, caller: Caller, about: About, data: unknown) => unknown;
  /** The workspace of what is named, for what is only found within one; without this its id tells it. */
  readonly workspaceOf?: (reading: Reading, caller: Caller, id: string) => string | undefined;
}

/** Steps in a run's first picture; the earlier ones are read over the API. */
const STEPS_SHOWN = 200;
const TASKS_SHOWN = 100;

/** The topics of the stream by kind, `<kind>/<id>`. An area adds a line. */
export function createTopics(kinds: readonly Kind[]): ReadonlyMap<string, Topic> {
  return new Map<string, Topic>([
    ["workspace", resourceTopic(kinds, "workspace")],
    ["team", teamTopic(resourceTopic(kinds, "team"))],
    ["task", taskTopic],
    ["run", runTopic],
    ["hook-occurrence", firingTopic],
  ]);
}

/** What an id of the topic's kind names, or undefined when there is nothing that the caller could see. */
export function aboutOf(reading: Reading, caller: Caller, { workspaceOf }: Topic, id: string): About | undefined {
  const workspaceId =
    workspaceOf === undefined ? findLocation(reading, id)?.workspaceId : workspaceOf(reading, caller, id);
  return workspaceId === undefined ? undefined : { workspaceId, id };
}

function resourceTopic(kinds: readonly Kind[], name: string): Topic {
  const kind = kinds.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`no kind ${name}`);
  const ofOutcomes = new Set(kinds.filter(({ seenBy }) => seenBy === "outcomes").map((one) => one.name));
  return {
    sees: (reading, caller, { workspaceId, id }) =>
      findResource(reading, workspaceId, name, id) !== undefined &&
      permit(reading, caller, workspaceId, "read", name) === null,
    view: (reading, { workspaceId, id }) => {
      const row = findResource(reading, workspaceId, name, id);
      return row === undefined ? undefined : toRepresentation(kind, row, reading);
    },
    change: (...change) => shownChange(ofOutcomes, change),
  };
}

/**
 * Who changed what, and how, stands in the change log, which only people who administer the workspace read; others
 * are told that something changed. How hooks went, and what only those see who may read how the team's work turned out
 * (`ofOutcomes`), is for them; who came and went is for the people of the workspace, as the list of members is.
 */
function shownChange(
  ofOutcomes: ReadonlySet<string>,
  [reading, caller, { workspaceId, id }, data]: Parameters<NonNullable<Topic["change"]>>,
): unknown {
  const change = changeSchema.safeParse(data).data;
  if (change?.type === "hook") return seesOutcomes(reading, caller, workspaceId, id) ? data : undefined;
  if (change?.type === "member") return caller.kind === "person" ? data : undefined;
  if (change?.type !== "configuration") return data;
  const administers =
    caller.kind === "person" && permit(reading, caller, workspaceId, "administer", "workspace") === null;
  if (administers) return data;
  return ofOutcomes.has(change.change.resource) && !seesOutcomes(reading, caller, workspaceId, id) ? undefined : change;
}

/** The changes that not everyone sees whole, cut to what everyone does. */
const changeSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("hook") }),
  z.object({ type: z.literal("member") }),
  z.object({
    type: z.literal("configuration"),
    change: z.object({
      resource: z.string(),
      resourceId: z.string(),
      key: z.string(),
      action: z.string(),
      at: z.string(),
    }),
  }),
]);

function teamTopic(team: Topic): Topic {
  return {
    ...team,
    view: (reading, about) => {
      const { workspaceId, id } = about;
      const work = tasks.all(reading, workspaceId, { teamId: id }, { limit: TASKS_SHOWN });
      return {
        team: team.view(reading, about),
        tasks: work.map((task) => taskItemView(reading, workspaceId, task)),
      };
    },
  };
}

const taskTopic: Topic = {
  sees: (reading, caller, { workspaceId, id }) =>
    tasks.get(reading, workspaceId, id) !== undefined && permit(reading, caller, workspaceId, "read", "team") === null,
  view: (reading, { workspaceId, id }) => {
    const task = tasks.get(reading, workspaceId, id);
    return task === undefined ? undefined : taskView(reading, workspaceId, task);
  },
};

const runTopic: Topic = {
  sees: (reading, caller, { workspaceId, id }) => {
    const run = runs.get(reading, workspaceId, id);
    return run !== undefined && seesOutcomes(reading, caller, workspaceId, run.teamId);
  },
  view: (reading, { workspaceId, id }) => {
    const run = runs.get(reading, workspaceId, id);
    if (run === undefined) return undefined;
    const after = Math.max(-1, run.steps - STEPS_SHOWN - 1);
    const steps = stepsView(reading, workspaceId, id, { after, limit: STEPS_SHOWN });
    const approvals = listOpenApprovals(reading, workspaceId, id).map(approvalView);
    return { run: runRowView(run), steps, approvals };
  },
};

const firingTopic: Topic = {
  workspaceOf: (reading, caller, id) => {
    const workspaces =
      caller.kind === "token" ? [caller.workspaceId] : listMemberships(reading, caller.userId).map((one) => one.id);
    return workspaces.find((workspaceId) => findHookOccurrenceById(reading, workspaceId, id) !== undefined);
  },
  sees: (reading, caller, { workspaceId, id }) => {
    const firing = findHookOccurrenceById(reading, workspaceId, id);
    return firing !== undefined && seesOutcomes(reading, caller, workspaceId, firing.work.teamId);
  },
  view: (reading, { workspaceId, id }) => {
    const firing = findHookOccurrenceById(reading, workspaceId, id);
    return firing === undefined ? undefined : hookOccurrenceView(reading, workspaceId, firing);
  },
};
