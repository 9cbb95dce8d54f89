/**
 * The attachments of a task while they are fetched, `task-attachments/<task>`. It owns the rows of the task's
 * attachments. The task is opened or told first; what comes of its files reaches it as a row, and as a note where one
 * could not be had.
 *
 * 1. An event attaches 20 files at most, of 10 MiB each and 50 MiB together; a task has 200 files and 200 MiB at most.
 * 2. A name is a file's name alone, unique in its task.
 * 3. Each file is asked for once; a GET that a killed process may have made is made again.
 *
 * | state    | moved by     | condition                       | next     | also                                      |
 * |----------|--------------|---------------------------------|----------|-------------------------------------------|
 * | fetching | files.attach |                                 | fetching | a row and a request for each file; notes  |
 * |          |              |                                 |          | for those beyond the bounds               |
 * | fetching | effect.ended | it succeeded, within the bounds | fetching | stored                                    |
 * | fetching | effect.ended | otherwise                       | fetching | failed; a note says why                   |
 *
 * With the last file the actor ends.
 */
import { chartOf, type NoContext } from "../../runtime/chart.js";
import { defineActor } from "../../runtime/define-actor.js";
import { type TaskAttachmentsMessage, taskAttachmentsRef } from "./task-attachments.messages.js";
import { attachFiles, settleFile } from "./task-attachments.transitions.js";

const { on, machine } = chartOf<NoContext, TaskAttachmentsMessage>();

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
