import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { createKinds } from "../../../../actors/catalogue.js";
import { parseAllowList } from "../../../../actors/outbound/http/allow-list.js";
import { createChance } from "../../../simulation/chance.js";
import type { CommandScene } from "../../../support/command-cases.js";
import { listItems } from "../../../support/resources.js";
import { EditedFolder, type ExpectedChange } from "./edited-folder.js";
import { makeWorkspace } from "./generated-workspace.js";
import { handEdits } from "./hand-edits.js";

/** The outcomes of applying and editing generated workspaces. */
export interface Tally {
  unchanged: number;
  edited: number;
  /** Number of edits by name. */
  readonly edits: Map<string, number>;
  readonly wrong: string[];
}

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false }).filter(({ hcl }) => hcl !== null);

/** Reads all files of a folder, by their paths. */
export function readFolder(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
  return new Map(paths.sort().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

export function writeFolder(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Runs a command; throws if it does not end with this code. */
async function run({ signalbox }: CommandScene, args: readonly string[], code: number, env = {}): Promise<string> {
  const ran = await signalbox.run(args, { env });
  if (ran.code === code) return ran.out;
  throw new Error(`${args.join(" ")} ended with ${ran.code}: ${ran.err || ran.out}`);
}

function variablesOf(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [`SIGNALBOX_VAR_${name}`, value]));
}

async function expectNothing(scene: CommandScene, folder: string): Promise<void> {
  const out = await run(scene, ["plan", folder], 0);
  if (!/^no changes(\nnot compared: .*)?$/.test(out)) throw new Error(`the plan of ${folder}: ${out}`);
}

/**
 * Applies the export of a generated workspace to its own workspace, and checks that nothing changes. Then applies the
 * export to a new workspace, and checks that the new workspace has the same export.
 */
export async function applyExport(scene: CommandScene, seed: number, tally: Tally): Promise<void> {
  const [slug, copy] = [`same-${seed}`, `copy-${seed}`];
  try {
    const id = await makeWorkspace(scene.person, slug, createChance(seed));
    await run(scene, ["export", slug, "--workspace", slug], 0);
    const applied = await run(scene, ["apply", slug, "--prune"], 0);
    if (!/^no changes(\nnot compared: .*)?$/.test(applied)) throw new Error(applied);
    const files = readFolder(join(scene.signalbox.home, slug));
    const main = (files.get("main.tf") ?? "").replace(`slug = "${slug}"`, `slug = "${copy}"`);
    writeFolder(join(scene.signalbox.home, copy), new Map([...files, ["main.tf", main]]));
    const names = [...(files.get("variables.tf") ?? "").matchAll(/variable "(.*)"/g)].map(([, name = ""]) => name);
    const variables = Object.fromEntries(names.map((name) => [name, hiddenValue(name, seed)]));
    await run(scene, ["apply", copy, "--yes"], 0, variablesOf(variables));
    await expectNothing(scene, copy);
    await run(scene, ["export", `${copy}-again`, "--workspace", copy], 0);
    const again = readFolder(join(scene.signalbox.home, `${copy}-again`));
    const newId = /"(ws_\w+)\//.exec(again.get("main.tf") ?? "")?.[1] ?? "";
    for (const [path, text] of again) {
      const back = text.replaceAll(newId, id).replaceAll(copy, slug);
      if (back !== files.get(path)) throw new Error(`${path} differs: ${back}`);
    }
    if (again.size !== files.size) throw new Error("the copy has other files");
    tally.unchanged += 1;
  } catch (error) {
    tally.wrong.push(`export ${seed}: ${String(error)}`);
  }
}

function hiddenValue(name: string, seed: number): string {
  if (name.endsWith("_signing_secret")) return `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  return name.startsWith("runner_pool_") ? `${name}-${seed}`.padEnd(32, "x") : "a secret value";
}

/** Edits the export of a generated workspace as a person might. Checks the plan, the apply and the next export. */
export async function editExport(scene: CommandScene, seed: number, tally: Tally): Promise<void> {
  const chance = createChance(seed + 1_000_000);
  const slug = `edit-${seed}`;
  const done: string[] = [];
  try {
    const id = await makeWorkspace(scene.person, slug, chance);
    await run(scene, ["export", slug, "--workspace", slug], 0);
    const exported = readFolder(join(scene.signalbox.home, slug));
    const folder = new EditedFolder(scene.service.runtime.reading, id, exported);
    for (const [name, edit] of Object.entries(handEdits)) {
      if (!chance.onceIn(3) || !edit(folder, chance)) continue;
      done.push(name);
      tally.edits.set(name, (tally.edits.get(name) ?? 0) + 1);
    }
    const at = `${slug}-edited`;
    writeFolder(join(scene.signalbox.home, at), folder.write(chance));
    const isPruned = chance.onceIn(2);
    await planAndApply(scene, { at, id, isPruned, folder });
    await run(scene, ["export", `${slug}-next`, "--workspace", slug], 0);
    await expectNothing(scene, `${slug}-next`);
    tally.edited += 1;
  } catch (error) {
    tally.wrong.push(`edit ${seed} (${done.join(", ")}): ${String(error)}`);
  }
}

interface Applied {
  readonly at: string;
  readonly id: string;
  readonly isPruned: boolean;
  readonly folder: EditedFolder;
}

async function planAndApply(scene: CommandScene, { at, id, isPruned, folder }: Applied): Promise<void> {
  const env = variablesOf(folder.variables);
  const prune = isPruned ? ["--prune"] : [];
  const expected = folder.expected.filter(({ action }) => isPruned || action !== "delete");
  const planned = await run(scene, ["plan", at, "--json", ...prune], expected.length === 0 ? 0 : 2, env);
  const { changes, notInFolder } = JSON.parse(planned);
  const found = changes.map(({ action, kind, address, fields }: ExpectedChange) => ({ kind, address, action, fields }));
  if (!isDeepStrictEqual(inOrder(found), inOrder(expected))) {
    throw new Error(`planned ${JSON.stringify(inOrder(found))} instead of ${JSON.stringify(inOrder(expected))}`);
  }
  const left = isPruned ? 0 : folder.expected.length - expected.length;
  if (notInFolder.length !== left)
    throw new Error(`${notInFolder.length} resources are not in the folder, not ${left}`);
  const before = await readAll(scene, id);
  await run(scene, ["apply", at, "--yes", ...prune], 0, env);
  checkApplied(before, await readAll(scene, id), expected);
  const again = JSON.parse(await run(scene, ["plan", at, "--json"], 0));
  if (again.changes.length > 0) throw new Error(`planned again: ${JSON.stringify(again.changes)}`);
}

function inOrder(changes: readonly ExpectedChange[]): readonly ExpectedChange[] {
  const text = (value: object) => JSON.stringify(value);
  return changes
    .map((change) => ({
      ...change,
      fields: [...change.fields].sort((left, right) => (left.field < right.field ? -1 : 1)),
    }))
    .sort((left, right) => (text(left) < text(right) ? -1 : 1));
}

type Representation = Readonly<Record<string, unknown>>;

/** Reads all resources of a workspace over the API, by kind and address. */
async function readAll({ person }: CommandScene, id: string): Promise<ReadonlyMap<string, Representation>> {
  const found = new Map<string, Representation>();
  for (const { name, plural, heldBy } of kinds) {
    const path = heldBy === "none" ? `/api/resources/${plural}/${id}` : `/api/resources/workspaces/${id}/${plural}`;
    const reply = await person.request("GET", path);
    const items = heldBy === "none" ? [reply.body ?? {}] : listItems(reply);
    for (const item of items) found.set(`${name} ${item.address}`, item);
  }
  return found;
}

/** Checks that each expected change was made, and nothing else. */
function checkApplied(
  before: ReadonlyMap<string, Representation>,
  after: ReadonlyMap<string, Representation>,
  expected: readonly ExpectedChange[],
): void {
  const changes = new Map(expected.map((change) => [`${change.kind} ${change.address}`, change]));
  for (const name of new Set([...before.keys(), ...after.keys(), ...changes.keys()])) {
    const [old, now, change] = [before.get(name), after.get(name), changes.get(name)];
    const has = { create: [false, true], update: [true, true], delete: [true, false] }[change?.action ?? "update"];
    if (has[0] !== (old !== undefined) || has[1] !== (now !== undefined))
      throw new Error(`${name} was not made as planned`);
    if (old === undefined || now === undefined) continue;
    if (Number(now.version) !== Number(old.version) + (change === undefined ? 0 : 1)) {
      throw new Error(`${name} has the version ${now.version} after ${old.version}`);
    }
    for (const { field, new: value, isSecret } of change?.fields ?? []) {
      if (isSecret === true || field.endsWith("(order)") || (typeof value === "object" && value !== null)) continue;
      const found = valueAt(now, field) ?? null;
      if (found !== value)
        throw new Error(`${name}: ${field} is ${JSON.stringify(found)} instead of ${JSON.stringify(value)}`);
    }
  }
}

/** Returns the value of a field, such as `stations["work"].timeout_minutes`, in a resource as the API returns it. */
function valueAt(representation: unknown, field: string): unknown {
  let value = representation;
  for (const [, quoted, name = ""] of field.matchAll(/\["(.*?)"\]|([^.[\]]+)/g)) {
    if (Array.isArray(value)) value = value.find((each) => Reflect.get(Object(each), "key") === quoted);
    else {
      const written = name.replace("_wo_", "_").replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      value = Reflect.get(Object(value), written);
    }
  }
  return value;
}
