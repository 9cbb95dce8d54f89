import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

/** The parts of a stored resource that this step reads. */
interface StoredResource {
  readonly kind: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Adds the field `pullRequests` to stored lines, with null: they use the default settings. */
export const pullRequestTermsWalks: readonly Walk[] = [
  eachRow<StoredResource>("resource", (row, place) => {
    if (row.kind !== "line" || "pullRequests" in row.fields) return [];
    const fields = { ...row.fields, pullRequests: null };
    return [putRow(place, "resource", [row.kind, row.id], { ...row, fields })];
  }),
];
