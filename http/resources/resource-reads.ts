import { setImmediate } from "node:timers/promises";
import { listPermissions, permit, seesOutcomes } from "../../actors/access/visibility.js";
import type { Caller } from "../../actors/caller.js";
import { invalid, type Refusal } from "../../actors/refusal.js";
import type { Kind } from "../../actors/resources/kind.js";
import {
  findResource,
  findResourceAt,
  listResources,
  type ResourcePage,
  type ResourceRow,
} from "../../actors/resources/resource.table.js";
import { locate } from "../../actors/resources/resource-location.table.js";
import { listMemberships } from "../../actors/workspaces/member.table.js";
import { findWorkspaceBySlug } from "../../actors/workspaces/slug-claims.machine.js";
import type { Reading } from "../../storage/store.js";

/** Who asks, and what for. */
export interface ResourceRequest {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
}

const STATION = /^[a-z0-9-]+\/[a-z0-9-]+\/[a-z0-9-]+$/;
const HELD_BY_STATION = /^[a-z0-9-]+\/[a-z0-9-]+\/[a-z0-9-]+\/[^/]+$/;

/** The row behind `{id}`, as far as the caller may see it. */
export function findRow(kind: Kind, reading: Reading, { caller, params }: ResourceRequest): ResourceRow | Refusal {
  const id = params.id ?? "";
  const place = locate(reading, id);
  if (place === undefined || place.kind !== kind.name) return { refused: "not-found" };
  const refused = permit(reading, caller, place.workspaceId, "read", kind.name);
  if (refused !== null) return refused;
  const row = findResource(reading, place.workspaceId, kind.name, id);
  return row !== undefined && isResourceVisible(kind, reading, caller, row) ? row : { refused: "not-found" };
}

/** The row at an address, as far as the caller may see it. */
export function importedRow(
  kind: Kind,
  reading: Reading,
  { caller, params }: ResourceRequest,
  at: string,
): ResourceRow | Refusal {
  const workspaceId = kind.heldBy === "none" ? findWorkspaceBySlug(reading, at) : params.workspaceId;
  if (workspaceId === undefined) return { refused: "not-found" };
  const refused = permit(reading, caller, workspaceId, "read", kind.name);
  if (refused !== null) return refused;
  if (kind.heldBy === "station" && !HELD_BY_STATION.test(at)) {
    return invalid("address", "must be <team key>/<line key>/<station key>/<name>");
  }
  const row = findResourceAt(reading, workspaceId, kind.name, at);
  return row !== undefined && isResourceVisible(kind, reading, caller, row) ? row : { refused: "not-found" };
}

/** Rows read at once; other work gets its turn between two such pages. */
const PAGE = 200;

/**
 * What `show` makes of the rows that the caller may see, in address order; of one station when `station` names it by
 * its address. A change while a long list is read may be in it or not.
 */
export async function listedRows<Shown>(
  kind: Kind,
  reading: Reading,
  { caller, params, station }: ResourceRequest & { readonly station: string | undefined },
  show: (row: ResourceRow) => Shown,
): Promise<readonly Shown[] | Refusal> {
  if (kind.heldBy === "none") return visibleWorkspaces(reading, caller).map(show);
  const workspaceId = params.workspaceId ?? "";
  const refused = permit(reading, caller, workspaceId, "read", kind.name);
  if (refused !== null) return refused;
  if (station !== undefined && !STATION.test(station)) {
    return invalid("station", "must be <team key>/<line key>/<station key>");
  }
  const shown: Shown[] = [];
  let page: ResourcePage = { limit: PAGE, ...(station === undefined ? {} : { under: station }) };
  for (;;) {
    const rows = listResources(reading, workspaceId, kind.name, page);
    for (const row of rows) if (isResourceVisible(kind, reading, caller, row)) shown.push(show(row));
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return shown;
    page = { ...page, after: last.address };
    await setImmediate();
  }
}

/** Whether a caller who sees the workspace sees this of it. */
export function isResourceVisible(
  kind: Kind,
  reading: Reading,
  caller: Caller,
  { workspaceId, teamId }: Pick<ResourceRow, "workspaceId" | "teamId">,
): boolean {
  return kind.seenBy === undefined || (teamId !== null && seesOutcomes(reading, caller, workspaceId, teamId));
}

function visibleWorkspaces(reading: Reading, caller: Caller): ResourceRow[] {
  const ids =
    caller.kind === "token"
      ? [caller.workspaceId].filter((id) => listPermissions(reading, caller, id).length > 0)
      : listMemberships(reading, caller.userId).map((membership) => membership.id);
  return ids.flatMap((id) => findResource(reading, id, "workspace", id) ?? []);
}

/** Where a create goes. */
export interface Holder {
  readonly workspaceId: string;
  readonly teamId: string | null;
  readonly station?: { readonly lineId: string; readonly stationKey: string };
}

/** What the path of a create names as its holder, as far as the caller may see it. */
export function namedHolder(kind: Kind, reading: Reading, { caller, params }: ResourceRequest): Holder | Refusal {
  if (kind.heldBy !== "team" && kind.heldBy !== "station")
    return { workspaceId: params.workspaceId ?? "", teamId: null };
  const id = (kind.heldBy === "team" ? params.teamId : params.lineId) ?? "";
  const place = locate(reading, id);
  if (place?.kind !== (kind.heldBy === "team" ? "team" : "line")) return { refused: "not-found" };
  const { workspaceId } = place;
  if (kind.heldBy === "team") return { workspaceId, teamId: id };
  const station = { lineId: id, stationKey: params.stationKey ?? "" };
  const found = kind.locateStation?.(reading, workspaceId, station) ?? null;
  const isVisible = found !== null && isResourceVisible(kind, reading, caller, { workspaceId, teamId: found.teamId });
  return isVisible ? { workspaceId, teamId: found.teamId, station } : { refused: "not-found" };
}
