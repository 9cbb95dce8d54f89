import { parse } from "@cdktn/hcl2json";
import { z } from "zod";
import type { Kind } from "../../actors/resources/kind.js";
import type { Client } from "./service.js";

export interface ModuleFile {
  readonly path: string;
  readonly content: string;
}

export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = { readonly [name: string]: Json };
type Schema = z.core.JSONSchema.JSONSchema;

interface Declared {
  readonly kind: Kind;
  readonly name: string;
  readonly attributes: JsonObject;
}

/** An HCL module, parsed by HCL's own parser. */
export interface HclModule {
  readonly resources: readonly Declared[];
  readonly variables: readonly string[];
  /** Import ids by resource: `service_team.core`. */
  readonly imports: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, string>;
}

/** Parses an export; resources are in the catalogue's order. */
export async function readModule(files: readonly ModuleFile[], kinds: readonly Kind[]): Promise<HclModule> {
  const contents = new Map(files.map(({ path, content }) => [path, content]));
  const main: JsonObject = await parse("main.tf", contents.get("main.tf") ?? "");
  const variables: JsonObject = await parse("variables.tf", contents.get("variables.tf") ?? "");
  const types = toObject(main.resource);
  return {
    resources: kinds.flatMap((kind) =>
      Object.entries(toObject(types[toType(kind)])).map(([name, declared]) => ({
        kind,
        name,
        attributes: toObject(toList(declared)[0]),
      })),
    ),
    variables: Object.keys(toObject(variables.variable)),
    imports: new Map(
      toList(main.import).map((each) => {
        const { to, id } = toObject(each);
        return [String(to).replace(/^\$\{|\}$/g, ""), String(id)];
      }),
    ),
    files: contents,
  };
}

/**
 * Creates all resources of a module, like the Terraform provider. `valueFor` returns the values of the module's
 * variables.
 */
export async function applyModule(
  module: HclModule,
  client: Client,
  valueFor: (variable: string) => string,
): Promise<ReadonlyMap<string, JsonObject>> {
  const made = new Map<string, JsonObject>();
  for (const { kind, name, attributes } of module.resources) {
    const evaluate = (text: string) => evaluated(text, { module, made, valueFor });
    const { workspace_id, team_id, ...rest } = toObject(mapped(attributes, evaluate));
    const body = readBody(rest, z.toJSONSchema(kind.schema, { io: "input", unrepresentable: "any" }));
    const holder =
      kind.heldBy === "none" ? "" : kind.heldBy === "team" ? `/teams/${team_id}` : `/workspaces/${workspace_id}`;
    const resource = await client.create(`/api/resources${holder}/${kind.plural}`, body);
    made.set(`${toType(kind)}.${name}`, JSON.parse(JSON.stringify(resource)));
  }
  return made;
}

interface Scope {
  readonly module: HclModule;
  readonly made: ReadonlyMap<string, JsonObject>;
  readonly valueFor: (variable: string) => string;
}

/**
 * Evaluates a template in one of the forms that exports use: a reference, a variable, a file, or text with a reference.
 */
function evaluated(text: string, { module, made, valueFor }: Scope): Json {
  const file = /^\$\{file\("\$\{path\.module\}\/(.*)"\)\}$/.exec(text)?.[1];
  if (file !== undefined) return read(module, JSON.parse(`"${unescaped(file)}"`));
  const variable = /^\$\{var\.([\w-]+)\}$/.exec(text)?.[1];
  if (variable !== undefined) return valueFor(variable);
  const filled = text.replace(/(?<!\$)\$\{(service_\w+\.[\w-]+)\.(\w+)\}/g, (_, name: string, field: string) => {
    const value = made.get(name)?.[field];
    if (value === undefined) throw new Error(`${name} has no ${field} yet`);
    return String(value);
  });
  return unescaped(filled);
}

function read(module: HclModule, path: string): string {
  const content = module.files.get(path);
  if (content === undefined) throw new Error(`there is no file ${path}`);
  return content;
}

function unescaped(text: string): string {
  return text.replace(/([$%])\1\{/g, "$1{");
}

function mapped(value: Json, evaluate: (text: string) => Json): Json {
  if (typeof value === "string") return evaluate(value);
  if (isList(value)) return value.map((each) => mapped(each, evaluate));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [unescaped(name), mapped(each, evaluate)]));
}

/** Converts HCL attributes to an API body: replaces each attribute's name by the name of its property in `schema`. */
export function readBody(value: Json, schema: Schema): Json {
  if (isList(value)) {
    const items = listAlternatives(schema).find((each) => each.items !== undefined)?.items;
    return value.map((each) => readBody(each, typeof items === "object" && !Array.isArray(items) ? items : {}));
  }
  if (value === null || typeof value !== "object") return value;
  for (const { properties } of listAlternatives(schema)) {
    const names = new Map(
      Object.keys(properties ?? {}).flatMap((name) => attributeNames(name).map((at) => [at, name])),
    );
    if (names.size === 0 || !Object.keys(value).every((at) => names.has(at))) continue;
    return Object.fromEntries(
      Object.entries(value).map(([at, each]) => {
        const name = names.get(at) ?? at;
        const below = properties?.[name];
        return [name, readBody(each, typeof below === "object" ? below : {})];
      }),
    );
  }
  const below = listAlternatives(schema).find(({ additionalProperties }) => typeof additionalProperties === "object");
  if (below === undefined) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, readBody(each, objectSchema(below.additionalProperties))]),
  );
}

function objectSchema(schema: Schema | boolean | undefined): Schema {
  return typeof schema === "object" ? schema : {};
}

function listAlternatives(schema: Schema): Schema[] {
  const nested = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter((each) => typeof each === "object");
  return nested.length === 0 ? [schema] : nested.flatMap(listAlternatives);
}

/** Returns the possible HCL names of a field: plain, write-only, and the version of a write-only field. */
function attributeNames(name: string): string[] {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return [snake, `${snake}_wo`, snake.replace(/_version$/, "_wo_version")];
}

function toType({ name }: Kind): string {
  return `service_${name.replaceAll("-", "_")}`;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function toList(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}

function toObject(value: Json | undefined): JsonObject {
  return value === null || typeof value !== "object" || isList(value) ? {} : value;
}
