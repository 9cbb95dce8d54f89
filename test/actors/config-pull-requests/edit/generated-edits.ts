import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { formatText } from "../../../../actors/config-pull-requests/edit/format-edit.js";
import type { Json } from "../../../../actors/config-pull-requests/edit/hcl-values.js";
import type { EditOutcome, WantedStation } from "../../../../actors/config-pull-requests/edit/station-edit.js";
import type { Block, ObjectValue } from "../../../../actors/export/hcl.js";
import { type StationBody, stationSchema } from "../../../../actors/lines/station.js";
import { createChance } from "../../../simulation/chance.js";
import { type GeneratedModule, generateModule, inWords, listTextFiles } from "../../../support/generated-module.js";
import { readBody } from "../../../support/hcl-module.js";
import { HandPrinter, type HandStyle, isObject, type Piece } from "../../../support/hcl-printer.js";
import { EDITED_PATH, editIn, editParsers, toStation, toTree } from "../../../support/station-edit.js";

/** Results of edits in generated sources. */
export interface Tally {
  edited: number;
  /** Number of refusals by code. */
  readonly refused: Map<string, number>;
  /** Faults, each with its seed or its layout. */
  readonly wrong: string[];
}

interface Written {
  readonly text: string;
  /** The station's attributes whose values in the source are or contain expressions. */
  readonly computed: readonly string[];
  readonly pieces: readonly Piece[];
  readonly comments: number;
}

/** The name of an editable attribute, in an API body and in HCL. */
type AttributeName = readonly [field: string, attribute: string];
const attributes: readonly AttributeName[] = Object.keys(toStation({}))
  .filter((name) => name !== "key" && name !== "kind")
  .map((name) => [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]);

/**
 * Writes a generated workspace in three layouts that imitate hand-written files. Edits each layout, and changes all
 * editable attributes of a station at once.
 *
 * With `alone`, also edits the workspace's export. In the export and in one of the layouts, also changes each attribute
 * in an edit of its own.
 */
export async function editGenerated(seed: number, alone: boolean, tally: Tally): Promise<void> {
  const module = generateModule(createChance(seed));
  const layouts = [0, 1, 2].map((form) => writeByHand(module, form, seed));
  const text = module.exported.get("main.tf") ?? "";
  const exported = { text, computed: computedIn(module.blocks, module.live.key), pieces: [], comments: 0 };
  for (const [form, written] of [...layouts, ...(alone ? [exported] : [])].entries()) {
    // An edit compares objects member by member. In `runners`, only the pool is an expression. So an edit that keeps
    // the pool can succeed.
    const isSamePool = module.live.runners.pool === module.wanted.runners.pool;
    const isComputed = ([, attribute]: AttributeName) =>
      written.computed.includes(attribute) && !(attribute === "runners" && isSamePool);
    const each = alone && (form === 3 || form === (seed / 10) % 3) ? attributes.map((name) => [name]) : [];
    const rest = attributes.filter((name) => !isComputed(name));
    for (const names of [rest, ...each, ...(rest.length < attributes.length ? [attributes] : [])]) {
      const wrong = await editOnce(module, { written, names, computed: names.filter(isComputed) }, tally);
      if (wrong !== null) tally.wrong.push(`seed ${seed}, layout ${form}, ${names.map(([name]) => name)}: ${wrong}`);
    }
  }
}

/**
 * Writes the module in the form 0, 1 or 2: each station is an object over several lines, a block, or an object on one
 * line.
 */
function writeByHand(module: GeneratedModule, form: number, seed: number): Written {
  const chance = createChance(seed * 8 + form);
  const style: HandStyle = {
    stations: (["objects", "blocks", "one-line objects"] as const)[form] ?? "objects",
    newline: chance.onceIn(3) ? "\r\n" : "\n",
    isAligned: (seed + form) % 2 === 0,
    hasComments: !chance.onceIn(4),
    heredocs: chance.pick(["<<-", "<<", null] as const),
    hasCommas: chance.onceIn(3),
    isSorted: chance.onceIn(4),
  };
  const words = { omitsDefaults: chance.onceIn(2), inlinesTexts: chance.onceIn(2), namesTools: chance.onceIn(3) };
  const printer = new HandPrinter(style, chance, module.live.key);
  const blocks = inWords(module, words);
  for (const block of blocks) printer.block(block);
  const computed = computedIn(blocks, module.live.key);
  return { text: printer.text, computed, pieces: printer.pieces, comments: printer.comments };
}

/**
 * Returns the station's attributes that are or contain expressions. Ignores the expressions that only read a text from
 * a file.
 */
