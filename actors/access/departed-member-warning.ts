import type { Reading } from "../../storage/store.js";
import type { Warning } from "../resources/kind.js";
import type { ResourceRow } from "../resources/resource.table.js";
import { findMember } from "../workspaces/member.table.js";

/**
 * Warns of a credential or trust whose person (`path` is the read-only field that names them) left the workspace: it
 * stays valid, since it belongs to the workspace, but somebody else should take responsibility for it.
 */
export function departedMemberWarning(reading: Reading, row: ResourceRow<unknown>, path: string): readonly Warning[] {
  if (findMember(reading, row.workspaceId, String(row.added[path])) !== undefined) return [];
  const message = "is not in the workspace any more, and may still know of it: replace it if that is not meant";
  return [{ path, message, severity: "warning" }];
}
