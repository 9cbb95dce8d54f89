import type { Reading } from "../../storage/store.js";
import type { Kind } from "../resources/kind.js";
import type { ResourceRow } from "../resources/resource.table.js";
import { getTeamKey } from "../resources/resource-indexes.table.js";
import { type Entries, writeBlocks } from "./hcl.js";
import { byCodeUnits } from "./path-order.js";
import { type ExportedFile, exportResource, filesIn } from "./resource-block.js";

/**
 * Exports one resource as complete HCL: its variables, the resource, and an import block that adopts the existing
 * resource. The HCL refers to other resources by id and key, not by expressions. `files` are the files that the HCL
 * reads.
 */
export function exportOne(
  reading: Reading,
  kind: Kind,
  row: ResourceRow,
): { readonly hcl: string; readonly files: readonly ExportedFile[] } {
  const teamKey = getTeamKey(reading, row.workspaceId, row.teamId);
  const holders: Entries =
    kind.heldBy === "none" ? [] : row.teamId === null ? [["workspace_id", row.workspaceId]] : [["team_id", row.teamId]];
  const { variables, blocks } = exportResource(kind, row, { teamKey, holders, refer: () => null });
  const folders = [...(kind.hcl?.folders ?? [])].sort((left, right) => byCodeUnits(left.folder, right.folder));
  return { hcl: writeBlocks([...variables, ...blocks]), files: folders.flatMap((each) => filesIn(each, row)) };
}
