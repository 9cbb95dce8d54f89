import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

/** A resource, as far as this step reads it. */
interface StoredResource {
  readonly kind: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The settings of a workspace's runners got the share of slots for replays. */
export const replaySlotsWalks: readonly Walk[] = [
  eachRow<StoredResource>("resource", (row, place) => {
    if (row.kind !== "workspace-runners" || "replaySlotsPercent" in row.fields) return [];
    const fields = { ...row.fields, replaySlotsPercent: null };
    return [putRow(place, "resource", [row.kind, row.id], { ...row, fields })];
  }),
];
