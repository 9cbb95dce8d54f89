import type { Reading } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findBlob } from "../tables/blobs.js";
import { findTaskOfOutcomes } from "./task.queries.js";
import { taskAttachments } from "./task.table.js";

/** A stored file. */
export interface FoundAttachment {
  readonly name: string;
  readonly content: Uint8Array;
}

/**
 * Finds a stored file. Refuses with `not-found` if the file is not stored yet, or if the caller may not read the
 * outcomes of the task's team.
 */
export function findAttachment(
  reading: Reading,
  caller: Caller,
  taskId: string,
  attachmentId: string,
): FoundAttachment | Refusal {
  const found = findTaskOfOutcomes(reading, caller, taskId);
  if (isRefusal(found)) return found;
  const row = taskAttachments.get(reading, found.workspaceId, taskId, attachmentId);
  const content = typeof row?.digest === "string" ? findBlob(reading, found.workspaceId, row.digest) : undefined;
  return row === undefined || content === undefined ? { refused: "not-found" } : { name: row.name, content };
}
