import type { Reading } from "../../storage/store.js";
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
