import { isDeepStrictEqual } from "node:util";
import type { Caller } from "../caller.js";
import { type FieldError, isRefusal, type Refusal } from "../refusal.js";
import { timeText } from "../time-text.js";
import { canonicalJson } from "./canonical-json.js";
import { recordChange } from "./change-record.table.js";
import { findAttempt, recordAttempt } from "./idempotency.table.js";
import type { HolderLocation, Kind, ResourceUser, WriteScope } from "./kind.js";
import type {
  DeleteResource,
  NewResource,
  PreparedBody,
  ReservedHashes,
  UpdateResource,
  WriteResult,
} from "./resource.messages.js";
import { findResource, listResources, type ResourceRow, resourceAddresses } from "./resource.table.js";
import {
  danglingReferences,
  findLostKey,
  getTeamKey,
  listReferrers,
  missingReference,
  putResource,
  removeResource,
} from "./resource-indexes.table.js";
import type { ResourceTurn } from "./resource-turn.js";

/** Maximum number of users named in an `in-use` answer. */
const USERS_NAMED = 5;

/**
 * Creates a resource of any kind, in a turn of the workspace. Finds a repeated create by its idempotency key among the
 * workspace's attempts. For the create of a workspace, the slug claim stores the key instead.
 */
export function createResource(turn: ResourceTurn, kind: Kind, message: NewResource): WriteResult | Refusal {
  const workspaceId = turn.self.partition;
  const fields = message.fields as Record<string, unknown>;
  const refused = kind.refuses?.({ caller: message.caller, fields, previous: null }) ?? null;
  if (refused !== null) return refused;
  const keepsAttempt = kind.heldBy !== "none";
  const earlier = keepsAttempt ? findAttempt(turn, workspaceId, message.idempotency, turn.now) : null;
  if (earlier !== null) return isRefusal(earlier) ? earlier : replayCreate(turn, kind, earlier.resourceId);

  const holder = locateHolder(turn, kind, message);
  if (holder === null) return { refused: "not-found" };
  const { teamId } = holder;
  const { caller, hidden, station = null } = message;
  const scope = getScope(turn, { caller, hidden, teamId, station, previous: null });
  const checked = checkFields(turn, kind, message, scope);
  if (isRefusal(checked)) return checked;
  const address = kind.address(checked.fields, holder.address);
  if (resourceAddresses.get(turn, workspaceId, kind.name, address) !== undefined) return addressTaken(kind, address);

  const at = timeText(turn.now);
  const row: ResourceRow = {
    id: kind.heldBy === "none" ? workspaceId : turn.newId(kind.idPrefix),
    kind: kind.name,
    version: 1,
    workspaceId,
    teamId,
    address,
    fields: checked.fields,
    hidden,
    added: checked.added,
    createdAt: at,
    updatedAt: at,
  };
  putResource(turn, kind, row, null);
  if (keepsAttempt) recordAttempt(turn, workspaceId, message.idempotency, row.id);
  record(turn, kind, message, row, null, "created");
  return { resource: row, replayed: false };
}

/**
 * Updates a resource of any kind by replacing all its fields.
 *
 * An update that changes no stored value is not a change. The version stays, and the change log gets no record. Data
 * that depends on the version also stays valid, such as the tokens of a trust. A given sealed value always counts as a
 * change: the edge has already dropped values that equal the stored one (see {@link HiddenField.isRepeated}).
 */
export function updateResource(turn: ResourceTurn, kind: Kind, message: UpdateResource): WriteResult | Refusal {
  const workspaceId = turn.self.partition;
  const previous = findResource(turn, workspaceId, kind.name, message.id);
  if (previous === undefined) return { refused: "not-found" };
  const fields = message.fields as Record<string, unknown>;
  const refused = kind.refuses?.({ caller: message.caller, fields, previous }) ?? null;
  if (refused !== null) return refused;
  if (previous.version !== message.version) return refuseStale(previous);
  const { caller, hidden: given } = message;
  const scope = getScope(turn, { caller, hidden: given, teamId: previous.teamId, station: null, previous });
  const fixed = changedFixed(kind, previous.fields, message.fields);
  if (fixed.length > 0) return { refused: "invalid", errors: fixed };
  const checked = checkFields(turn, kind, message, scope);
  if (isRefusal(checked)) return checked;
  const use = kind.updateInUse?.(checked.fields, previous, turn) ?? refuseLostKey(turn, kind, previous, checked.fields);
  if (use !== null) return { refused: "in-use", detail: use };
  const hidden = { ...mergeHidden(kind, previous, checked.fields), ...given };
  const next = { fields: checked.fields, hidden, added: checked.added };
  if (isAsBefore(next, previous)) return { resource: previous, replayed: false };
  const row: ResourceRow = {
    ...previous,
    ...next,
    version: previous.version + 1,
    updatedAt: timeText(turn.now),
  };
  putResource(turn, kind, row, previous);
  kind.afterUpdate?.(turn, { row, previous }, turn.now);
  record(turn, kind, message, row, previous, "updated");
  return { resource: row, replayed: false };
}

