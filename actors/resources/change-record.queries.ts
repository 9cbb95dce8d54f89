import type { Reading } from "../../storage/store.js";
import { getPrunedBefore } from "../tables/pruned-before.js";
import { type ChangeRecord, records } from "./change-record.table.js";

/** Changes with a number below `before`, newest first. */
export function listChangeRecords(
  reading: Reading,
  workspaceId: string,
  page: { readonly before?: number; readonly limit: number },
): ChangeRecord[] {
  const before = page.before === undefined ? {} : { before: [page.before] };
  return records.list(reading, workspaceId, [], { reverse: true, limit: page.limit, ...before });
}

/** Changes before this time are not stored any more; null when none was removed. */
export function changesPrunedBefore(reading: Reading, workspaceId: string, nowMs: number): string | null {
  return getPrunedBefore(reading, workspaceId, { name: records.name, nowMs });
}
