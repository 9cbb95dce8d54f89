import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";
import { defineArea } from "../area.js";
import { harnessProfileKind } from "./harness-profile.kind.js";
import { lineKind } from "./line.kind.js";
import { skillKind } from "./skill.kind.js";

/** The parts of a stored resource that this step reads. */
interface StoredResource {
  readonly kind: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Adds the field `pullRequests` to stored lines. Its value is null, so these lines use the default settings. */
const pullRequestTermsWalks: readonly Walk[] = [
  eachRow<StoredResource>("resource", (row, place) => {
    if (row.kind !== "line" || "pullRequests" in row.fields) return [];
    const fields = { ...row.fields, pullRequests: null };
    return [putRow(place, "resource", [row.kind, row.id], { ...row, fields })];
  }),
];

/** Lines with their stations, and the skills and harness profiles that stations use. */
export const linesArea = defineArea({
  name: "lines",
  kinds: (deployment: { readonly judges?: boolean }) => [skillKind, harnessProfileKind, lineKind(deployment)],
  migrations: [{ to: 10, title: "lines say how pull requests are opened", walks: pullRequestTermsWalks }],
});
