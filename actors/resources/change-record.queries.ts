import type { Reading } from "../../storage/store.js";
import { getPrunedBefore } from "../tables/pruned-before.js";
import { type ChangeRecord, records } from "./change-record.table.js";

/** Lists changes with a number below `before`, newest first. */
export function listChangeRecords(
  reading: Reading,
  workspaceId: string,
  page: { readonly before?: number | undefined; readonly limit: number },
): ChangeRecord[] {
  const before = page.before === undefined ? {} : { before: [page.before] };
  return records.list(reading, workspaceId, [], { reverse: true, limit: page.limit, ...before });
}

/** Returns the time before which retention has removed changes; null if it has removed none. */
export function changesPrunedBefore(reading: Reading, workspaceId: string, nowMs: number): string | null {
  return getPrunedBefore(reading, workspaceId, { name: records.name, nowMs });
}
