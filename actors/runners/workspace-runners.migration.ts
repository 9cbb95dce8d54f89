import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

/** The parts of a resource that this step reads. */
interface StoredResource {
  readonly kind: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Adds the share of slots for replays to the settings of workspaces' runners. */
export const replaySlotsWalks: readonly Walk[] = [
  eachRow<StoredResource>("resource", (row, place) => {
    if (row.kind !== "workspace-runners" || "replaySlotsPercent" in row.fields) return [];
    const fields = { ...row.fields, replaySlotsPercent: null };
    return [putRow(place, "resource", [row.kind, row.id], { ...row, fields })];
  }),
];
