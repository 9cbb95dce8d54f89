import type { Entries, HclValue, ObjectValue } from "../../../../actors/export/hcl.js";
import type { Chance } from "../../../simulation/chance.js";
import { words } from "../../../support/generated-module.js";
import { isObject } from "../../../support/hcl-printer.js";
import { type EditedFolder, type ExpectedField, type Item, shuffled } from "./edited-folder.js";

/** An edit by hand. Returns false if the folder has nothing to edit in this way. */
type HandEdit = (folder: EditedFolder, chance: Chance) => boolean;

/** The value of an attribute that is not set. */
const unset = null;

/** An attribute that may change: how to draw a value, and the default. A required attribute has no default. */
interface Changeable {
  readonly draw: (chance: Chance) => HclValue;
  readonly default?: unknown;
}

const text: Changeable = { draw: (chance) => `Other ${chance.between(100, 999)} ${chance.pick(words)}` };
const number = (byDefault: number | null, most: number): Changeable => ({
  draw: (chance) => chance.between(1, most),
  default: byDefault,
});

const attributes: Readonly<Record<string, Readonly<Record<string, Changeable>>>> = {
  workspace: { name: text },
  team: { name: text },
  skill: { name: text, description: { ...text, default: "" } },
  "runner-pool": { concurrency: number(unset, 50) },
  "harness-profile": {
    timeout_minutes: number(unset, 60),
    args: { draw: (chance) => ["run", chance.pick(words)], default: [] },
  },
  secret: { hosts: { draw: (chance) => [`h${chance.between(1, 99)}.example.com`], default: [] } },
  "workspace-token-trust": {
    lifetime_minutes: number(15, 60),
    audience: { draw: (chance) => `a${chance.between(1, 99)}`, default: "service" },
  },
  "workspace-runners": { max_concurrent_runs: number(unset, 90) },
  integration: { name: text },
  line: { name: text },
  hook: { timeout_seconds: number(10, 30) },
};

const stationAttributes: Readonly<Record<string, Changeable>> = {
  name: text,
  timeout_minutes: number(60, 99),
  model: { ...text, default: unset },
  check: { draw: (chance) => `first\nsecond ${chance.pick(words)}\n`, default: unset },
  prompt: { draw: (chance) => `Do it\n  well ${chance.pick(words)}\n`, default: "" },
  effort: { draw: (chance) => chance.pick(["low", "medium", "max"]), default: unset },
  decisions: { draw: (chance) => chance.onceIn(2), default: false },
  alerts: {
    draw: () => [
      {
        entries: [
          ["measure", "minutes"],
          ["above", 9],
          ["over", 3],
        ],
      },
    ],
    default: [],
  },
};

function set(entries: Entries, name: string, value: HclValue | undefined): Entries {
  if (value === undefined) return entries.filter(([each]) => each !== name);
  const has = entries.some(([each]) => each === name);
  return has ? entries.map((entry) => (entry[0] === name ? [name, value] : entry)) : [...entries, [name, value]];
}

function get(entries: Entries, name: string): HclValue | undefined {
  return entries.find(([each]) => each === name)?.[1];
}

/** Picks a resource that no edit has changed, and marks it as edited. Returns null if there is no such resource. */
function pick(folder: EditedFolder, chance: Chance, wanted: (item: Item) => boolean): Item | null {
  const free = folder.items.filter((item) => !item.isEdited && wanted(item));
  if (free.length === 0) return null;
  const item = chance.pick(free);
  item.isEdited = true;
  return item;
}

