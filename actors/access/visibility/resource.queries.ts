import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import { invalid, type Refusal } from "../../refusal.js";
import type { Kind, MadeResource } from "../../resources/kind.js";
import {
  addressPages,
  expectResource,
  findKnownResource,
  findLostAddress,
  findResource,
  findResourceAt,
  type ResourceRow,
  resourceAddresses,
} from "../../resources/resource.table.js";
import { findOwningWorkspace } from "../../resources/resource-location.table.js";
import { listMemberships } from "../../workspaces/member.table.js";
import { findWorkspaceBySlug } from "../../workspaces/slug-claims.machine.js";
import { listPermissions, permit, seesOutcomes } from "./visibility.js";

/** A resource that a caller can see. */
export type VisibleResource = ResourceRow;

const STATION = /^[a-z0-9-]+\/[a-z0-9-]+\/[a-z0-9-]+$/;
const STATION_ADDRESS = /^[a-z0-9-]+\/[a-z0-9-]+\/[a-z0-9-]+\/[^/]+$/;

/** Finds the resource of the kind with this id; refuses with `not-found` if the caller cannot see it. */
export function findVisibleResource(
  kind: Kind,
  reading: Reading,
  caller: Caller,
  id: string,
): VisibleResource | Refusal {
  const workspaceId = findOwningWorkspace(reading, kind.name, id);
  if (workspaceId === undefined) return findVisibleMade(kind, reading, caller, id)?.row ?? { refused: "not-found" };
  // Check the permission before reading the row. Callers who cannot see the resource must not learn that its row is
  // damaged.
  const refused = permit(reading, caller, workspaceId, "read", kind.name);
  if (refused !== null) return refused;
  const row = findResource(reading, workspaceId, kind.name, id);
  if (row === undefined && seesLost(kind, reading, caller, { workspaceId, id })) {
    return expectResource(reading, workspaceId, kind.name, id);
  }
  return row !== undefined && isVisible(kind, reading, caller, row) ? row : { refused: "not-found" };
}

/**
 * Returns whether the resource's row is lost but its address still exists. Returns false if the caller could not see
 * the resource.
 */
function seesLost(
  kind: Kind,
  reading: Reading,
  caller: Caller,
  { workspaceId, id }: { readonly workspaceId: string; readonly id: string },
): boolean {
  const address = findLostAddress(reading, workspaceId, kind.name, id);
  if (address === undefined) return false;
  const [teamKey = ""] = address.split("/");
  const teamId = resourceAddresses.get(reading, workspaceId, "team", teamKey) ?? null;
  return isVisible(kind, reading, caller, { workspaceId, teamId });
}

/** Finds a resource to delete. Refuses with `in-use` if the service created the resource for its own use. */
export function findDeletable(kind: Kind, reading: Reading, caller: Caller, id: string): VisibleResource | Refusal {
  const made = findVisibleMade(kind, reading, caller, id);
  if (made === undefined) return findVisibleResource(kind, reading, caller, id);
  return (
    permit(reading, caller, made.workspaceId, kind.permission, kind.name) ?? { refused: "in-use", detail: made.use }
  );
}

/**
 * Finds a resource that the service created for its own use. Undefined if there is none. Also undefined if the caller
 * could not see a user's resource of this kind in the same team.
 */
function findVisibleMade(kind: Kind, reading: Reading, caller: Caller, id: string): MadeResource | undefined {
  const made = kind.findMade?.(reading, id);
  if (made === undefined || permit(reading, caller, made.workspaceId, "read", kind.name) !== null) return undefined;
  return isVisible(kind, reading, caller, made) ? made : undefined;
}

/**
 * Identifies a resource. A workspace is identified by its slug, in `address`; `workspaceId` is then undefined. Other
 * resources are identified by their workspace and their address in it.
 */
export interface ResourceName {
  readonly workspaceId: string | undefined;
  readonly address: string;
}

/**
 * Finds the resource of the kind at an address. Refuses with `not-found` if there is none or the caller cannot see it.
 * If resources of this kind belong to stations, refuses a malformed address with `invalid`.
 */
export function findVisibleResourceAt(
  kind: Kind,
  reading: Reading,
  caller: Caller,
  name: ResourceName,
): VisibleResource | Refusal {
  const { address } = name;
  const workspaceId = kind.heldBy === "none" ? findWorkspaceBySlug(reading, address) : name.workspaceId;
  if (workspaceId === undefined) return { refused: "not-found" };
  const refused = permit(reading, caller, workspaceId, "read", kind.name);
  if (refused !== null) return refused;
  if (kind.heldBy === "station" && !STATION_ADDRESS.test(address)) {
    return invalid("address", "must be <team key>/<line key>/<station key>/<name>");
  }
  const row = findResourceAt(reading, workspaceId, kind.name, address);
  return row !== undefined && isVisible(kind, reading, caller, row) ? row : { refused: "not-found" };
}

