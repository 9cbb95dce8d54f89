import { pathText } from "../refusal.js";
import type { FileText, Kind, TextFolder } from "../resources/kind.js";
import type { ResourceRow } from "../resources/resource.table.js";
import { snakeCase, toAttributes } from "./attributes.js";
import { type Block, type Entries, escaped, type HclValue } from "./hcl.js";
import { byCodeUnits } from "./path-order.js";

export interface ExportedFile {
  readonly path: string;
  readonly content: string;
}

/** One resource as HCL: the variables that it reads, and its own blocks, including the import block. */
export interface ExportedResource {
  readonly variables: readonly Block[];
  readonly blocks: readonly Block[];
}

/**
 * Returns the expression that refers to the resource with this kind and address, such as `service_team.core.id`.
 * Returns null if the HCL should contain the resource's key instead.
 */
export type Refer = (kind: string, address: string) => string | null;

/**
 * Converts a resource to HCL. `holders` are the attributes that name the resource's workspace or team (`workspace_id`,
 * `team_id`). `teamKey` is "" for a resource without a team.
 */
export function exportResource(
  kind: Kind,
  row: ResourceRow,
  context: { readonly teamKey: string; readonly holders: Entries; readonly refer: Refer },
): ExportedResource {
  const { teamKey, holders, refer } = context;
  const texts = new Map(
    (kind.hcl?.folders ?? []).flatMap(({ folder, texts }) =>
      texts(row.fields).map((text) => [text.path, filePath(folder, row, text)] as const),
    ),
  );
  const references = new Map(
    kind
      .references(row.fields, teamKey)
      .flatMap(({ path, kind: target, address }) => (address === undefined ? [] : [[path, { kind: target, address }]])),
  );
  const variables: Block[] = [];
  const attributes = toAttributes(kind.schema, row.fields, {
    omitted: kind.hcl?.omitted ?? [],
    hiddenPaths: kind.hidden.map(({ path }) => path),
    hidden: (path) => {
      if (row.hidden[path] === undefined) return null;
      const variable = variableFor(kind, row, path);
      variables.push(variable);
      return { expression: `var.${variable.labels[0]}` };
    },
    at: (at, text) => {
      if (texts.size === 0 && references.size === 0) return null;
      const path = pathText(at);
      const file = texts.get(path);
      if (file !== undefined) return { expression: `file("\${path.module}/${escaped(file)}")` };
      const reference = references.get(path);
      return reference === undefined ? null : referenceTo(refer(reference.kind, reference.address), reference, text);
    },
  });
  const type = resourceType(kind);
  const name = blockName(row.address);
  return {
    variables,
    blocks: [
      {
        type: "import",
        labels: [],
        attributes: [
          ["to", { expression: `${type}.${name}` }],
          ["id", importId(kind, row)],
        ],
      },
      { type: "resource", labels: [type, name], attributes: [...holders, ...attributes] },
    ],
  };
}

/** Returns the files for the resource's texts in this folder, ordered by path. */
export function filesIn({ folder, texts }: TextFolder, row: ResourceRow): readonly ExportedFile[] {
  return texts(row.fields)
    .map((text) => ({ path: filePath(folder, row, text), content: text.content }))
    .sort((left, right) => byCodeUnits(left.path, right.path));
}

function filePath(folder: string, { address }: ResourceRow, { name }: FileText): string {
  return `${folder}/${address}/${name}`;
}

/** Returns the resource type of a kind, for example `service_runner_pool`. */
export function resourceType({ name }: Pick<Kind, "name">): string {
  return `service_${snakeCase(name)}`;
}

/**
 * Returns the block name of a resource: `core/web-app` -> `core_web-app`. A name that begins with a digit gets the
 * prefix `_`. Keys contain no underscore, so block names are unique.
 */
export function blockName(address: string): string {
  const name = address.replaceAll("/", "_");
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

/**
 * Returns the import id that the provider's import operation expects. For a workspace this is its address. For any
 * other resource it is the workspace id and the address in the workspace.
 */
function importId(kind: Kind, row: ResourceRow): string {
  return kind.heldBy === "none" ? row.address : `${row.workspaceId}/${row.address}`;
}

/**
 * Returns the value to write for a text that may be the key of the resource that `block` defines:
 *
 * - If the text is this key: the expression `block`.
 * - If the text is this key, a dot and a suffix (as for a tool of an integration): a template of the expression and
 *   the suffix.
 * - Otherwise, or without a `block`: null.
 */
function referenceTo(block: string | null, { address }: { readonly address: string }, text: string): HclValue | null {
  if (block === null) return null;
  const key = address.slice(address.lastIndexOf("/") + 1);
  if (text === key) return { expression: block };
  return text.startsWith(`${key}.`) ? { expression: `"\${${block}}${escaped(text.slice(key.length))}"` } : null;
}

function variableFor(kind: Kind, row: ResourceRow, path: string): Block {
  const name = `${snakeCase(kind.name)}_${blockName(row.address)}_${snakeCase(path.replaceAll(".", "_"))}`;
  return {
    type: "variable",
    labels: [name],
    attributes: [
      ["description", `The ${path} of the ${kind.name} ${row.address}, which is never read back.`],
      ["type", { expression: "string" }],
      ["sensitive", true],
    ],
  };
}
