import { createKinds } from "../../actors/catalogue.js";
import type { Block, Entries, HclValue } from "../../actors/export/hcl.js";
import { blockName, exportResource, resourceType } from "../../actors/export/resource-block.js";
import { exportOne } from "../../actors/export/resource-export.js";
import { exportWorkspace } from "../../actors/export/workspace-export.js";
import { lineSchema } from "../../actors/lines/line.js";
import type { StationBody } from "../../actors/lines/station.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { ResourceRow } from "../../actors/resources/resource.table.js";
import type { Reading } from "../../storage/store.js";
import type { Chance } from "../simulation/chance.js";
import { put, WORKSPACE } from "./integration-rows.js";
import { toStation } from "./station-edit.js";
import { memoryRows } from "./turn.js";

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false }).filter(({ hcl }) => hcl !== null);

/** A generated workspace as HCL. */
export interface GeneratedModule {
  /** The exported resources with their imports, as in the export. */
  readonly blocks: readonly Block[];
  /** The exported files, by path. */
  readonly exported: ReadonlyMap<string, string>;
  /**
   * `live` is the station `plan` of the line `web` of the team `core`. `wanted` is a station that differs from `live`
   * in every attribute that may change.
   */
  readonly live: StationBody;
  readonly wanted: StationBody;
}

/** The start of an HCL interpolation; split so that it does not look like a JavaScript template. */
const OPEN = "$" + "{";
/** Words of generated texts. */
export const words = [
  "plan",
  "the",
  "work",
  "well,",
  "then",
  "check",
  `${OPEN}x}`,
  "100%",
  '"quoted"',
  "é",
  "\\n",
  "%{ if }",
  "EOT",
];

/** Returns a text of some lines, with words that HCL must escape. */
export function toText(chance: Chance, newline = chance.onceIn(8) ? "\r\n" : "\n"): string {
  const lines = Array.from({ length: chance.between(1, 4) }, () => {
    const indent = chance.pick(["", "", "  ", "\t"]);
    return `${indent}${Array.from({ length: chance.between(0, 4) }, () => chance.pick(words)).join(" ")}`;
  });
  return `${lines.join(newline)}${chance.onceIn(3) ? "" : newline}`;
}

/** Returns some of the given words. */
export function toSome(chance: Chance, all: readonly string[]): string[] {
  return all.filter(() => chance.onceIn(2));
}

/** Returns random values for every attribute of a station except its key and kind. */
function toFields(chance: Chance, hasJudge: boolean): Record<string, unknown> {
  const judge = {
    rubric: chance.onceIn(3) ? "" : toText(chance),
    scale: chance.pick(["yes-no", "number"]),
    passScore: chance.pick([null, 3, 4.5]),
    claims: toSome(chance, ["It works.", "It is\nsmall."]),
    passShare: chance.pick([null, 0.5]),
    model: chance.pick([null, "judge"]),
  };
  return {
    name: `Plan ${chance.between(1, 99)} ${chance.pick(words)}`,
    harness: chance.pick(["command", "claude", "codex"]),
    model: chance.pick([null, "small", "large", `m ${OPEN}y}`]),
    effort: chance.pick([null, "low", "high"]),
    profile: chance.pick([null, "shell", "fast"]),
    prompt: chance.onceIn(8) ? "" : toText(chance),
    skills: toSome(chance, ["greet", "lint", "ship", "test"]),
    tools: toSome(chance, ["gh.issue", "gh.comment", "chat.say"]).map((tool) => ({ tool, approval: chance.onceIn(3) })),
    judge: hasJudge ? judge : null,
    check: chance.pick([null, "make check", toText(chance) || "x"]),
    diffs: chance.onceIn(2),
    decisions: chance.onceIn(2),
    runners: { pool: chance.pick([null, "linux", "mac"]), labels: toSome(chance, ["gpu", "big"]) },
    passesTo: toSome(chance, ["review", "ship"]),
    timeoutMinutes: chance.pick([60, 12.5, 5, 0.001]),
    alerts: toSome(chance, ["cost", "minutes"]).map((measure) => ({
      measure,
      above: chance.between(0, 9) / 2,
      over: 10,
    })),
  };
}

/**
 * Returns a station that differs from `live` in every attribute that may change. If `live` has a judge, the returned
 * station also has a judge.
 */
function otherThan(chance: Chance, live: StationBody): StationBody {
  const change = Object.fromEntries(
    Object.keys(toFields(chance, true)).map((name) => {
      for (;;) {
        const drawn = toStation({ ...live, ...toFields(chance, live.judge !== null || chance.onceIn(2)) });
        const value = Reflect.get(drawn, name);
        if (JSON.stringify(value) !== JSON.stringify(Reflect.get(live, name)) || name === "judge") return [name, value];
      }
    }),
  );
  return toStation({ ...live, ...change });
}

/**
 * Generates a workspace with a few resources. One workspace in five is exported as a whole. In the other workspaces,
 * each line is exported alone.
 */
