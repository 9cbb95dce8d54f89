import { snakeCase, toShape } from "../../../actors/export/attributes.js";
import { fromAttributes } from "../../../actors/export/from-attributes.js";
import type { FieldError } from "../../../actors/refusal.js";
import { parseBy } from "../../wire/field-errors.js";
import { takeAt } from "./at-path.js";
import { adviseName, attributesOf, hiddenAttribute, holders, ORDER } from "./attribute-names.js";
import type { Module, ResourceBlock } from "./hcl-module.js";
import type { LiveResource, TargetWorkspace } from "./live.js";
import { locate } from "./locate.js";
import { fromBlocks } from "./nested-blocks.js";
import { errorLines, toAttributeErrors } from "./refusal-lines.js";
import { type Placed, Refused, refuse } from "./refused.js";
import { Scope, unknownId } from "./scope.js";
import { isMap, type Value, type ValueMap } from "./value.js";
import type { Variables } from "./variables.js";

type Fields = Readonly<Record<string, unknown>>;

/** A resource as the folder describes it. */
export interface WantedResource {
  readonly resource: ResourceBlock;
  readonly address: string;
  /** The id of the workspace or team that holds this resource; "" for a workspace. */
  readonly holder: string;
  /** The fields that the folder sets, without hidden ones. */
  readonly fields: Fields;
  /** All fields, with defaults. */
  readonly complete: Fields;
  /**
   * The hidden values that the folder sets, by path. A value is evaluated only when it is used, because its variables
   * may have no value.
   */
  readonly hidden: ReadonlyMap<string, () => Value>;
  /** The names of the resources that this resource refers to. */
  readonly references: ReadonlySet<string>;
}

/** The resources of a folder, with the ids that the service has. Methods throw {@link Refused}. */
export class Folder {
  readonly module: Module;
  readonly #target: TargetWorkspace;
  readonly #live: ReadonlyMap<string, LiveResource>;
  readonly #teams: ReadonlyMap<string, string>;
  readonly #scope: Scope;
  /** The ids of the created resources, by name. */
  readonly #created = new Map<string, string>();
  readonly #addresses = new Map<string, string>();

  constructor(
    module: Module,
    { values }: Variables,
    { target, live }: { readonly target: TargetWorkspace; readonly live: readonly LiveResource[] },
  ) {
    this.module = module;
    this.#target = target;
    this.#live = new Map(live.map((each) => [`${each.kind.name} ${each.address}`, each]));
    this.#teams = new Map(live.filter(({ kind }) => kind.name === "team").map(({ id, address }) => [id, address]));
    this.#scope = new Scope(module, { variable: (name) => values.get(name), id: (resource) => this.#id(resource) });
  }

  /** Records the id of a resource that was created. */
  created({ name }: ResourceBlock, id: string): void {
    this.#created.set(name, id);
    this.#scope.refresh();
  }

  /** Returns the resource of the service that a resource of the folder describes; null if there is none. */
  match(resource: ResourceBlock): LiveResource | null {
    return this.#live.get(`${resource.kind.name} ${this.address(resource)}`) ?? null;
  }

