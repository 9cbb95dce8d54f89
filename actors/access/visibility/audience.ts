import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import { findResource } from "../../resources/resource.table.js";
import { findMember } from "../../workspaces/member.table.js";
import { listPermissions } from "./visibility.js";

/** The callers in a workspace who can see something. */
export type Audience =
  /** All callers with the permission `read`. */
  | "readers"
  /** All users with the permission `read`, but no tokens. */
  | "people"
  /** The users who administer the workspace. */
  | "administrators"
  /** The callers who can read the outcomes of the team with this id (configuration API, Visibility). */
  | { readonly outcomesOf: string };

/** A caller's rights in a workspace. Read them once, then check several audiences. */
export interface ReaderRights {
  readonly isPerson: boolean;
  readonly reads: boolean;
  readonly administers: boolean;
  /** The ids of the teams that a user is on. */
  readonly teams: readonly string[];
}

/** Returns the caller's rights in the workspace; none if they cannot see it, or if it is closed. */
export function findReaderRights(reading: Reading, caller: Caller, workspaceId: string): ReaderRights {
  const granted = listPermissions(reading, caller, workspaceId);
  const isPerson = caller.kind === "person";
  const teams = isPerson ? findMember(reading, workspaceId, caller.userId)?.teams : undefined;
  return { isPerson, reads: granted.includes("read"), administers: granted.includes("administer"), teams: teams ?? [] };
}

/**
 * Returns the row of an open workspace; undefined if the workspace is closed. Every change of the workspace creates a
 * new row object. So a token's rights in the workspace can be cached while the row is the same object.
 */
export function findReadWorkspace(reading: Reading, workspaceId: string): object | undefined {
  return findResource(reading, workspaceId, "workspace", workspaceId);
}

/** Returns whether a caller with these rights is in the audience. */
export function isAmong({ isPerson, reads, administers, teams }: ReaderRights, audience: Audience): boolean {
  if (!reads) return false;
  if (audience === "readers") return true;
  if (audience === "people") return isPerson;
  if (audience === "administrators") return isPerson && administers;
  return !isPerson || administers || teams.includes(audience.outcomesOf);
}
