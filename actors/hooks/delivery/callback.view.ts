import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { eventTaskShape } from "../../events/event-schema.js";
import { toEventTask } from "../../events/event-task.js";
import { findLine } from "../../lines/line.queries.js";
import type { Shown } from "../../view.js";
import type { CallbackSubject } from "./callback.queries.js";

const { openedBy: _openedBy, ...taskShape } = eventTaskShape;

/** The task as a hook's receiver can see it. */
export const callbackTaskSchema = z
  .strictObject({ ...taskShape, hook: z.string().describe("The key of the hook that fired for the task.") })
  .meta({ title: "callback-task" });

/** Returns the current task that a hook fired about, with the hook's key. */
export function callbackTaskView(
  reading: Reading,
  { workspaceId, hookOccurrence, task }: CallbackSubject,
): Shown<typeof callbackTaskSchema> {
  const { openedBy: _openedBy, ...shown } = toEventTask(task, findLine(reading, workspaceId, task.lineId));
  return { ...shown, hook: hookOccurrence.hook };
}