/** Selects the resources of a kind: those of a workspace, or only those of the station with this address. */
export interface ResourceListing {
  readonly workspaceId: string;
  readonly station: string | undefined;
}

/** Number of rows to read per page. */
const PAGE = 200;

/**
 * Lists the resources of the kind that the caller can see, in address order, a page at a time. A change made between
 * two pages may or may not appear. Refuses an invisible workspace and a malformed station address.
 *
 * Lists workspaces in one page. A user gets all workspaces of which they are a member. A token gets its own workspace.
 */
export function listVisibleResources(
  kind: Kind,
  reading: Reading,
  caller: Caller,
  { workspaceId, station }: ResourceListing,
): Iterable<readonly VisibleResource[]> | Refusal {
  if (kind.heldBy === "none") return [listVisibleWorkspaces(reading, caller)];
  const refused = permit(reading, caller, workspaceId, "read", kind.name);
  if (refused !== null) return refused;
  if (station !== undefined && !STATION.test(station)) {
    return invalid("station", "must be <team key>/<line key>/<station key>");
  }
  return visiblePages(kind, reading, caller, { workspaceId, station });
}

/** Returns whether every caller who can list the kind sees all resources that {@link listPages} returns. */
export function isSeenByAll(kind: Kind): boolean {
  return kind.heldBy !== "none" && kind.seenBy === undefined;
}

function* visiblePages(
  kind: Kind,
  reading: Reading,
  caller: Caller,
  listing: ResourceListing,
): Generator<readonly VisibleResource[]> {
  for (const rows of listPages(kind, reading, listing)) {
    yield rows.filter((row) => isVisible(kind, reading, caller, row));
  }
}

/** Lists all resources of the kind in address order, a page at a time, without checking visibility. */
export function* listPages(
  kind: Kind,
  reading: Reading,
  { workspaceId, station }: ResourceListing,
): Generator<readonly VisibleResource[]> {
  const under = station === undefined ? {} : { under: station };
  for (const places of addressPages(reading, workspaceId, kind.name, { limit: PAGE, ...under })) {
    yield places.map(({ id }) => expectResource(reading, workspaceId, kind.name, id));
  }
}

function listVisibleWorkspaces(reading: Reading, caller: Caller): VisibleResource[] {
  const ids =
    caller.kind === "token"
      ? [caller.workspaceId].filter((id) => listPermissions(reading, caller, id).length > 0)
      : listMemberships(reading, caller.userId).map((membership) => membership.id);
  return ids.flatMap((id) => findKnownResource(reading, id, "workspace", id) ?? []);
}

/** Returns whether a caller who can see the workspace can also see this resource. */
function isVisible(
  kind: Kind,
  reading: Reading,
  caller: Caller,
  { workspaceId, teamId }: Pick<ResourceRow, "workspaceId" | "teamId">,
): boolean {
  return kind.seenBy === undefined || (teamId !== null && seesOutcomes(reading, caller, workspaceId, teamId));
}

/** The workspace, team or station that a new resource will belong to. */
export interface Holder {
  readonly workspaceId: string;
  readonly teamId: string | null;
  readonly station?: { readonly lineId: string; readonly stationKey: string };
}

/** The holder of a new resource, as the request names it. The kind decides which fields are given. */
export interface HolderName {
  readonly workspaceId?: string;
  readonly teamId?: string;
  readonly lineId?: string;
  readonly stationKey?: string;
}

/**
 * Finds the holder of a new resource. Refuses with `not-found` if the caller cannot see the team or station. Does not
 * check a workspace as holder. Does not check whether the holder's limit allows another resource.
 */
export function findHolder(kind: Kind, reading: Reading, caller: Caller, name: HolderName): Holder | Refusal {
  if (kind.heldBy !== "team" && kind.heldBy !== "station") {
    return { workspaceId: name.workspaceId ?? "", teamId: null };
  }
  const holder = kind.heldBy === "team" ? "team" : "line";
  const id = (holder === "team" ? name.teamId : name.lineId) ?? "";
  const workspaceId = findOwningWorkspace(reading, holder, id);
  if (workspaceId === undefined || permit(reading, caller, workspaceId, "read", kind.name) !== null) {
    return { refused: "not-found" };
  }
  if (findKnownResource(reading, workspaceId, holder, id) === undefined) return { refused: "not-found" };
  if (kind.heldBy === "team") return { workspaceId, teamId: id };
  const station = { lineId: id, stationKey: name.stationKey ?? "" };
  const found = kind.locateStation?.(reading, workspaceId, station) ?? null;
  const sees = found !== null && isVisible(kind, reading, caller, { workspaceId, teamId: found.teamId });
  return sees ? { workspaceId, teamId: found.teamId, station } : { refused: "not-found" };
}
