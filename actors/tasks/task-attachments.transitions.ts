import type { Delivered, EffectEnded, Turn } from "../../runtime/turns/turn.js";
import { readJson, writeJson } from "../exact-json.js";
import {
  type FetchedFile,
  type IntegrationRequestResult,
  MAX_FILE_BYTES,
} from "../integrations/requests/integration-request.js";
import { startIntegrationRequest } from "../integrations/requests/start-request.js";
import { storeBlob } from "../tables/blobs.js";
import { readStoredText } from "../tables/text-blobs.js";
import { timeText } from "../time-text.js";
import { taskRef } from "./task.messages.js";
import { taskAttachments, tasks } from "./task.table.js";
import {
  MAX_EVENT_BYTES,
  MAX_EVENT_FILES,
  MAX_TASK_BYTES,
  MAX_TASK_FILES,
  type TaskAttachmentRow,
  toAttachmentName,
  toFreeName,
  toMediaType,
} from "./task-attachment.js";
import type { AttachFiles } from "./task-attachments.messages.js";
import type { RaisedFile } from "./team-marks.messages.js";

/** The transition functions of a task's attachments. `task-attachments.machine.ts` defines when they apply. */

/** Time limit for fetching a file, in milliseconds. */
const FETCH_TIMEOUT_MS = 60_000;
/** Maximum size of the values visible to a file's request, in bytes of JSON. */
const MAX_VALUES_BYTES = 1024 * 1024;

/** Requests each file. Adds a note to the task with the number of files beyond the limit. */
export function attachFiles({ turn, ...message }: Delivered<AttachFiles>): void {
  if (tasks.get(turn, turn.self.partition, turn.self.id) === undefined) return turn.stop();
  const { attaches, key } = message;
  const capacity = Math.min(MAX_EVENT_FILES, MAX_TASK_FILES - listRows(turn).length);
  const values = readJson(readStoredText(turn, turn.self.partition, attaches.values)) as object;
  for (const file of attaches.files.slice(0, capacity)) askFor(turn, message, { file, values });
  const left = attaches.files.length + (attaches.left ?? 0) - Math.max(0, capacity);
  if (left > 0) {
    const why =
      capacity < MAX_EVENT_FILES
        ? `a task has ${MAX_TASK_FILES} at most`
        : `an event attaches ${MAX_EVENT_FILES} at most`;
    note(turn, `${key} left`, `${left} ${left === 1 ? "file was" : "files were"} not attached: ${why}.`);
  }
  endIfDone(turn);
}

function askFor(
  turn: Turn,
  { key, teamId, integrationId, attaches }: AttachFiles,
  { file, values }: { readonly file: RaisedFile; readonly values: object },
): void {
  const { source, event, bodyDigest } = attaches;
  const row: TaskAttachmentRow = {
    taskId: turn.self.id,
    id: turn.newId("att"),
    raise: key,
    name: toFreeName(
      toAttachmentName(file.name),
      listRows(turn).map(({ name }) => name),
    ),
    type: toMediaType(file.type),
    state: "waiting",
    reason: null,
    bytes: null,
    digest: null,
    at: timeText(turn.now),
  };
  taskAttachments.insert(turn, turn.self.partition, row);
  const seen = writeJson({ ...values, file: readJson(file.file) });
  if (file.size !== null && file.size > MAX_FILE_BYTES) return fail(turn, row, "it is larger than 10 MiB");
  if (Buffer.byteLength(seen) > MAX_VALUES_BYTES)
    return fail(turn, row, "the data for its request is larger than 1 MiB");
  startIntegrationRequest(turn, row.id, {
    teamId,
    integrationId,
    block: { kind: "attachment", source, event },
    values: seen,
    bodyDigest,
    after: null,
    actsAs: { kind: "team" },
    timeoutMs: FETCH_TIMEOUT_MS,
    again: "after-a-crash",
    lane: "background",
  });
}

/** Stores a fetched file or records the failure. */
export function settleFile({ turn, id, result }: Delivered<EffectEnded<IntegrationRequestResult>>): void {
  const row = taskAttachments.get(turn, turn.self.partition, turn.self.id, id);
  // The task was removed with its rows while the request ran.
  if (row === undefined) return endIfDone(turn);
  const file = result.ok ? result.output.file : undefined;
  if (file === undefined) fail(turn, row, result.ok ? (result.output.reason ?? "it went wrong") : "it went wrong");
  else keep(turn, row, file);
  endIfDone(turn);
}

function keep(turn: Turn, row: TaskAttachmentRow, { bytes, type }: FetchedFile): void {
  const stored = listRows(turn);
  const ofEvent = stored.filter(({ raise }) => raise === row.raise);
  if (sum(ofEvent) + bytes.length > MAX_EVENT_BYTES)
    return fail(turn, row, "the files of one event are limited to 50 MiB");
  if (sum(stored) + bytes.length > MAX_TASK_BYTES) return fail(turn, row, "the files of a task are limited to 200 MiB");
  const { partition } = turn.self;
  const known = row.type === toMediaType(null) ? toMediaType(type) : row.type;
  const digest = storeBlob(turn, partition, bytes);
  taskAttachments.put(turn, partition, row, { ...row, state: "stored", type: known, bytes: bytes.length, digest });
}

function fail(turn: Turn, row: TaskAttachmentRow, reason: string): void {
  taskAttachments.put(turn, turn.self.partition, row, { ...row, state: "failed", reason });
  note(turn, row.id, `The attachment ${row.name} could not be fetched: ${reason}.`);
}

function note(turn: Turn, key: string, text: string): void {
  turn.send(taskRef(turn.self.partition, turn.self.id), { type: "note", from: "service", text, key });
}

function endIfDone(turn: Turn): void {
  if (listRows(turn).every(({ state }) => state !== "waiting")) turn.stop();
}

function listRows(turn: Turn): readonly TaskAttachmentRow[] {
  return taskAttachments.list(turn, turn.self.partition, [turn.self.id]);
}

function sum(rows: readonly TaskAttachmentRow[]): number {
  return rows.reduce((all, { bytes }) => all + (bytes ?? 0), 0);
}
