import type { Kind } from "./kind.js";
import { withdrawOrphan } from "./operations.js";
import { expectResource, listAddresses, type ResourceRow } from "./resource.table.js";
import type { ResourceTurn } from "./resource-turn.js";

/**
 * Removes the resources of stations that the line no longer has. If the line was deleted, removes the resources of all
 * its stations. Returns the removed resources. The change records name the service as author, and `client` as the
 * client that caused the changes. Of the line's resources, the function reads only the addresses and the rows that it
 * removes.
 */
export function withdrawOrphaned(
  turn: ResourceTurn,
  kinds: readonly Kind[],
  line: ResourceRow,
  client: string | null,
): readonly ResourceRow[] {
  const withdrawn: ResourceRow[] = [];
  for (const kind of kinds.filter(({ heldBy }) => heldBy === "station")) {
    const exists = new Map<string, boolean>();
    for (const { address, id } of listAddresses(turn, line.workspaceId, kind.name, { under: line.address })) {
      const stationKey = stationKeyIn(address);
      if (!exists.has(stationKey)) {
        const location = kind.locateStation?.(turn, line.workspaceId, { lineId: line.id, stationKey });
        exists.set(stationKey, location !== null);
      }
      if (exists.get(stationKey) === true) continue;
      const row = expectResource(turn, line.workspaceId, kind.name, id);
      withdrawOrphan(turn, kind, row, client);
      withdrawn.push(row);
    }
  }
  return withdrawn;
}

/** Returns the station key from an address `<team key>/<line key>/<station key>/<name>`. */
function stationKeyIn(address: string): string {
  return address.split("/")[2] ?? "";
}