/** Changes or removes some attributes. Returns the new attributes, and the changes that a plan must show. */
function changed(folder: EditedFolder, chance: Chance, given: Entries, known: Readonly<Record<string, Changeable>>) {
  let entries = given;
  const fields: ExpectedField[] = [];
  for (const name of shuffled(chance, Object.keys(known)).slice(0, chance.between(1, 3))) {
    const { draw, ...rest } = known[name] ?? text;
    const before = get(entries, name);
    const isRemoved = "default" in rest && before !== undefined && chance.onceIn(3);
    const value = isRemoved ? undefined : draw(chance);
    const old = before === undefined ? unset : folder.plain(before);
    const now = value === undefined ? rest.default : folder.plain(value);
    entries = set(entries, name, value);
    if (JSON.stringify(old) !== JSON.stringify(now)) fields.push({ field: name, old, new: now });
  }
  return { entries, fields };
}

const changeAttributes: HandEdit = (folder, chance) => {
  const item = pick(folder, chance, () => true);
  if (item === null) return false;
  const { entries, fields } = changed(folder, chance, item.entries, attributes[item.kind] ?? {});
  item.entries = entries;
  if (fields.length > 0) folder.expect(item, "update", fields);
  return true;
};

/** Picks a line; returns it with its stations. */
function pickLine(folder: EditedFolder, chance: Chance) {
  const item = pick(folder, chance, ({ kind }) => kind === "line");
  const list = item === null ? undefined : get(item.entries, "stations");
  return item === null || !Array.isArray(list) ? null : { item, stations: list.filter(isObject) };
}

function keyOf({ entries }: ObjectValue): string {
  return String(get(entries, "key"));
}

function setStations(item: Item, stations: readonly ObjectValue[]): void {
  item.entries = set(item.entries, "stations", stations);
}

const changeStation: HandEdit = (folder, chance) => {
  const found = pickLine(folder, chance);
  if (found === null) return false;
  const { item, stations } = found;
  const one = chance.pick(stations);
  const { entries, fields } = changed(folder, chance, one.entries, stationAttributes);
  setStations(
    item,
    stations.map((each) => (each === one ? { entries } : each)),
  );
  const at = (field: string) => `stations[${JSON.stringify(keyOf(one))}].${field}`;
  if (fields.length > 0)
    folder.expect(
      item,
      "update",
      fields.map((each) => ({ ...each, field: at(each.field) })),
    );
  return true;
};

const addStation: HandEdit = (folder, chance) => {
  const found = pickLine(folder, chance);
  if (found === null) return false;
  const { item, stations } = found;
  const added: ObjectValue = {
    entries: [
      ["key", "added"],
      ["name", "Added"],
      ["kind", "review"],
    ],
  };
  const at = chance.between(0, stations.length);
  setStations(item, [...stations.slice(0, at), added, ...stations.slice(at)]);
  const defaults = { harness: "command", prompt: "", skills: [], tools: [], diffs: false, decisions: false };
  const lists = { runners: { labels: [] }, passes_to: [], timeout_minutes: 60, alerts: [] };
  const whole = { key: "added", name: "Added", kind: "review", ...defaults, ...lists };
  folder.expect(item, "update", [{ field: 'stations["added"]', old: null, new: whole }]);
  return true;
};

const removeStation: HandEdit = (folder, chance) => {
  const found = pickLine(folder, chance);
  if (found === null || found.stations.length < 2) return false;
  const { item, stations } = found;
  const gone = chance.pick(stations);
  const fields: ExpectedField[] = [{ field: `stations["${keyOf(gone)}"]`, old: folder.plain(gone), new: null }];
  const kept = stations
    .filter((each) => each !== gone)
    .map((station) => {
      const passes = folder.plain(get(station.entries, "passes_to") ?? []);
      if (!Array.isArray(passes) || !passes.includes(keyOf(gone))) return station;
      const left = passes.filter((each) => each !== keyOf(gone));
      fields.push({ field: `stations["${keyOf(station)}"].passes_to`, old: passes, new: left });
      return { entries: set(station.entries, "passes_to", left) };
    });
  setStations(item, kept);
  folder.expect(item, "update", fields);
  return true;
};

