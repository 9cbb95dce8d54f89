import type { Reading } from "../../storage/store.js";
import type { Kind, LiveScope } from "./kind.js";
import type { ResourceRow } from "./resource.table.js";

/**
 * Returns a resource as responses show it: the common fields, the kind's fields with defaults, and read-only fields.
 * Leaves out hidden fields and live fields.
 */
export function toRepresentation(kind: Kind, row: ResourceRow, reading: Reading): Readonly<Record<string, unknown>> {
  const representation = Object.assign(commonFields(kind, row), row.fields, row.added, kind.computed?.(row));
  representation.warnings = kind.warnings?.(row.fields, reading, row) ?? [];
  return representation;
}

/** Returns a resource as answers to one caller show it: its representation with the kind's live fields. */
export function toLiveRepresentation(
  kind: Kind,
  row: ResourceRow,
  scope: Pick<LiveScope<ResourceRow["fields"]>, "reading" | "caller" | "nowMs">,
): Readonly<Record<string, unknown>> {
  return { ...toRepresentation(kind, row, scope.reading), ...kind.live?.read({ ...scope, row }) };
}

/** Returns the read-only fields of a resource, except `warnings`, which depend on other data. */
export function readOnlyFields(kind: Kind, row: ResourceRow): Readonly<Record<string, unknown>> {
  return Object.assign(commonFields(kind, row), row.added, kind.computed?.(row));
}

function commonFields({ heldBy }: Kind, { id, version, address, workspaceId, teamId }: ResourceRow) {
  const representation: Record<string, unknown> = { id, version, address };
  if (heldBy !== "none") representation.workspaceId = workspaceId;
  if (teamId !== null) representation.teamId = teamId;
  return representation;
}
