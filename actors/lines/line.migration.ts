import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

/** A resource, as far as this step reads it. */
interface StoredResource {
  readonly kind: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Lines got terms for the pull requests of their tasks; those that say nothing have the default. */
export const pullRequestTermsWalks: readonly Walk[] = [
  eachRow<StoredResource>("resource", (row, place) => {
    if (row.kind !== "line" || "pullRequests" in row.fields) return [];
    const fields = { ...row.fields, pullRequests: null };
    return [putRow(place, "resource", [row.kind, row.id], { ...row, fields })];
  }),
];