function isAsBefore(next: Pick<ResourceRow, "fields" | "hidden" | "added">, previous: ResourceRow): boolean {
  const { fields, hidden, added } = previous;
  return canonicalJson(next) === canonicalJson({ fields, hidden, added });
}

/** Deletes a resource of any kind. If other resources use this resource, refuses with `in-use` and names the users. */
export function deleteResource(turn: ResourceTurn, kind: Kind, message: DeleteResource): WriteResult | Refusal {
  const row = findResource(turn, turn.self.partition, kind.name, message.id);
  if (row === undefined) return { refused: "not-found" };
  const refused = kind.refuses?.({ caller: message.caller, fields: null, previous: row }) ?? null;
  if (refused !== null) return refused;
  if (row.version !== message.version) return refuseStale(row);
  const users = [...listReferrers(turn, row, USERS_NAMED + 1), ...(kind.listUsers?.(row, turn, USERS_NAMED + 1) ?? [])];
  if (users.length > 0) return { refused: "in-use", detail: usedBy(`The ${kind.name} ${row.address}`, users) };
  const use = kind.inUse?.(row, turn) ?? refuseLostKey(turn, kind, row, null);
  if (use !== null) return { refused: "in-use", detail: use };
  removeResource(turn, kind, row);
  record(turn, kind, message, row, row, "deleted");
  return { resource: row, replayed: false };
}

/**
 * Returns why this write may not remove a lookup key of `row`, or null. The write may not remove a key that only `row`
 * has and that other resources use.
 */
function refuseLostKey(
  turn: ResourceTurn,
  kind: Kind,
  row: ResourceRow,
  next: ResourceRow["fields"] | null,
): string | null {
  const lost = findLostKey(turn, kind, row, { next, limit: USERS_NAMED + 1 });
  if (lost === null) return null;
  return usedBy(`The ${kind.lookupKeys?.what ?? kind.name} ${lost.key} of ${kind.name} ${row.address}`, lost.users);
}

function usedBy(what: string, users: readonly ResourceUser[]): string {
  const named = users.slice(0, USERS_NAMED).map((user) => `${user.kind} ${user.address}`);
  return `${what} is used by ${named.join(", ")}${users.length > USERS_NAMED ? " and more" : ""}.`;
}

/** Removes a resource whose holder was removed. The author of the change record is the service. */
export function withdrawOrphan(turn: ResourceTurn, kind: Kind, row: ResourceRow, client: string | null): void {
  removeResource(turn, kind, row);
  record(turn, kind, { caller: null, client }, row, row, "deleted");
}

/** Returns the location of a new resource; null if the holder does not exist. */
function locateHolder(turn: ResourceTurn, kind: Kind, { teamId, station }: NewResource): HolderLocation | null {
  const { partition } = turn.self;
  switch (kind.heldBy) {
    case "none":
      return { address: "", teamId: null };
    case "workspace": {
      const workspace = findResource(turn, partition, "workspace", partition);
      return workspace === undefined ? null : { address: workspace.address, teamId: null };
    }
    case "team": {
      const address = getTeamKey(turn, partition, teamId);
      return address === "" ? null : { address, teamId };
    }
    case "station":
      return station === undefined ? null : (kind.locateStation?.(turn, partition, station) ?? null);
  }
}

/**
 * Returns the answer to a create that repeats an earlier create with the same key. Refuses if the resource of the
 * earlier create was deleted.
 */
export function replayCreate(turn: ResourceTurn, kind: Kind, resourceId: string): WriteResult | Refusal {
  const made = findResource(turn, turn.self.partition, kind.name, resourceId);
  if (made !== undefined) return { resource: made, replayed: true };
  return { refused: "conflict", detail: `The ${kind.name} that this Idempotency-Key created has been deleted.` };
}

