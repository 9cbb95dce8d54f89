/**
 * Fetches the attachments of a task, `task-attachments/<task>`. The actor owns the rows of the task's attachments. An
 * event first opens or updates the task, without the event's files. The result of each file is then stored in the
 * file's row; a failure also adds a note to the task.
 *
 * 1. An event attaches at most 20 files of 10 MiB each and 50 MiB in total. A task has at most 200 files and 200 MiB.
 * 2. A name is a file name without folders, unique in the task.
 * 3. Each file is requested once. After a crash, a GET that may have been sent is repeated.
 *
 * | state    | moved by     | condition                       | next     | also                                     |
 * |----------|--------------|---------------------------------|----------|------------------------------------------|
 * | fetching | files.attach |                                 | fetching | a row and a request for each file; notes |
 * |          |              |                                 |          | for those beyond the limits              |
 * | fetching | effect.ended | it succeeded, within the limits | fetching | stored                                   |
 * | fetching | effect.ended | otherwise                       | fetching | failed; a note says why                  |
 *
 * The actor ends after the last file.
 */
import { createChart, type NoContext } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { type TaskAttachmentsMessage, taskAttachmentsRef } from "./task-attachments.messages.js";
import { attachFiles, settleFile } from "./task-attachments.transitions.js";

const { on, machine } = createChart<NoContext, TaskAttachmentsMessage>();

const taskAttachmentsMachine = machine({
  id: "task-attachments",
  context: {},
  initial: "fetching",
  states: {
    fetching: { on: { ...on("files.attach", attachFiles), ...on("effect.ended", settleFile) } },
  },
});

/** See the table above. */
export const taskAttachmentsActor = defineActor(taskAttachmentsRef, { machine: taskAttachmentsMachine, version: 1 });
