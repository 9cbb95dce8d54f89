import type { Caller } from "../../actors/access/caller.js";
import { permit, seesOutcomes } from "../../actors/access/visibility.js";
import { firingView } from "../../actors/hooks/firing.view.js";
import { firingById } from "../../actors/hooks/occurrence-rows.js";
import type { Kind } from "../../actors/resources/kind.js";
import { placeOf } from "../../actors/resources/place.js";
import { represent } from "../../actors/resources/representation.js";
import { resourceById } from "../../actors/resources/resource-rows.js";
import { runView, stepsView } from "../../actors/tasks/run.view.js";
import { runs } from "../../actors/tasks/run-rows.js";
import { taskView } from "../../actors/tasks/task.view.js";
import { tasks, teamTasks } from "../../actors/tasks/task-rows.js";
import type { Reading } from "../../storage/store.js";

/** What a topic shows at its beginning, as far as the caller may see it; undefined where the API answers 404. */
export type TopicView = (reading: Reading, caller: Caller, workspaceId: string, id: string) => unknown;

/** Steps in a run's first picture; the earlier ones are read over the API. */
const STEPS_SHOWN = 200;
const TASKS_SHOWN = 100;

/** The topics of the stream by kind, `<kind>/<id>`. An area adds a line. */
export function topicViews(kinds: readonly Kind[]): ReadonlyMap<string, TopicView> {
  const resource = (name: string) => {
    const kind = kinds.find((one) => one.name === name);
    return (reading: Reading, caller: Caller, workspaceId: string, id: string) => {
      const row = resourceById(reading, workspaceId, name, id);
      if (kind === undefined || row === undefined) return undefined;
      return permit(reading, caller, workspaceId, "read", name) === null ? represent(kind, row, reading) : undefined;
    };
  };
  const team = resource("team");
  return new Map<string, TopicView>([
    ["workspace", resource("workspace")],
    [
      "team",
      (reading, caller, workspaceId, id) => {
        const shown = team(reading, caller, workspaceId, id);
        if (shown === undefined) return undefined;
        const latest = teamTasks.entries(reading, workspaceId, [id], { reverse: true, limit: TASKS_SHOWN });
        const work = latest.flatMap(({ key }) => tasks.get(reading, workspaceId, String(key.at(-1))) ?? []);
        return { team: shown, tasks: work.map((task) => taskView(reading, workspaceId, task)) };
      },
    ],
    [
      "task",
      (reading, caller, workspaceId, id) => {
        const task = tasks.get(reading, workspaceId, id);
        if (task === undefined || permit(reading, caller, workspaceId, "read", "team") !== null) return undefined;
        return taskView(reading, workspaceId, task);
      },
    ],
    [
      "run",
      (reading, caller, workspaceId, id) => {
        const run = runs.get(reading, workspaceId, id);
        if (run === undefined || !seesOutcomes(reading, caller, workspaceId, run.teamId)) return undefined;
        const after = Math.max(-1, run.steps - STEPS_SHOWN - 1);
        const steps = stepsView(reading, workspaceId, id, { after, limit: STEPS_SHOWN });
        return { run: runView(reading, workspaceId, run), steps };
      },
    ],
    [
      "hook-occurrence",
      (reading, caller, workspaceId, id) => {
        const firing = firingById(reading, id)?.firing;
        if (firing === undefined || !seesOutcomes(reading, caller, workspaceId, firing.teamId)) return undefined;
        return firingView(reading, workspaceId, firing);
      },
    ],
  ]);
}

/** The workspace of what a topic is about. */
export function workspaceOfTopic(reading: Reading, id: string): string | undefined {
  return placeOf(reading, id)?.workspaceId;
}
