import { createKinds } from "../../../actors/catalogue.js";
import { loadSyntax, type Syntax } from "../../../actors/config-pull-requests/edit/hcl-syntax.js";
import { resourceType } from "../../../actors/export/resource-block.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import type { Kind } from "../../../actors/resources/kind.js";
import { adviseName } from "./attribute-names.js";
import { type Expression, partsText } from "./expression.js";
import type { FolderFiles } from "./folder-files.js";
import { type FileBlock, parseHcl } from "./hcl-file.js";
import { Faults, type Place, type Placed, placeText, refuse, type SourceFile } from "./refused.js";
import type { Value, ValueMap } from "./value.js";

/**
 * The exported kinds. Each kind comes after the kinds that it refers to. Only the schemas of these kinds are used, not
 * the deployment's rules.
 */
export const exportedKinds: readonly Kind[] = createKinds({ allowList: parseAllowList(""), signsTokens: false }).filter(
  ({ hcl }) => hcl !== null,
);

/** A resource of the folder. */
export interface ResourceBlock {
  /** The name in references: `service_team.core`. */
  readonly name: string;
  readonly kind: Kind;
  readonly block: FileBlock;
}

export interface VariableBlock {
  readonly name: string;
  readonly place: Place;
  /** The text of `type`; null if there is none. */
  readonly type: string | null;
  readonly isSensitive: boolean;
  /** Undefined if there is no default. */
  readonly default: Value | undefined;
}

/** The blocks of a folder. */
export interface Module {
  readonly syntax: Syntax;
  readonly files: FolderFiles;
  readonly resources: ReadonlyMap<string, ResourceBlock>;
  readonly variables: ReadonlyMap<string, VariableBlock>;
  readonly locals: ReadonlyMap<string, Placed>;
  /** The ids of import blocks, by resource name. */
  readonly imports: ReadonlyMap<string, Placed>;
  readonly expressions: ReadonlyMap<string, Expression>;
  readonly literals: ValueMap;
}

const kindByType = new Map(exportedKinds.map((kind) => [resourceType(kind), kind]));

/**
 * Reads all HCL of a folder. Throws a {@link CommandError} with the file and line of each part that these commands do
 * not support.
 */
export async function readModule(files: FolderFiles): Promise<Module> {
  const faults = new Faults();
  const sources = faults.try(() => files.sources()) ?? [];
  faults.end();
  const syntax = await loadSyntax();
  const parsed = await parseAll(syntax, sources, faults);
  faults.end();
  const module = {
    syntax,
    files,
    resources: new Map<string, ResourceBlock>(),
    variables: new Map<string, VariableBlock>(),
    locals: new Map<string, Placed>(),
    imports: new Map<string, Placed>(),
    expressions: new Map(parsed.flatMap(({ expressions }) => [...expressions])),
    literals: Object.assign({}, ...parsed.map(({ literals }) => literals)) as ValueMap,
  };
  for (const { blocks } of parsed) for (const block of blocks) faults.try(() => addBlock(module, block));
  for (const [name, { place }] of module.imports) {
    faults.try(() => {
      if (module.resources.has(name)) return;
      refuse(place, `there is no resource ${name} in the folder to import: remove this block, or add the resource`);
    });
  }
  for (const expression of module.expressions.values()) faults.try(() => checkReference(module, expression));
  faults.end();
  return module;
}

async function parseAll(syntax: Syntax, sources: readonly SourceFile[], faults: Faults) {
  const parsed = [];
  for (const source of sources) {
    // The parsers keep state, so files are parsed one after another.
    const file = await parseHcl(syntax, source).then(
      (done) => () => done,
      (error: unknown) => () => {
        throw error;
      },
    );
    parsed.push(...[faults.try(file) ?? []].flat());
  }
  return parsed;
}

interface OpenModule {
  readonly resources: Map<string, ResourceBlock>;
  readonly variables: Map<string, VariableBlock>;
  readonly locals: Map<string, Placed>;
  readonly imports: Map<string, Placed>;
}

