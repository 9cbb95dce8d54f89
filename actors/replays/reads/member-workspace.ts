import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import { listMemberships } from "../../workspaces/member.table.js";

/**
 * Finds the first of the caller's workspaces that `fits` accepts; undefined if there is none. Use it for ids that can
 * be looked up only within a workspace.
 */
export function findMemberWorkspace(
  reading: Reading,
  caller: Caller,
  fits: (workspaceId: string) => boolean,
): string | undefined {
  const workspaces =
    caller.kind === "token" ? [caller.workspaceId] : listMemberships(reading, caller.userId).map(({ id }) => id);
  return workspaces.find(fits);
}