  /** Returns the address that the folder gives to a resource. */
  address(resource: ResourceBlock): string {
    const { name, kind, block } = resource;
    const known = this.#addresses.get(name);
    if (known !== undefined) return known;
    const [field] = kind.fixed;
    const key = field === undefined ? undefined : this.#scope.attribute(resource, snakeCase(field));
    if (field !== undefined && typeof key !== "string") {
      refuse(block.place, `${name} needs the attribute ${snakeCase(field)}`);
    }
    const holder = { none: "", workspace: this.#target.slug, team: "", station: "" }[kind.heldBy];
    const held = kind.heldBy === "team" ? this.#teamKey(resource) : holder;
    const address = kind.address(field === undefined ? {} : { [field]: key }, held);
    this.#addresses.set(name, address);
    return address;
  }

  /** Evaluates a resource. The id of a resource that does not exist yet is replaced by {@link unknownId}. */
  evaluate(resource: ResourceBlock): WantedResource {
    const { kind, block, name } = resource;
    refuseUnknown(resource);
    const address = this.address(resource);
    const holder = this.#holder(resource);
    const { [ORDER]: order, ...body } = block.body;
    let values: ValueMap = body;
    const hidden = new Map<string, () => Value>();
    for (const { path } of kind.hidden) {
      const { rest, value } = takeAt(values, hiddenAttribute(path));
      values = rest;
      if (value === undefined || value === null) continue;
      hidden.set(path, () => this.#scope.evaluate(this.#placed(resource, path, value)).value);
    }
    const { place } = block;
    const evaluated = this.#scope.evaluate({ value: values, place });
    const attribute = holders[kind.heldBy];
    const all = isMap(evaluated.value) ? evaluated.value : {};
    const { rest: attributes } = takeAt(all, attribute === null ? [] : [attribute]);
    const fields = this.#fields(resource, fromBlocks(toShape(kind.schema), place.file, block.holder, attributes));
    const taken = takeHidden(resource, fields, hidden);
    const complete = this.#complete(resource, taken);
    const references = new Set([...evaluated.references, ...this.#orderedAfter(resource, order)]);
    references.delete(name);
    return { resource, address, holder, fields: taken, complete, hidden, references };
  }

  #id(resource: ResourceBlock): string | null {
    const created = this.#created.get(resource.name);
    if (created !== undefined) return created;
    if (resource.kind.heldBy === "none") return this.#target.id;
    return this.match(resource)?.id ?? null;
  }

  /** Returns the id of the resource's holder, or a placeholder if the holder does not exist yet. */
  #holder(resource: ResourceBlock): string {
    const { kind, block, name } = resource;
    const attribute = holders[kind.heldBy];
    if (attribute === null) return "";
    const id = this.#scope.attribute(resource, attribute);
    const example = `${attribute} = service_${kind.heldBy}.<name>.id`;
    if (typeof id !== "string") return refuse(block.place, `${name} needs ${example}`);
    if (kind.heldBy !== "workspace") return id;
    const workspace = [...this.module.resources.values()].find((each) => each.kind.heldBy === "none");
    const known = [
      this.#target.id,
      workspace === undefined ? null : (this.#id(workspace) ?? unknownId(workspace.name)),
    ];
    if (known.includes(id)) return id;
    return refuse(locate(block, attribute).place, `${attribute} names another workspace than ${this.#target.slug}`);
  }

  #teamKey(resource: ResourceBlock): string {
    const id = this.#holder(resource);
    const live = this.#teams.get(id);
    if (live !== undefined) return live;
    for (const team of this.module.resources.values()) {
      if (team.kind.name !== "team") continue;
      if (id === (this.#id(team) ?? unknownId(team.name))) return this.address(team);
    }
    const { place } = locate(resource.block, "team_id");
    return refuse(place, `team_id names no team of the workspace ${this.#target.slug}`);
  }

  #fields(resource: ResourceBlock, attributes: ValueMap): Fields {
    const { kind } = resource;
    const { fields, faults } = fromAttributes(kind.schema, attributes, {
      unknown: {},
      omitted: kind.hcl?.omitted ?? [],
      hiddenPaths: kind.hidden.map(({ path }) => path),
    });
    if (faults.length === 0) return fields;
    return refuseAll(
      resource,
      faults.map(({ path, message, known }) => {
        const name = /[^.[\]]*$/.exec(path)?.[0] ?? path;
        return { path, message: known === undefined ? message : `${message}${adviseName(name, known)}` };
      }),
    );
  }

  #complete(resource: ResourceBlock, fields: Fields): Fields {
    const { kind } = resource;
    const [tooMuch] = kind.findSizeErrors?.(fields) ?? [];
    const parsed = tooMuch === undefined ? parseBy(kind.schema, fields) : { errors: [tooMuch] };
    if ("errors" in parsed) {
      return refuseAll(resource, toAttributeErrors(resource, parsed.errors));
    }
    const { data } = parsed;
    return kind.fill?.(data, this.match(resource)?.fields ?? null) ?? data;
  }

  #placed({ block }: ResourceBlock, path: string, value: Value): Placed {
    return { value, place: locate(block, hiddenAttribute(path).join(".")).place };
  }

  /** Returns the resources in `depends_on`. */
  #orderedAfter({ block }: ResourceBlock, order: Value | undefined): readonly string[] {
    if (order === undefined || order === null) return [];
    const { place } = locate(block, ORDER);
    const names = (Array.isArray(order) ? order : [order]).flatMap((mark) => {
      const expression = typeof mark === "string" ? this.module.expressions.get(mark) : undefined;
      const parts = expression?.kind === "reference" ? expression.parts : [];
      return [`${String(parts[0])}.${String(parts[1])}`];
    });
    for (const name of names) {
      if (!this.module.resources.has(name)) refuse(place, `${ORDER} must list resources of the folder`);
    }
    return names;
  }
}

/** Throws {@link Refused} with the places of all errors of a resource. */
function refuseAll(resource: ResourceBlock, errors: readonly FieldError[]): never {
  throw new Refused(errorLines(resource, errors).join("\n"));
}

/**
 * Refuses attributes that the kind does not have. Call it before missing attributes are reported: if a name is
 * misspelled, this error helps more.
 */
function refuseUnknown(resource: ResourceBlock): void {
  const { kind, block } = resource;
  const known = attributesOf(kind);
  const unknown = Object.keys(block.body).filter((name) => !known.includes(name) && block.body[name] !== null);
  if (unknown.length === 0) return;
  refuseAll(
    resource,
    unknown.map((path) => ({ path, message: `is not a known attribute${adviseName(path, known)}` })),
  );
}

/**
 * Moves hidden values from `given` to `hidden`, and returns the other fields. `given` has hidden values if the folder
 * sets a whole object by a reference (`signing = local.signing`).
 */
function takeHidden({ kind }: ResourceBlock, given: Fields, hidden: Map<string, () => Value>): Fields {
  let fields = given;
  for (const { path } of kind.hidden) {
    const { rest, value } = takeAt<unknown>(fields, path.split("."));
    fields = rest;
    if (value !== undefined) hidden.set(path, () => value as Value);
  }
  return fields;
}
