import type { Reading } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import { listMemberships } from "../workspaces/member.table.js";

/** The id of the first workspace of the caller that fits: for what is found by its id within a workspace alone. */
export function findMemberWorkspace(
  reading: Reading,
  caller: Caller,
  fits: (workspaceId: string) => boolean,
): string | undefined {
  const workspaces =
    caller.kind === "token" ? [caller.workspaceId] : listMemberships(reading, caller.userId).map(({ id }) => id);
  return workspaces.find(fits);
}
