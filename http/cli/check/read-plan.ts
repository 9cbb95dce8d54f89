import { z } from "zod";
import { readJson } from "../../../actors/exact-json.js";
import type { AttributeFault } from "../../../actors/export/from-attributes.js";
import { stationSchema } from "../../../actors/lines/station.js";
import { pathText } from "../../../actors/refusal.js";
import { toOutline } from "../../wire/json-text.js";
import { idSchema } from "./check-answer.js";
import { CouldNotAsk } from "./could-not-ask.js";
import type { PlannedLine, PlannedStation } from "./planned-line.js";
import { readTerraformPlan } from "./terraform-plan.js";

/**
 * Maximum nesting depth of objects and lists. Real plans have a few dozen levels. The limit protects the stack against
 * deeper input.
 */
const MAX_DEPTH = 500;

const stationBlock = z.looseObject({ key: z.string(), kind: z.unknown() });
const lineBlock = z.looseObject({
  id: idSchema.nullish(),
  teamId: idSchema.nullish(),
  key: z.string().nullish(),
  repositories: z.array(z.unknown()).nullish(),
  stations: z.array(stationBlock),
});
const terraformPlan = z.looseObject({ format_version: z.string() });

/**
 * Reads the lines that a plan would change. The text is the output of `terraform show -json`, or a line or station
 * block in the API's form. `file` is the plan's name in messages. Throws {@link CouldNotAsk} for any other text.
 */
export function readPlan(text: string, file: string): readonly PlannedLine[] {
  const value = parseJson(text, file);
  const plan = terraformPlan.safeParse(value);
  if (plan.success) return readTerraformPlan(value, plan.data.format_version);
  const line = lineBlock.safeParse(value);
  if (line.success) {
    const { id = null, teamId = null, key = null, repositories = null, stations } = line.data;
    const read = stations.map((each, index) => plannedStation(each, ["stations", index]));
    return [{ place: file, what: "changed", id, teamId, key, repositories, stations: read, isWhole: true, faults: [] }];
  }
  const station = stationBlock.safeParse(value);
  if (!station.success) {
    throw new CouldNotAsk(
      `${file} is not a plan: pass the output of "terraform show -json" for a plan, or as JSON a line with its ` +
        "stations or a station block with its key and kind.",
    );
  }
  const stations = [plannedStation(station.data, [])];
  const unsaid = { id: null, teamId: null, key: null, repositories: null };
  return [{ place: file, what: "changed", ...unsaid, stations, isWhole: false, faults: [] }];
}

function plannedStation(given: z.output<typeof stationBlock>, at: readonly PropertyKey[]): PlannedStation {
  const { id: _id, ...block } = given;
  return { key: given.key, kind: given.kind, block, faults: listUnknownMembers(block, at) };
}

function parseJson(text: string, file: string): unknown {
  if (toOutline(text).depth > MAX_DEPTH) {
    throw new CouldNotAsk(`${file} is not a plan: it nests deeper than ${MAX_DEPTH} levels.`);
  }
  try {
    return readJson(text.replace(/^\ufeff/, ""));
  } catch {
    // Do not repeat the parser's message: it may quote the file, which may contain secrets.
    throw new CouldNotAsk(`${file} is no JSON.`);
  }
}

/**
 * Lists the unknown members of a station block in the API's form. They are reported, not ignored: a block with a
 * mistyped name would look like a block that changes nothing. The values are not checked here; the service checks them.
 * `at` is the path of the block.
 */
function listUnknownMembers(block: unknown, at: readonly PropertyKey[]): readonly AttributeFault[] {
  const { error } = stationSchema.safeParse(block);
  return (error?.issues ?? [])
    .flatMap((issue) => unknownIn(issue))
    .map((path) => ({ path: pathText([...at, ...path]), message: "is not a known field" }));
}

type Path = readonly PropertyKey[];

/**
 * Returns the paths of unknown members in one issue. For a union, uses the option that would be valid without such
 * members.
 */
function unknownIn(issue: z.core.$ZodIssue): readonly Path[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [...issue.path, key]);
  if (issue.code !== "invalid_union") return [];
  const meant = issue.errors.find((each) => each.length > 0 && each.every(({ code }) => code === "unrecognized_keys"));
  return (meant ?? []).flatMap(unknownIn).map((path) => [...issue.path, ...path]);
}
