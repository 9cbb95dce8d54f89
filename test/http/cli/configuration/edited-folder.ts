import { createKinds } from "../../../../actors/catalogue.js";
import type { Block, Entries, HclValue } from "../../../../actors/export/hcl.js";
import { blockName, exportResource, resourceType } from "../../../../actors/export/resource-block.js";
import { parseAllowList } from "../../../../actors/outbound/http/allow-list.js";
import { listResources } from "../../../../actors/resources/resource.table.js";
import type { Reading } from "../../../../storage/store.js";
import type { Chance } from "../../../simulation/chance.js";
import { HandPrinter, isObject } from "../../../support/hcl-printer.js";

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false }).filter(({ hcl }) => hcl !== null);

/** A field that a plan must show. A secret field has no values. */
export interface ExpectedField {
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
  readonly isSecret?: true;
}

export interface ExpectedChange {
  readonly action: "create" | "update" | "delete";
  readonly kind: string;
  readonly address: string;
  readonly fields: readonly ExpectedField[];
}

/** A resource of the folder. */
export interface Item {
  /** The resource's name in HCL, such as `service_team.core`. */
  name: string;
  readonly kind: string;
  readonly address: string;
  /** The resource's attributes, without the attribute that names the holder. */
  entries: Entries;
  readonly holder: Entries;
  readonly importId: string;
  /** Whether an edit has changed the resource. */
  isEdited: boolean;
}

/**
 * The export of a workspace as a folder of blocks, which a test edits like a person. Also knows what a plan of the
 * edits must show.
 */
export class EditedFolder {
  items: Item[];
  /** Blocks other than resources and imports. */
  readonly extra: Block[] = [];
  readonly variables: Record<string, string> = {};
  readonly expected: ExpectedChange[] = [];
  readonly files: ReadonlyMap<string, string>;
  readonly workspaceId: string;

  constructor(reading: Reading, workspaceId: string, files: ReadonlyMap<string, string>) {
    this.files = files;
    this.workspaceId = workspaceId;
    const slug = files.get("main.tf")?.match(/slug = "(.*)"/)?.[1] ?? "";
    this.items = kinds.flatMap((kind) =>
      listResources(reading, workspaceId, kind.name).map((row): Item => {
        const team = row.address.split("/")[0] ?? "";
        const holder: Entries =
          kind.heldBy === "none"
            ? []
            : kind.heldBy === "team"
              ? [["team_id", { expression: `service_team.${blockName(team)}.id` }]]
              : [["workspace_id", { expression: `service_workspace.${blockName(slug)}.id` }]];
        const refer = (target: string, address: string) => {
          const found = kinds.find(({ name }) => name === target);
          return found === undefined ? null : `${resourceType(found)}.${blockName(address)}.${found.fixed[0] ?? "id"}`;
        };
        const teamKey = kind.heldBy === "team" ? team : "";
        const { blocks } = exportResource(kind, row, { teamKey, holders: [], refer });
        const [imported, resource] = blocks;
        const id = imported?.attributes.find(([name]) => name === "id")?.[1];
        return {
          name: (resource?.labels ?? []).join("."),
          kind: kind.name,
          address: row.address,
          entries: this.#asExported(resource?.attributes ?? []),
          holder,
          importId: String(id),
          isEdited: false,
        };
      }),
    );
  }

  /** Adds `chomp` around each `file(…)` that has `chomp` in the exported `main.tf`. */
  #asExported(entries: Entries): Entries {
    const main = this.files.get("main.tf") ?? "";
    const convert = (value: HclValue): HclValue => {
      if (typeof value !== "object" || value === null) return value;
      if (Array.isArray(value)) return value.map(convert);
      if (isObject(value)) return { entries: this.#asExported(value.entries) };
      if (!("expression" in value)) return value;
      const chomped = `chomp(${value.expression})`;
      return value.expression.startsWith("file(") && main.includes(chomped) ? { expression: chomped } : value;
    };
    return entries.map(([name, value]) => [name, convert(value)]);
  }

  /**
   * Returns the plain value of an attribute. For a file, this is the file's text; for a reference, the value of the
   * referenced field.
   */
  plain(value: HclValue): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((each: HclValue) => this.plain(each));
    if (isObject(value)) return Object.fromEntries(value.entries.map(([name, each]) => [name, this.plain(each)]));
    if (!("expression" in value)) throw new Error("a value is an object, a list or an expression");
    const { expression } = value;
    const [, chomp, path] = /^(chomp\()?file\("\$\{path\.module\}\/(.*?)"\)\)?$/.exec(expression) ?? [];
    if (path !== undefined)
      return chomp === undefined ? this.files.get(path) : this.files.get(path)?.replace(/\n$/, "");
    const [, name, field, rest = ""] = /^(?:"\$\{)?(service_\w+\.[\w-]+)\.(\w+)(?:\}(.*)")?$/.exec(expression) ?? [];
    const item = this.items.find((each) => each.name === name);
    const key = item?.entries.find(([each]) => each === field)?.[1];
    if (key === undefined) throw new Error(`what is ${expression}?`);
    return `${String(this.plain(key))}${rest}`;
  }

  /** Whether another resource refers to this one. */
  isUsed({ name }: Item): boolean {
    return this.items.some(
      (item) => item.name !== name && JSON.stringify([item.entries, item.holder]).includes(`${name}.`),
    );
  }

  expect(
    { kind, address }: Pick<Item, "kind" | "address">,
    action: ExpectedChange["action"],
    fields: readonly ExpectedField[],
  ): void {
    this.expected.push({ kind, address, action, fields });
  }

  /** Returns all files by path. The blocks are in random order and layout, as a person might write them. */
  write(chance: Chance): ReadonlyMap<string, string> {
    const hasImports = chance.onceIn(2);
    const blocks = this.items.flatMap(({ name, holder, entries, importId }) => {
      const imported: Block = {
        type: "import",
        labels: [],
        attributes: [
          ["to", { expression: name }],
          ["id", importId],
        ],
      };
      const resource: Block = {
        type: "resource",
        labels: name.split("."),
        attributes: shuffled(chance, [...holder, ...entries]),
      };
      return hasImports ? [imported, resource] : [resource];
    });
    const all = shuffled(chance, [...this.extra, ...blocks]);
    const border = chance.onceIn(2) ? all.length : chance.between(0, all.length);
    const texts = [all.slice(0, border), all.slice(border)].map((part) => print(chance, part));
    const { "main.tf": _main, ...others } = Object.fromEntries(this.files);
    return new Map([...Object.entries(others), ["main.tf", texts[0] ?? ""], ["more.tf", texts[1] ?? ""]]);
  }
}

function print(chance: Chance, blocks: readonly Block[]): string {
  const style = {
    stations: "objects",
    newline: chance.onceIn(4) ? "\r\n" : "\n",
    isAligned: chance.onceIn(2),
    hasComments: !chance.onceIn(4),
    heredocs: chance.pick(["<<-", "<<", null] as const),
    hasCommas: chance.onceIn(3),
    isSorted: false,
  } as const;
  const printer = new HandPrinter(style, chance, "");
  for (const block of blocks) printer.block(block);
  return printer.text;
}

/** Returns the items in a random order. */
export function shuffled<Each>(chance: Chance, items: readonly Each[]): Each[] {
  const left = [...items];
  return items.flatMap(() => left.splice(chance.between(0, left.length - 1), 1));
}
