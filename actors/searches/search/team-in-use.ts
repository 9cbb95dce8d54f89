import type { Reading } from "../../../storage/store.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { listSearchesUnderWay } from "./search.table.js";

/** Returns why a team cannot be deleted while its searches are running; null if none of them is running. */
export function describeSearchesUnderWay({ id, address, workspaceId }: ResourceRow, reading: Reading): string | null {
  const { length } = listSearchesUnderWay(reading, workspaceId, id);
  return length === 0 ? null : `The team ${address} has searches under way: ${length}. Stop them first.`;
}
