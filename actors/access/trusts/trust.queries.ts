import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { Refusal } from "../../refusal.js";
import type { Kind } from "../../resources/kind.js";
import { findKnownResource } from "../../resources/resource.table.js";
import { findOwningWorkspace } from "../../resources/resource-location.table.js";
import { permit } from "../visibility/visibility.js";
import { MAX_REFUSALS, refusals, type TrustRefusal } from "./trust-refusal.table.js";

/** A trust that a caller may manage. */
export interface ManagedTrust {
  readonly workspaceId: string;
  readonly id: string;
}

/**
 * Finds the trust of the kind for a caller who may manage it. A caller who can only see the trust gets a refusal that
 * names the missing permission.
 */
export function findManagedTrust(
  reading: Reading,
  caller: Caller,
  kind: Pick<Kind, "name" | "permission">,
  id: string,
): ManagedTrust | Refusal {
  const workspaceId = findOwningWorkspace(reading, kind.name, id);
  if (workspaceId === undefined) return { refused: "not-found" };
  const refused = permit(reading, caller, workspaceId, kind.permission, kind.name);
  if (refused !== null) return refused;
  const isThere = findKnownResource(reading, workspaceId, kind.name, id) !== undefined;
  return isThere ? { workspaceId, id } : { refused: "not-found" };
}

/** Lists the latest refusals of a trust, newest first. */
export function listLatestRefusals(reading: Reading, { workspaceId, id }: ManagedTrust): TrustRefusal[] {
  return refusals.list(reading, workspaceId, [id], { reverse: true, limit: MAX_REFUSALS });
}