export function generateModule(chance: Chance): GeneratedModule {
  const rows = memoryRows();
  const made: ResourceRow[] = [];
  const add = (kind: string, address: string, fields: Record<string, unknown>) => {
    const isOfTeam = address.includes("/");
    const row = { address, fields, teamId: isOfTeam ? `team_${address.split("/")[0]}` : null };
    const id = kind === "team" ? `team_${address}` : kind === "workspace" ? WORKSPACE : `${kind}_${address}`;
    put(rows, kind, id, row);
    made.push({
      id,
      kind,
      version: 1,
      workspaceId: WORKSPACE,
      hidden: {},
      added: {},
      createdAt: "",
      updatedAt: "",
      ...row,
    });
  };
  const live = toStation(toFields(chance, chance.onceIn(2)));
  add("workspace", "acme", { slug: "acme", name: "Acme" });
  add("team", "core", { key: "core", name: "Core" });
  const review = { key: "review", name: "Review", kind: "review", passesTo: ["plan"] };
  const stations = chance.onceIn(2) ? [live, toStation(review)] : [toStation(review), live];
  add("line", "core/web", lineSchema.parse({ key: "web", name: "Web", stations }));
  if (chance.onceIn(5)) {
    add("team", "other", { key: "other", name: "Other" });
    add("line", "other/web", lineSchema.parse({ key: "web", name: "Web", stations: [toStation({ model: "theirs" })] }));
  }
  const isWhole = chance.onceIn(5);
  const lines = made.filter(({ kind }) => kind === "line");
  const exported = isWhole ? wholeExport(rows, made) : lineExports(rows, lines);
  const blocks = (isWhole ? made : lines).flatMap((row) => listBlocks(row, isWhole));
  return { blocks, exported, live, wanted: otherThan(chance, live) };
}

function wholeExport(reading: Reading, [workspace]: readonly ResourceRow[]): Map<string, string> {
  if (workspace === undefined) throw new Error("there is a workspace");
  const exported = new Map<string, string>();
  for (const step of exportWorkspace(reading, kinds, workspace)) {
    for (const { path, text } of step) exported.set(path, (exported.get(path) ?? "") + text);
  }
  return exported;
}

function lineExports(reading: Reading, lines: readonly ResourceRow[]): Map<string, string> {
  const all = lines.map((row) => exportOne(reading, toKind(row), row));
  const texts = all.flatMap(({ files }) => files.map(({ path, content }) => [path, content] as const));
  return new Map([["main.tf", all.map(({ hcl }) => hcl).join("\n")], ...texts]);
}

function toKind(row: ResourceRow): Kind {
  const kind = kinds.find(({ name }) => name === row.kind);
  if (kind === undefined) throw new Error(`no kind ${row.kind}`);
  return kind;
}

/**
 * Lists the blocks of a row. With `refers`, blocks name other resources by reference, as in the export of a whole
 * workspace.
 */
function listBlocks(row: ResourceRow, refers: boolean): readonly Block[] {
  const teamKey = row.address.includes("/") ? (row.address.split("/")[0] ?? "") : "";
  const refer = (target: string, address: string): string | null => {
    const found = refers ? kinds.find(({ name }) => name === target) : undefined;
    return found === undefined ? null : `${resourceType(found)}.${blockName(address)}.${found.fixed[0] ?? "id"}`;
  };
  const team: HclValue = refers ? { expression: `service_team.${teamKey}.id` } : `team_${teamKey}`;
  const holders: Entries = teamKey === "" ? [] : [["team_id", team]];
  return exportResource(toKind(row), row, { teamKey, holders, refer }).blocks;
}

/**
 * How a person may write the same values in a different form: defaults are omitted, texts are inline instead of in
 * files, and tools are given by name.
 */
export interface HandWords {
  readonly omitsDefaults: boolean;
  readonly inlinesTexts: boolean;
  readonly namesTools: boolean;
}

/** Returns the module's blocks with the same values, in the form that `words` describes. */
export function inWords({ blocks, exported }: GeneratedModule, words: HandWords): readonly Block[] {
  // Do not treat `passes_to` as a default: if a config omits it, the service fills it in.
  const { key: _key, name: _name, kind: _kind, passesTo: _passesTo, ...defaults } = toStation({});
  const bare = new Map(Object.entries(defaults).map(([name, value]) => [snake(name), JSON.stringify(value)]));
  const valueIn = (name: string, value: HclValue): HclValue => {
    if (Array.isArray(value)) {
      if (name === "tools" && words.namesTools) return value.map(asName);
      return name === "stations" ? value.map((each) => valueIn("station", each)) : value;
    }
    if (typeof value !== "object" || value === null) return value;
    if ("expression" in value) return words.inlinesTexts ? inlined(exported, value.expression) : value;
    if (!("entries" in value) || typeof value.entries === "function") return value;
    const kept = value.entries.filter(
      ([each, below]) => name !== "station" || !words.omitsDefaults || plain(below) !== bare.get(each),
    );
    return { entries: kept.map(([each, below]) => [each, valueIn(each, below)]) };
  };
  // A person removes the import blocks after the import.
  const kept = blocks.filter(({ type }) => type !== "import" || !words.omitsDefaults);
  return kept.map((block) => ({
    ...block,
    attributes: block.attributes.map(([name, value]) => [name, valueIn(name, value)]),
  }));
}

function asName(tool: HclValue): HclValue {
  if (typeof tool !== "object" || tool === null || !("entries" in tool) || typeof tool.entries === "function")
    return tool;
  const fields = new Map(tool.entries);
  return fields.get("approval") === false ? (fields.get("tool") ?? tool) : tool;
}

function inlined(exported: ReadonlyMap<string, string>, expression: string): HclValue {
  const path = /^file\("\$\{path\.module\}\/(.*)"\)$/.exec(expression)?.[1];
  return path === undefined ? { expression } : (exported.get(path) ?? "");
}

/** Returns a value as JSON, with the field names of an API body. */
function plain(value: HclValue): string {
  return JSON.stringify(value, (_, each: HclValue) => {
    if (typeof each !== "object" || each === null || Array.isArray(each) || !("entries" in each)) return each;
    return typeof each.entries === "function" ? each : { pool: null, ...Object.fromEntries(each.entries) };
  });
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns an export's files other than its HCL. */
export function listTextFiles({ exported }: GeneratedModule): readonly (readonly [path: string, content: string])[] {
  return [...exported].filter(([path]) => !path.endsWith(".tf"));
}
