import { z } from "zod";
import { type AttributeFault, fromAttributes } from "../../../actors/export/from-attributes.js";
import { resourceType } from "../../../actors/export/resource-block.js";
import { harnessProfileKind } from "../../../actors/lines/harness-profile.kind.js";
import { lineKind } from "../../../actors/lines/line.kind.js";
import { skillKind } from "../../../actors/lines/skill.kind.js";
import { idSchema } from "./check-answer.js";
import { CouldNotAsk } from "./could-not-ask.js";
import type { PlannedLine, PlannedStation } from "./planned-line.js";

/**
 * Reads the output of `terraform show -json` (or `tofu show -json`) for a plan. Accepts the format versions 0 and 1.
 * Source: the JSON output format of Terraform. Later minor versions only add members.
 */

const change = z.looseObject({
  actions: z.array(z.string()),
  before: z.unknown(),
  after: z.unknown(),
  after_unknown: z.unknown(),
});

const resourceChange = z.looseObject({
  address: z.string(),
  mode: z.string(),
  type: z.string(),
  deposed: z.string().optional(),
  change,
});

const plan = z.looseObject({
  // Absent in a plan that changes no resource.
  resource_changes: z.array(resourceChange).default([]),
  planned_values: z.unknown(),
  errored: z.boolean().optional(),
});

type ResourceChange = z.output<typeof resourceChange>;

const kind = lineKind({});
const LINE = resourceType(kind);
/** Resource types, other than lines, whose changes affect runs. Checks do not replay these changes. */
const BESIDE = [skillKind, harnessProfileKind].map(resourceType);

/**
 * Reads the lines that the plan adds, changes or removes, and the skills and profiles that it changes, in the plan's
 * order. Includes resources of all modules, but no data sources. Throws {@link CouldNotAsk} for a plan that it cannot
 * read.
 */
export function readTerraformPlan(value: unknown, version: string): readonly PlannedLine[] {
  if (!/^[01]\./.test(version)) {
    throw new CouldNotAsk(`The plan has format ${version.slice(0, 20)}; this command supports format 1.`);
  }
  const { success, data } = plan.safeParse(value);
  if (!success || data.planned_values === undefined) {
    throw new CouldNotAsk(
      'This is not a plan. Write one with "terraform plan -out=FILE", then "terraform show -json FILE".',
    );
  }
  if (data.errored === true) throw new CouldNotAsk("The plan is incomplete: terraform exited with an error.");
  return data.resource_changes
    .filter(({ mode, deposed }) => mode === "managed" && deposed === undefined)
    .flatMap((each) => {
      if (BESIDE.includes(each.type)) return changedBeside(each);
      return each.type === LINE ? plannedLine(each) : [];
    });
}

const nothing = { id: null, teamId: null, key: null, repositories: null, stations: [], isWhole: false, faults: [] };

function changedBeside({ address, change: { actions } }: ResourceChange): readonly PlannedLine[] {
  const isReplaced = actions.includes("create") && actions.includes("delete");
  return actions.includes("update") || isReplaced ? [{ ...nothing, place: address, what: "not-replayed" }] : [];
}

function plannedLine({ address, change }: ResourceChange): readonly PlannedLine[] {
  const { actions, before, after, after_unknown: unknown } = change;
  const was = { id: findId(before, "id"), teamId: findId(before, "team_id"), key: findText(before, "key") };
  if (!["create", "update", "delete"].some((action) => actions.includes(action))) return [];
  if (actions.includes("create")) {
    // A replaced line counts as added, because the new line has no past runs.
    const named = { teamId: findId(after, "team_id"), key: findText(after, "key") };
    return [{ ...nothing, place: address, what: "added", ...named }];
  }
  if (actions.includes("delete")) return [{ ...nothing, place: address, what: "removed", ...was }];
  const { fields, faults } = fromAttributes(kind.schema, after, { unknown, omitted: kind.hcl?.omitted ?? [] });
  const stations = Array.isArray(fields.stations) ? fields.stations : [];
  return [
    {
      place: address,
      what: "changed",
      ...was,
      repositories: Array.isArray(fields.repositories) ? fields.repositories : [],
      stations: stations.map((block: unknown, index) => plannedStation(block, faultsBelow(faults, "stations", index))),
      isWhole: true,
      faults: [
        ...faultsBelow(faults, "repositories"),
        ...faults.filter(({ path }) => path === "" || path === "stations"),
      ],
    },
  ];
}

function plannedStation(block: unknown, faults: readonly AttributeFault[]): PlannedStation {
  const fields = typeof block === "object" && block !== null ? { ...block } : {};
  const { key, kind } = { key: "", kind: undefined, ...fields };
  return { key: String(key), kind, block: fields, faults };
}

/**
 * Returns the errors of an attribute or, with `index`, of one of its elements. Includes the errors of nested
 * attributes.
 */
function faultsBelow(faults: readonly AttributeFault[], name: string, index?: number): readonly AttributeFault[] {
  const place = index === undefined ? name : `${name}[${index}]`;
  const next = index === undefined ? ["", ".", "["] : ["", "."];
  return faults.filter(({ path }) =>
    next.some((mark) => (mark === "" ? path === place : path.startsWith(`${place}${mark}`))),
  );
}

function findId(value: unknown, name: string): string | null {
  return idSchema.safeParse(findText(value, name)).data ?? null;
}

function findText(value: unknown, name: string): string | null {
  if (typeof value !== "object" || value === null) return null;
  const found = Object.entries(value).find(([each]) => each === name)?.[1];
  return typeof found === "string" ? found : null;
}
