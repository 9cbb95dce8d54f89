import type { Reading } from "../../storage/store.js";
import type { Kind } from "./kind.js";
import type { ResourceRow } from "./resource-rows.js";

/** A resource as every answer shows it: common fields, its own with defaults, read-only ones; never a hidden one. */
export function represent(kind: Kind, row: ResourceRow, reading: Reading): Readonly<Record<string, unknown>> {
  return {
    ...placeShown(kind, row),
    ...row.fields,
    ...row.added,
    warnings: kind.warnings?.(row.fields, reading, row) ?? [],
  };
}

/** The read-only fields of a resource, but for `warnings`, which follow from others: all but `version` for good. */
export function readOnlyFields(kind: Kind, row: ResourceRow): Readonly<Record<string, unknown>> {
  return { ...placeShown(kind, row), ...row.added };
}

function placeShown({ heldBy }: Kind, { id, version, address, workspaceId, teamId }: ResourceRow) {
  return {
    ...{ id, version, address },
    ...(heldBy === "none" ? {} : { workspaceId }),
    ...(teamId === null ? {} : { teamId }),
  };
}
