import type { Turn } from "../../runtime/turn.js";
import type { Kind } from "./kind.js";
import { withdrawHeld } from "./operations.js";
import { findResource, listAddresses, type ResourceRow } from "./resource.table.js";

/**
 * Takes away what stations held that the line has no longer (all of them once it is gone), and gives it back. The
 * changes are the service's; `client` is what brought them about. Only what goes is read.
 */
export function withdrawOrphaned(
  turn: Turn,
  kinds: readonly Kind[],
  line: ResourceRow,
  client: string | null,
): readonly ResourceRow[] {
  const withdrawn: ResourceRow[] = [];
  for (const kind of kinds.filter(({ heldBy }) => heldBy === "station")) {
    const stands = new Map<string, boolean>();
    for (const { address, id } of listAddresses(turn, line.workspaceId, kind.name, { under: line.address })) {
      const stationKey = stationKeyIn(address);
      if (!stands.has(stationKey)) {
        const place = kind.locateStation?.(turn, line.workspaceId, { lineId: line.id, stationKey });
        stands.set(stationKey, place !== null);
      }
      const row = stands.get(stationKey) === true ? undefined : findResource(turn, line.workspaceId, kind.name, id);
      if (row === undefined) continue;
      withdrawHeld(turn, kind, row, client);
      withdrawn.push(row);
    }
  }
  return withdrawn;
}

/** `<team key>/<line key>/<station key>/<name>` */
function stationKeyIn(address: string): string {
  return address.split("/")[2] ?? "";
}