const reorderStations: HandEdit = (folder, chance) => {
  const found = pickLine(folder, chance);
  if (found === null || found.stations.length < 2) return false;
  const { item, stations } = found;
  const [first, ...rest] = stations;
  if (first === undefined) return false;
  const moved = [...rest, first];
  setStations(item, moved);
  folder.expect(item, "update", [{ field: "stations (order)", old: stations.map(keyOf), new: moved.map(keyOf) }]);
  return true;
};

let added = 0;

const addSkill: HandEdit = (folder, chance) => {
  const team = chance.pick(folder.items.filter(({ kind }) => kind === "team"));
  added += 1;
  const key = `added-${added}`;
  const files = [
    {
      entries: [
        ["path", "SKILL.md"],
        ["content", `# ${key}\nUse it ${chance.pick(words)}\n`],
      ] as Entries,
    },
  ];
  const entries: Entries = [
    ["key", key],
    ["name", "Added"],
    ["files", files],
  ];
  const address = `${team.address}/${key}`;
  const holder: Entries = [["team_id", { expression: `${team.name}.id` }]];
  folder.items.push({
    name: `service_skill.added_${added}`,
    kind: "skill",
    address,
    entries,
    holder,
    importId: "x",
    isEdited: true,
  });
  folder.expect(
    { kind: "skill", address },
    "create",
    entries.map(([field, value]) => ({ field, old: null, new: folder.plain(value) })),
  );
  return true;
};

const addSecret: HandEdit = (folder, chance) => {
  added += 1;
  const address = `added-${added}`;
  const name = `added_${added}`;
  folder.extra.push({
    type: "variable",
    labels: [name],
    attributes: [
      ["type", { expression: "string" }],
      ["sensitive", true],
    ],
  });
  folder.variables[name] = `a value ${chance.between(1_000_000, 9_999_999)}`;
  const workspace = folder.items.find(({ kind }) => kind === "workspace");
  const entries: Entries = [
    ["name", address],
    ["value_wo", { expression: `var.${name}` }],
    ["value_wo_version", 4],
  ];
  const holder: Entries = [["workspace_id", { expression: `${workspace?.name}.id` }]];
  folder.items.push({
    name: `service_secret.${name}`,
    kind: "secret",
    address,
    entries,
    holder,
    importId: "x",
    isEdited: true,
  });
  folder.expect({ kind: "secret", address }, "create", [
    { field: "name", old: null, new: address },
    { field: "value_wo_version", old: null, new: 4 },
    { field: "value_wo", old: null, new: null, isSecret: true },
  ]);
  return true;
};

const rotateSecret: HandEdit = (folder, chance) => {
  const item = pick(folder, chance, ({ kind }) => kind === "secret");
  if (item === null) return false;
  const version = Number(get(item.entries, "value_wo_version"));
  item.entries = set(item.entries, "value_wo_version", version + 1);
  giveVariable(folder, item, "a rotated value");
  folder.expect(item, "update", [
    { field: "value_wo_version", old: version, new: version + 1 },
    { field: "value_wo", old: null, new: null, isSecret: true },
  ]);
  return true;
};

/** Sets the variable to which a secret attribute refers. Returns false if no attribute refers to a variable. */
function giveVariable(folder: EditedFolder, { entries }: Item, value: string): boolean {
  const name = /var\.([\w-]+)/.exec(JSON.stringify(entries))?.[1];
  if (name !== undefined) folder.variables[name] = value;
  return name !== undefined;
}

/** Kinds whose resources can be removed without other edits. */
const removable = ["skill", "secret", "workspace-token-trust", "runner-trust", "workspace-runners", "hook", "line"];

const removeResource: HandEdit = (folder, chance) => {
  const item = pick(folder, chance, (each) => removable.includes(each.kind) && !folder.isUsed(each));
  if (item === null) return false;
  folder.items = folder.items.filter((each) => each !== item);
  folder.expect(item, "delete", []);
  return true;
};

