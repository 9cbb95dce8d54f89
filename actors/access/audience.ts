import type { Reading } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import { findResource } from "../resources/resource.table.js";
import { findMember } from "../workspaces/member.table.js";
import { listPermissions } from "./visibility.js";

/** Those of a workspace who may see something. */
export type Audience =
  /** Everyone who may read in the workspace. */
  | "readers"
  /** The people among them. */
  | "people"
  /** The people who administer the workspace. */
  | "administrators"
  /** Those who may read the outcomes of the team with this id (configuration API, Visibility). */
  | { readonly outcomesOf: string };

/** What a caller may see in a workspace, read once for many questions about it. */
export interface ReaderRights {
  readonly isPerson: boolean;
  readonly reads: boolean;
  readonly administers: boolean;
  /** The ids of the teams that a person is on. */
  readonly teams: readonly string[];
}

/** The caller's rights in the workspace; none when they may not see it, or when it is closed. */
export function findReaderRights(reading: Reading, caller: Caller, workspaceId: string): ReaderRights {
  const held = listPermissions(reading, caller, workspaceId);
  const isPerson = caller.kind === "person";
  const teams = isPerson ? findMember(reading, workspaceId, caller.userId)?.teams : undefined;
  return { isPerson, reads: held.includes("read"), administers: held.includes("administer"), teams: teams ?? [] };
}

/** The row of an open workspace, which rights in it follow from; another one after each change. */
export function findReadWorkspace(reading: Reading, workspaceId: string): object | undefined {
  return findResource(reading, workspaceId, "workspace", workspaceId);
}

/** Whether someone with these rights is among them. */
export function isAmong({ isPerson, reads, administers, teams }: ReaderRights, audience: Audience): boolean {
  if (!reads) return false;
  if (audience === "readers") return true;
  if (audience === "people") return isPerson;
  if (audience === "administrators") return isPerson && administers;
  return !isPerson || administers || teams.includes(audience.outcomesOf);
}