function computedIn(blocks: readonly Block[], key: string): readonly string[] {
  const stations = blocks.flatMap(({ attributes: all }) =>
    all.flatMap(([name, value]) => (name === "stations" ? [value] : [])),
  );
  const entries = stations.flat().flatMap((each) => (isObject(each) && isKeyed(each, key) ? each.entries : []));
  return entries.filter(([, value]) => /"expression":"(?!file\()/.test(JSON.stringify(value))).map(([name]) => name);
}

function isKeyed({ entries }: ObjectValue, key: string): boolean {
  return entries.some(([name, value]) => name === "key" && value === key);
}

/**
 * Makes one edit. Returns what is wrong with the outcome; null if nothing is wrong. `computed` lists the changed
 * attributes whose values in the source are expressions. If it is not empty, the edit must be refused, and the refusal
 * must name one of these attributes.
 */
async function editOnce(
  module: GeneratedModule,
  at: {
    readonly written: Written;
    readonly names: readonly AttributeName[];
    readonly computed: readonly AttributeName[];
  },
  tally: Tally,
): Promise<string | null> {
  const { live } = module;
  const { written, names, computed } = at;
  const change = Object.fromEntries(names.map(([name]) => [name, Reflect.get(module.wanted, name)]));
  const wanted = toStation({ ...live, ...change });
  const texts = listTextFiles(module).map(([path, text]) => [`lines/${path}`, text]);
  const files = { [EDITED_PATH]: written.text, ...Object.fromEntries(texts) };
  const asked: WantedStation = {
    path: EDITED_PATH,
    team: { id: "team_core", key: "core" },
    lineKey: "web",
    live,
    wanted,
  };
  const outcome = await editIn(toTree(files), asked);
  const isSame = isDeepStrictEqual(live, wanted);
  if ("refused" in outcome) {
    const { code, attribute, message } = outcome.refused;
    tally.refused.set(code, (tally.refused.get(code) ?? 0) + 1);
    if (isSame && code === "changed-meanwhile") return null;
    const isRight = computed.some(([, each]) => each === attribute?.split(".")[0]);
    return code === "computed" && isRight ? null : `${code}: ${message}`;
  }
  if (isSame || computed.length > 0) return "it should be refused";
  tally.edited += 1;
  const changed = names.map(([, attribute]) => attribute);
  return lookUpFault({ files, written, live, wanted }, outcome, changed);
}

interface Asked {
  readonly files: Readonly<Record<string, string>>;
  readonly written: Written;
  readonly live: StationBody;
  readonly wanted: StationBody;
}

/** Returns what is wrong with an edit; null if the edit changes exactly the wanted values. */
async function lookUpFault(
  { files, written, live, wanted }: Asked,
  outcome: Extract<EditOutcome, { readonly files: unknown }>,
  changed: readonly string[],
): Promise<string | null> {
  const after = { ...files };
  for (const { path, before, after: text } of outcome.files) {
    if (files[path] !== before) return `${path} was not what it is said to have been`;
    if (before === text) return `${path} is not changed`;
    after[path] = text;
  }
  const main = after[EDITED_PATH] ?? "";
  const [was, is] = [await findValues(written.text), await findValues(main)];
  if (is === null || was === null) return "it is no HCL";
  const [old, now] = [stationIn(was, live.key), stationIn(is, live.key)];
  if (old === null || now === null) return "the station is gone";
  if (!isDeepStrictEqual(withoutStation(was, live.key), withoutStation(is, live.key)))
    return "something else is changed";
  const kept = (station: JsonObject) =>
    Object.fromEntries(Object.entries(station).filter(([name]) => !changed.includes(name)));
  if (!isDeepStrictEqual(kept(old), kept(now))) return "another attribute is changed";
  const meant = toMeaning(now, after);
  if (!isDeepStrictEqual(meant, inFormC(wanted))) return `it means ${JSON.stringify(meant)}`;
  const lost = Array.from({ length: written.comments }, (_, index) => `c${index + 1}.`).find(
    (each) => !main.includes(each),
  );
  if (lost !== undefined) return `the comment ${lost} is lost`;
  if (written.pieces.length === 0 || keepsPieces(main, written.pieces, changed)) return null;
  const pieces = written.pieces.map((piece) => ({ ...piece, text: unaligned(piece.text) }));
  const isKept = keepsPieces(unaligned(main), pieces, changed) && (await isAligned(main, written.text));
  return isKept ? null : `other bytes are changed: ${main}`;
}

/**
 * Whether each line of the edited text is also a line of the text `before`, or equals the line that the formatter makes
 * of it.
 */
async function isAligned(text: string, before: string): Promise<boolean> {
  const old = new Set(before.split("\n"));
  const formatted = (await formatText(text)).split("\n");
  return text.split("\n").every((line, index) => old.has(line) || line === formatted[index]);
}

/**
 * Returns the text with one space before each equals sign and comment. An edit of a formatted resource may align them
 * differently.
 */
function unaligned(text: string): string {
  return text.replace(/[ \t]+(?==|#|\/[/*])/g, " ");
}

type JsonObject = { readonly [name: string]: Json };

async function findValues(text: string): Promise<JsonObject | null> {
  const parsed = await (await editParsers()).parseValues(EDITED_PATH, text);
  return "values" in parsed ? parsed.values : null;
}

const objects = z.array(z.record(z.string(), z.json()));
const lineShape = z.looseObject({
  resource: z.looseObject({
    service_line: z.looseObject({ core_web: z.tuple([z.looseObject({ stations: objects })]) }),
  }),
});

function stationIn(values: JsonObject, key: string): JsonObject | null {
  const { stations } = lineShape.parse(values).resource.service_line.core_web[0];
  return stations.find((each) => each.key === key) ?? null;
}

function withoutStation(values: JsonObject, key: string): unknown {
  const { resource, ...rest } = lineShape.parse(values);
  const [line] = resource.service_line.core_web;
  const stations = line.stations.map((each) => (each.key === key ? null : each));
  return {
    ...rest,
    resource: { ...resource, service_line: { ...resource.service_line, core_web: [{ ...line, stations }] } },
  };
}

const stationShape = z.toJSONSchema(stationSchema, { io: "input", unrepresentable: "any" });

/** Returns the station as the provider would send it. */
function toMeaning(station: JsonObject, files: Readonly<Record<string, string>>): unknown {
  const meant = (value: Json): Json => {
    if (typeof value === "string") return evaluated(value, files);
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map(meant);
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, each]) => (each === null ? [] : [[name, meant(each)]])),
    );
  };
  const { judge } = station;
  const one = Array.isArray(judge) ? { ...station, judge: judge[0] ?? null } : station;
  const body = readBody(meant(one), stationShape);
  return inFormC(stationSchema.parse(body));
}