function getScope(
  turn: ResourceTurn,
  write: Pick<WriteScope<Record<string, unknown>>, "caller" | "teamId" | "station" | "previous" | "hidden">,
): WriteScope<Record<string, unknown>> {
  const { caller, teamId, station, previous, hidden } = write;
  const workspaceId = turn.self.partition;
  const teamKey = getTeamKey(turn, workspaceId, teamId);
  const newId = (prefix: string) => turn.newId(prefix);
  // Use a single literal. Spreading another object would take longer than all other work of a create.
  return { reading: turn, workspaceId, teamId, teamKey, station, previous, hidden, caller, now: turn.now, newId };
}

type Checked = { readonly fields: Record<string, unknown>; readonly added: Readonly<Record<string, unknown>> };

/** Returns the previous hidden values that still belong to the new fields. */
function mergeHidden(kind: Kind, previous: ResourceRow, fields: ResourceRow["fields"]): ResourceRow["hidden"] {
  const gone = kind.hidden.filter(({ staysWith }) => staysWith?.(fields) === false).map(({ path }) => path);
  return Object.fromEntries(Object.entries(previous.hidden).filter(([path]) => !gone.includes(path)));
}

/** Checks a body beyond its schema. Returns its completed fields, or a refusal with all errors. */
function checkFields(
  turn: ResourceTurn,
  kind: Kind,
  { fields: body, reserved }: PreparedBody,
  scope: WriteScope<Record<string, unknown>>,
): Checked | Refusal {
  if (reserved !== undefined && turn.now >= reserved.beforeMs) return tooLate;
  const fields = body as Record<string, unknown>;
  const references = kind.references(fields, scope.teamKey);
  const dangling = danglingReferences(turn, scope.workspaceId, { references, teamId: scope.teamId });
  const invalid = kind.validate?.(fields, scope) ?? [];
  const errors = invalid.concat(findTakenHashes(kind, scope, reserved), dangling.map(missingReference));
  if (errors.length > 0) return { refused: "invalid", errors };
  return kind.complete?.(fields, scope) ?? { fields, added: scope.previous?.added ?? {} };
}

const tooLate: Refusal = { refused: "conflict", detail: "The request waited too long. Please try again." };

/**
 * Returns errors for hashes that another resource already has. For resources of other workspaces, `reserved` has the
 * result.
 */
function findTakenHashes(
  kind: Kind,
  { reading, workspaceId, previous, hidden }: WriteScope<Record<string, unknown>>,
  reserved: ReservedHashes | undefined,
): FieldError[] {
  if (reserved === undefined) return [];
  return kind.hidden.flatMap(({ path, unique }) => {
    const hash = hidden[path];
    if (unique === undefined || hash === undefined) return [];
    const keeps = (row: ResourceRow) => row.id !== previous?.id && row.hidden[path] === hash;
    const isTaken = reserved.taken.includes(path) || listResources(reading, workspaceId, kind.name).some(keeps);
    return isTaken ? [{ path, message: unique.taken }] : [];
  });
}

function changedFixed(kind: Kind, before: unknown, after: unknown): FieldError[] {
  return kind.fixed
    .filter((path) => !isDeepStrictEqual(valueAt(before, path), valueAt(after, path)))
    .map((path) => ({ path, message: "cannot be changed once it is set" }));
}

function valueAt(fields: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], fields);
}

/** Returns the 409 for an address that another resource has. */
export function addressTaken(kind: Kind, address: string): Refusal {
  return {
    refused: "already-exists",
    detail: `A ${kind.name} already exists at ${address}; import it instead of creating it.`,
  };
}

function refuseStale(row: ResourceRow): Refusal {
  return {
    refused: "moved-on",
    detail: `The ${row.kind} ${row.address} is at version ${row.version} now.`,
    currentVersion: row.version,
  };
}

function record(
  turn: ResourceTurn,
  kind: Kind,
  message: { readonly caller: Caller | null; readonly client: string | null },
  row: ResourceRow,
  previous: ResourceRow | null,
  action: "created" | "updated" | "deleted",
): void {
  const teamId = kind.name === "team" ? row.id : row.teamId;
  const key = row.address.slice(row.address.lastIndexOf("/") + 1);
  const details = kind.details?.(row, previous) ?? {};
  const { caller, client } = message;
  recordChange(turn, { resource: kind.name, resourceId: row.id, key, action, caller, client, details }, teamId);
}
