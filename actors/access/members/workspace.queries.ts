import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { InSteps } from "../../in-steps.js";
import type { Refusal } from "../../refusal.js";
import { findResource } from "../../resources/resource.table.js";
import { listMembershipsInSteps } from "../../workspaces/member.table.js";
import { findWorkspaceBySlug } from "../../workspaces/slug-claims.machine.js";
import { listPermissions, permit } from "../visibility/visibility.js";

/** A workspace that a caller can see. */
export interface VisibleWorkspace {
  readonly workspaceId: string;
}

/** Finds the workspace with this slug; refuses with `not-found` if the caller cannot see it. */
export function findVisibleWorkspace(reading: Reading, caller: Caller, slug: string): VisibleWorkspace | Refusal {
  const workspaceId = findWorkspaceBySlug(reading, slug);
  if (workspaceId === undefined) return { refused: "not-found" };
  return permit(reading, caller, workspaceId, "read", "workspace") ?? { workspaceId };
}

/** Finds the workspace for a caller who administers it. Refuses any other caller with `not-found`. */
export function findAdministeredWorkspace(reading: Reading, caller: Caller, slug: string): VisibleWorkspace | Refusal {
  const workspaceId = findWorkspaceBySlug(reading, slug);
  const isAllowed =
    workspaceId !== undefined && permit(reading, caller, workspaceId, "administer", "workspace") === null;
  return isAllowed ? { workspaceId } : { refused: "not-found" };
}

/**
 * Lists the ids of the open workspaces that the caller can see, in steps. For a person, lists the workspaces of all
 * memberships in slug order. For a token, lists its own workspace.
 */
export function* listWorkspacesOf(reading: Reading, caller: Caller): InSteps<readonly string[]> {
  if (caller.kind === "person") return (yield* listMembershipsInSteps(reading, caller.userId)).map(({ id }) => id);
  return [caller.workspaceId].filter((id) => listPermissions(reading, caller, id).includes("read"));
}

/** Returns the slug of an open workspace; "" if it was closed. */
export function getSlug(reading: Reading, workspaceId: string): string {
  return findResource(reading, workspaceId, "workspace", workspaceId)?.address ?? "";
}