/**
 * Evaluates a template in one of the forms that exports use. A call of `file` gives the text of the file; a reference
 * gives the key at the end of its name.
 */
function evaluated(text: string, files: Readonly<Record<string, string>>): string {
  const path = /^\$\{file\("\$\{path\.module\}\/(.*)"\)\}$/.exec(text)?.[1];
  if (path !== undefined) return files[`lines/${path}`] ?? "";
  const filled = text.replace(/(?<!\$)\$\{service_\w+\.\w+_([\w-]+)\.\w+\}/g, "$1");
  const alone = filled.replace(/^\$\{service_\w+\.([\w-]+)\.\w+\}$/, "$1");
  return alone.replace(/([$%])\1\{/g, "$1{");
}

function inFormC(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).normalize("NFC"));
}

/**
 * Whether the text consists of these pieces in order. The value of a changed attribute may be any text. A gap may
 * contain only new attributes.
 */
function keepsPieces(text: string, pieces: readonly Piece[], changed: readonly string[]): boolean {
  const parts: { readonly open: "value" | "gap" | null; readonly text: string }[] = [];
  for (const { kind, text: written, attribute } of pieces) {
    const open = kind === "gap" ? kind : kind === "value" && changed.includes(attribute) ? kind : null;
    // Skip an empty piece: a search would find it at every position.
    if (open === null && written === "") continue;
    const last = parts.at(-1);
    if (open === null && last?.open === null) parts[parts.length - 1] = { open, text: last.text + written };
    else parts.push({ open, text: open === null ? written : "" });
  }
  const added = new RegExp(`^(\\s*,?\\s*"?(${changed.join("|")})"?\\s*[=:][\\s\\S]*)?$`);
  const known = new Map<string, boolean>();
  const fits = (index: number, at: number): boolean => {
    const id = `${index} ${at}`;
    const answer = known.get(id) ?? fitsAnew(index, at);
    known.set(id, answer);
    return answer;
  };
  const fitsAnew = (index: number, at: number): boolean => {
    const part = parts[index];
    if (part === undefined) return at === text.length;
    if (part.open === null) return text.startsWith(part.text, at) && fits(index + 1, at + part.text.length);
    const next = parts.slice(index + 1).findIndex(({ open }) => open === null);
    if (next < 0) return false;
    const { text: fixed } = parts[index + 1 + next] ?? part;
    for (let end = text.indexOf(fixed, at); end >= 0; end = text.indexOf(fixed, end + 1)) {
      const opened = parts.slice(index, index + 1 + next).some(({ open }) => open === "value");
      if ((opened || added.test(text.slice(at, end))) && fits(index + 1 + next, end)) return true;
    }
    return false;
  };
  return fits(0, 0);
}
