import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { Refusal } from "../../refusal.js";
import { findWorkspaceBySlug } from "../../workspaces/slug-claims.machine.js";
import { permit } from "../visibility/visibility.js";

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

/** Finds the workspace for callers who administer it; `not-found` for others. */
export function findAdministeredWorkspace(reading: Reading, caller: Caller, slug: string): VisibleWorkspace | Refusal {
  const workspaceId = findWorkspaceBySlug(reading, slug);
  const isAllowed =
    workspaceId !== undefined && permit(reading, caller, workspaceId, "administer", "workspace") === null;
  return isAllowed ? { workspaceId } : { refused: "not-found" };
}
