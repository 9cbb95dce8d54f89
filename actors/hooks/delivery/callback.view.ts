import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { toEventTask } from "../../events/event-task.js";
import { findLine } from "../../lines/line.queries.js";
import type { Shown } from "../../view.js";
import type { CallbackSubject } from "./callback.queries.js";

/** The task as a hook's receiver can see it. */
export const callbackTaskSchema = z
  .strictObject({
    id: z.string().describe("The id of the task that the hook fired for (`task_…`)."),
    title: z.string().describe("The task's title, as it is now."),
    url: z.string().describe("The address where the task comes from, such as an issue; empty for none."),
    line: z.string().describe("The key of the task's line; empty if the line was deleted."),
    station: z.string().describe("The name of the task's current station."),
    stationKey: z.string().describe("The key of the task's current station."),
    marks: z
      .record(z.string(), z.string())
      .describe("The external objects that the task is about: the value of each mark, by kind."),
    repositories: z.array(z.string()).describe("The repositories of the task's line, each as `owner/name`."),
    pullRequest: z.string().nullable().describe("The address of the task's pull request; null if there is none."),
    hook: z.string().describe("The key of the hook that fired."),
  })
  .meta({ title: "callback-task" });

/** Returns the current task that a hook fired about, with the hook's key. */
export function callbackTaskView(
  reading: Reading,
  { workspaceId, hookOccurrence, task }: CallbackSubject,
): Shown<typeof callbackTaskSchema> {
  const { openedBy: _openedBy, ...shown } = toEventTask(task, findLine(reading, workspaceId, task.lineId));
  return { ...shown, hook: hookOccurrence.hook };
}