const renameKey: HandEdit = (folder, chance) => {
  const item = pick(
    folder,
    chance,
    (each) => ["skill", "secret", "line", "runner-trust"].includes(each.kind) && !folder.isUsed(each),
  );
  if (item === null) return false;
  added += 1;
  const field = item.kind === "secret" ? "name" : "key";
  const key = `renamed-${added}`;
  item.entries = set(item.entries, field, key);
  const isHidden = giveVariable(folder, item, "another value");
  const address = [...item.address.split("/").slice(0, -1), key].join("/");
  const shown = item.entries.filter(([name]) => name !== "value_wo");
  const fields: ExpectedField[] = shown.map(([name, value]) => ({ field: name, old: null, new: folder.plain(value) }));
  const secret: ExpectedField = { field: "value_wo", old: null, new: null, isSecret: true };
  folder.expect(item, "delete", []);
  folder.expect({ kind: item.kind, address }, "create", isHidden ? [...fields, secret] : fields);
  return true;
};

const renameLabel: HandEdit = (folder, chance) => {
  const item = chance.pick(folder.items);
  added += 1;
  const before = item.name;
  const after = `${before.split(".")[0]}.renamed_${added}`;
  const rename = (value: HclValue): HclValue => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(rename);
    if (isObject(value)) return { entries: value.entries.map(([name, each]) => [name, rename(each)] as const) };
    return "expression" in value ? { expression: value.expression.replaceAll(`${before}.`, `${after}.`) } : value;
  };
  const renamed = (entries: Entries): Entries => entries.map(([name, value]) => [name, rename(value)]);
  folder.items = folder.items.map((each) =>
    Object.assign(each, {
      name: each === item ? after : each.name,
      entries: renamed(each.entries),
      holder: each.holder.map(([name, value]) => [name, rename(value)] as const),
    }),
  );
  return true;
};

/** Writes a name as a local value, a variable with a default, or a template. */
const computeName: HandEdit = (folder, chance) => {
  const named = folder.items.filter(({ entries }) => typeof get(entries, "name") === "string");
  const item = chance.pick(named);
  const value = String(get(item.entries, "name"));
  added += 1;
  const name = `given_${added}`;
  const at = chance.between(0, value.length);
  const isTemplate = chance.onceIn(2);
  const given = isTemplate ? value.slice(0, at) : value;
  const isVariable = chance.onceIn(2);
  const root = isVariable ? "var" : "local";
  folder.extra.push(
    isVariable
      ? { type: "variable", labels: [name], attributes: [["default", given]] }
      : { type: "locals", labels: [], attributes: [[name, given]] },
  );
  const rest = JSON.stringify(value.slice(at))
    .slice(1, -1)
    .replace(/[$%](?=\{)/g, "$&$&");
  const expression = isTemplate ? `"$${`{${root}.${name}}`}${rest}"` : `${root}.${name}`;
  item.entries = set(item.entries, "name", { expression });
  return true;
};

/** Writes keys instead of references. */
const writeKeys: HandEdit = (folder, chance) => {
  const item = chance.pick(folder.items);
  const literal = (value: HclValue): HclValue => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(literal);
    if (isObject(value)) return { entries: value.entries.map(([name, each]) => [name, literal(each)] as const) };
    const isReference = "expression" in value && /^("\$\{)?service_/.test(value.expression);
    return isReference ? String(folder.plain(value)) : value;
  };
  item.entries = item.entries.map(([name, value]) => [name, literal(value)]);
  return true;
};

/** All ways to edit. The last three lead to an empty plan. */
export const handEdits: Readonly<Record<string, HandEdit>> = {
  changeAttributes,
  changeStation,
  addStation,
  removeStation,
  reorderStations,
  addSkill,
  addSecret,
  rotateSecret,
  removeResource,
  renameKey,
  writeKeys,
  computeName,
  renameLabel,
};
