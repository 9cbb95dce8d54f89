import type { Reading } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import { findWorkspaceBySlug } from "../workspaces/slug-claims.machine.js";
import { permit } from "./visibility.js";

/** A workspace that a caller may see. */
export interface VisibleWorkspace {
  readonly workspaceId: string;
}

/** The workspace with this slug; refused `not-found` unless the caller may see it. */
export function findVisibleWorkspace(reading: Reading, caller: Caller, slug: string): VisibleWorkspace | Refusal {
  const workspaceId = findWorkspaceBySlug(reading, slug);
  if (workspaceId === undefined) return { refused: "not-found" };
  return permit(reading, caller, workspaceId, "read", "workspace") ?? { workspaceId };
}

/** The same for those who administer it; `not-found` for anyone else. */
export function findAdministeredWorkspace(reading: Reading, caller: Caller, slug: string): VisibleWorkspace | Refusal {
  const workspaceId = findWorkspaceBySlug(reading, slug);
  const isAllowed =
    workspaceId !== undefined && permit(reading, caller, workspaceId, "administer", "workspace") === null;
  return isAllowed ? { workspaceId } : { refused: "not-found" };
}
