import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { Refusal } from "../../refusal.js";
import type { Kind } from "../../resources/kind.js";
import type { ResourceMessage } from "../../resources/resource.messages.js";
import type { ResourceTurn } from "../../resources/resource-turn.js";
import { refuseEndedToken } from "../tokens/workspace-token.queries.js";
import { forbid, permit } from "./visibility.js";

/** A write of a resource, with the values that its permission depends on. */
export interface RequestedWrite {
  readonly workspaceId: string;
  readonly kind: Kind;
  readonly action: "create" | "update" | "delete";
}

/**
 * Returns why the caller may not write this kind in the workspace, or null (configuration API, Permissions). Does not
 * apply to creating a workspace.
 */
export function refuseWrite(
  reading: Reading,
  caller: Caller,
  { workspaceId, kind, action }: RequestedWrite,
): Refusal | null {
  const closes = kind.heldBy === "none" && action === "delete";
  const permission = closes ? "administer" : kind.permission;
  const refused = permit(reading, caller, workspaceId, permission, kind.name);
  if (refused !== null) return refused;
  return kind.peopleOnly === true && caller.kind === "token" ? forbid(permission, kind.name) : null;
}

/**
 * Returns why a repeated create may not return the created resource, or null. The caller may have lost access to it
 * since.
 */
export function refuseReplay(
  reading: Reading,
  caller: Caller,
  kind: Kind,
  { workspaceId }: { readonly workspaceId: string },
): Refusal | null {
  if (permit(reading, caller, workspaceId, "read", kind.name) === null) return null;
  return {
    refused: "conflict",
    detail: `You no longer have access to the ${kind.name} that this Idempotency-Key created.`,
  };
}

const actions = { "resource.create": "create", "resource.update": "update", "resource.delete": "delete" } as const;

/**
 * Repeats the permission check in the turn of the write. While the write waited, the caller's token may have been
 * revoked, or the caller may have lost their role. So the change log never has an entry by a revoked or expired token.
 */
export function refuseInTurn(
  turn: ResourceTurn,
  kind: Kind,
  { type, caller }: Pick<ResourceMessage, "type" | "caller">,
): Refusal | null {
  const action = actions[type];
  if (kind.heldBy === "none" && action === "create") return null;
  return (
    refuseEndedToken(turn, caller, turn.now) ??
    refuseWrite(turn, caller, { workspaceId: turn.self.partition, kind, action })
  );
}
