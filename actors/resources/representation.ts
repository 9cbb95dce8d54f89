import type { Reading } from "../../storage/store.js";
import type { Kind } from "./kind.js";
import type { ResourceRow } from "./resource-rows.js";

/** A resource as every answer shows it: common fields, its own with defaults, read-only ones; never a hidden one. */
export function represent(kind: Kind, row: ResourceRow, reading: Reading): Readonly<Record<string, unknown>> {
  return {
    id: row.id,
    version: row.version,
    address: row.address,
    ...(kind.heldBy === "none" ? {} : { workspaceId: row.workspaceId }),
    ...(row.teamId === null ? {} : { teamId: row.teamId }),
    ...row.fields,
    ...row.added,
    warnings: kind.warnings?.(row.fields, reading, row) ?? [],
  };
}
