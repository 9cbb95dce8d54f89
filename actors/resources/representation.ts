import type { Reading } from "../../storage/store.js";
import type { Kind } from "./kind.js";
import type { ResourceRow } from "./resource.table.js";

/** A resource as answers return it: common fields, its own with defaults, read-only ones; never a hidden one. */
export function toRepresentation(kind: Kind, row: ResourceRow, reading: Reading): Readonly<Record<string, unknown>> {
  const representation = Object.assign(commonFields(kind, row), row.fields, row.added, kind.computed?.(row));
  representation.warnings = kind.warnings?.(row.fields, reading, row) ?? [];
  return representation;
}

/** The read-only fields of a resource except `warnings`, which follow from others; only `version` ever changes. */
export function readOnlyFields(kind: Kind, row: ResourceRow): Readonly<Record<string, unknown>> {
  return Object.assign(commonFields(kind, row), row.added, kind.computed?.(row));
}

function commonFields({ heldBy }: Kind, { id, version, address, workspaceId, teamId }: ResourceRow) {
  const representation: Record<string, unknown> = { id, version, address };
  if (heldBy !== "none") representation.workspaceId = workspaceId;
  if (teamId !== null) representation.teamId = teamId;
  return representation;
}
