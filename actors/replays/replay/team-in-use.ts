import type { Reading } from "../../../storage/store.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { listUnderWay } from "./replay.table.js";

/** Returns why a team cannot be deleted while its replays are running; null if none of them is running. */
export function describeReplaysUnderWay({ id, address, workspaceId }: ResourceRow, reading: Reading): string | null {
  const { length } = listUnderWay(reading, workspaceId, { teamId: id });
  return length === 0 ? null : `The team ${address} has replays under way: ${length}. Stop them first.`;
}
