import type { Turn } from "../../runtime/turn.js";
import type { Kind } from "./kind.js";
import { withdrawHeld } from "./operations.js";
import { type ResourceRow, resourcesOf } from "./resource-rows.js";

/**
 * Takes away what stations held that the line has no longer (all of them once it is gone), and gives it back. The
 * changes are the service's; `client` is what brought them about.
 */
export function withdrawHomeless(
  turn: Turn,
  kinds: readonly Kind[],
  line: ResourceRow,
  client: string | null,
): readonly ResourceRow[] {
  const withdrawn: ResourceRow[] = [];
  for (const kind of kinds.filter(({ heldBy }) => heldBy === "station")) {
    for (const row of resourcesOf(turn, line.workspaceId, kind.name, { under: line.address })) {
      if (kind.stationPlace?.(turn, line.workspaceId, { lineId: line.id, stationKey: stationKeyIn(row) }) !== null) {
        continue;
      }
      withdrawHeld(turn, kind, row, client);
      withdrawn.push(row);
    }
  }
  return withdrawn;
}

/** `<team key>/<line key>/<station key>/<name>` */
function stationKeyIn({ address }: ResourceRow): string {
  return address.split("/")[2] ?? "";
}
