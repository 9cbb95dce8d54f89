import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { toEventTask } from "../../events/event-task.js";
import { findLine } from "../../lines/line.queries.js";
import type { CallbackSubject } from "./callback.queries.js";

/** The task as a hook's receiver can see it. */
export const callbackTaskSchema = z
  .strictObject({
    id: z.string(),
    title: z.string(),
    url: z.string(),
    line: z.string(),
    station: z.string(),
    stationKey: z.string(),
    marks: z.record(z.string(), z.string()),
    repositories: z.array(z.string()),
    pullRequest: z.looseObject({ url: z.string() }).nullable(),
    hook: z.string(),
  })
  .meta({ title: "callback-task" });

/** Returns the current task that a hook fired about, with the hook's key. */
export function callbackTaskView(reading: Reading, { workspaceId, hookOccurrence, task }: CallbackSubject) {
  const { openedBy: _openedBy, ...shown } = toEventTask(task, findLine(reading, workspaceId, task.lineId));
  return { ...shown, hook: hookOccurrence.hook };
}