function addBlock(module: OpenModule, block: FileBlock): void {
  const { type, labels, place, body } = block;
  switch (type) {
    case "resource": {
      const [resource = "", label = ""] = labels;
      const kind = kindByType.get(resource);
      if (kind === undefined) {
        refuse(place, `the resource type ${resource} is not understood${adviseName(resource, [...kindByType.keys()])}`);
      }
      for (const { name, node } of block.holder.members) {
        if (name !== "count" && name !== "for_each" && name !== "provider") continue;
        refuse({ file: place.file, node }, `${name} is not understood: write one block for each resource`);
      }
      const name = `${resource}.${label}`;
      return add(module.resources, name, { name, kind, block }, { what: name, place });
    }
    case "variable":
      return addVariable(module, block);
    case "locals":
      for (const { name, node } of block.holder.members) {
        const at = { file: place.file, node };
        if (name !== null)
          add(module.locals, name, { value: body[name] ?? null, place: at }, { what: `local.${name}`, place: at });
      }
      return;
    case "import":
      return addImport(module, block);
    default:
  }
}

/** The attributes that a variable may have. Blocks in a variable, such as `validation`, are refused. */
const variableAttributes = ["default", "description", "ephemeral", "nullable", "sensitive", "type"];

function addVariable(module: OpenModule, { labels: [name = ""], place, body, holder }: FileBlock): void {
  const { file } = place;
  for (const member of holder.members) {
    if (variableAttributes.includes(member.name ?? "")) continue;
    refuse({ file, node: member.node }, `${member.name} is not understood in a variable`);
  }
  const type = holder.members.find((member) => member.name === "type")?.value;
  const written = type === undefined ? null : file.text.slice(type.start, type.end).trim();
  const sensitive = holder.members.find((member) => member.name === "sensitive")?.value;
  const isTrue = sensitive === undefined ? "false" : file.text.slice(sensitive.start, sensitive.end).trim();
  if (sensitive !== undefined && isTrue !== "true" && isTrue !== "false") {
    refuse({ file, node: sensitive }, "sensitive must be true or false, without quotes or an expression");
  }
  const known = { name, place, type: written, isSensitive: isTrue === "true", default: body.default };
  add(module.variables, name, known, { what: `the variable ${name}`, place });
}

function addImport(module: OpenModule, { place, body, holder }: FileBlock): void {
  const { file } = place;
  for (const { name, node } of holder.members) {
    if (name !== "to" && name !== "id") refuse({ file, node }, `${name} is not understood in an import block`);
  }
  const to = holder.members.find(({ name }) => name === "to")?.value;
  const name = to === undefined ? "" : file.text.slice(to.start, to.end).trim();
  if (!/^[\w-]+\.[\w-]+$/.test(name) || body.id === undefined) {
    refuse(place, "an import block needs to = a resource of the folder, and id");
  }
  add(module.imports, name, { value: body.id, place }, { what: `the import of ${name}`, place });
}

function add<Item extends { readonly place: Place } | ResourceBlock>(
  items: Map<string, Item>,
  name: string,
  item: Item,
  { what, place }: { readonly what: string; readonly place: Place },
): void {
  const before = items.get(name);
  if (before !== undefined) {
    refuse(place, `${what} is also at ${placeText("block" in before ? before.block.place : before.place)}`);
  }
  items.set(name, item);
}

/** Checks that a reference names something that the folder has. */
function checkReference(module: Pick<Module, "variables" | "locals" | "resources">, expression: Expression): void {
  const { variables, locals, resources } = module;
  if (expression.kind === "file") return checkReference(module, expression.path);
  if (expression.kind === "chomp") return checkReference(module, expression.text);
  if (expression.kind !== "reference") return;
  const { place, parts } = expression;
  const [root, name] = parts;
  const text = partsText(parts);
  if (typeof root !== "string" || typeof name !== "string") return refuse(place, `${text} is not understood`);
  if (root === "var") {
    if (!variables.has(name))
      refuse(place, `there is no variable ${name} in the folder${adviseName(name, [...variables.keys()])}`);
  } else if (root === "local") {
    if (!locals.has(name))
      refuse(place, `there is no local value ${name} in the folder${adviseName(name, [...locals.keys()])}`);
  } else if (root === "path") {
    if (parts.length > 2 || (name !== "module" && name !== "root"))
      refuse(place, `${text} is not understood: use path.module`);
  } else if (kindByType.has(root)) {
    checkResource({ resources }, `${root}.${name}`, place);
  } else {
    refuse(place, `${text} is not understood: only var, local, path.module and resources of the folder can be named`);
  }
}

function checkResource({ resources }: Pick<Module, "resources">, name: string, place: Place): void {
  if (resources.has(name)) return;
  const [type = "", label = ""] = name.split(".");
  const labels = [...resources.keys()]
    .map((each) => each.split("."))
    .flatMap(([of, each = ""]) => (of === type ? [each] : []));
  refuse(place, `there is no resource ${name} in the folder${adviseName(label, labels)}`);
}
