import type { Reading } from "../../../storage/store.js";
import type { Warning } from "../../resources/kind.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { findMember } from "../../workspaces/member.table.js";

/**
 * Returns a warning if the user of a credential or trust has left the workspace; none otherwise. The row's read-only
 * field `path` has the id of this user. The user may still know the token. The token stays valid, because it belongs to
 * the workspace.
 */
export function departedMemberWarning(reading: Reading, row: ResourceRow<unknown>, path: string): readonly Warning[] {
  if (findMember(reading, row.workspaceId, String(row.added[path])) !== undefined) return [];
  const message = "has left the workspace but may still know the token: replace the token if this is not intended";
  return [{ path, message, severity: "warning" }];
}
