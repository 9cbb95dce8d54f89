import type { oas31 } from "zod-openapi";
import { EXAMPLE_ULID } from "../wire/route.js";

type Schema = oas31.SchemaObject | oas31.ReferenceObject;
type Schemas = Readonly<Record<string, Schema>>;

const EXAMPLE_TIME = "2026-09-23T08:30:00.000Z";
const MAX_DEPTH = 12;

/** Id prefixes, by field name or by resource title. */
const idPrefixes: Readonly<Record<string, string>> = {
  workspaceId: "ws",
  teamId: "team",
  lineId: "line",
  stationId: "sta",
  taskId: "task",
  runId: "run",
  userId: "usr",
  issuedBy: "usr",
  definedBy: "usr",
  assignee: "usr",
  tokenId: "tok",
  hookId: "hook",
  runnerId: "runner",
  resourceId: "line",
  inviteId: "inv",
  occurrence: "occ",
  trust: "trust",
  task: "task",
  run: "run",
  "hook-occurrence": "occ",
  "dead-letter": "dead",
  invite: "inv",
};

const words: Readonly<Record<string, string>> = {
  key: "core",
  slug: "acme",
  name: "Core",
  title: "Fix the build",
  email: "ada@example.com",
  station: "work",
  stationKey: "work",
  line: "dev",
  hook: "tell",
  resource: "line",
  role: "member",
  description: "The build has failed since Monday.",
  url: "https://example.com/issues/7",
  text: "I am working on it.",
  from: "person",
  body: "I am working on it.",
  note: "Ready for review.",
  repository: "acme/app",
  version: "1.0.0",
  status: "ok",
  address: "core/dev",
  client: "web",
  event: "task.moved",
  step: "tell",
  to: "review",
};

/** Texts to try, in this order, if the text for the field's name does not match the pattern. */
const candidates = [
  "example",
  "Example",
  "acme/app",
  "example.com",
  "https://example.com/",
  "EUR",
  "ada@example.com",
  "0123456789abcdef0123456789abcdef01234567",
  "core.tool",
  "1",
  EXAMPLE_TIME,
];

/** Creates examples of schemas. A schema may refer to another one as `#/components/schemas/<name>`. */
export class Examples {
  readonly #schemas: Schemas;

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  /** Returns the schema's own example, or one derived from names, formats and limits. */
  read(schema: Schema, name = ""): unknown {
    return this.#make(schema, name, 0);
  }

  /** Completes an example: adds the required fields that it lacks. */
  fill(given: unknown, schema: Schema, name = ""): unknown {
    const { properties, required = [], items, anyOf, oneOf } = this.#resolved(schema);
    const choices = anyOf ?? oneOf;
    if (choices !== undefined) {
      const fitting = choices.map((one) => this.#resolved(one)).find((one) => fits(one, given));
      return fitting === undefined ? given : this.fill(given, fitting, name);
    }
    if (Array.isArray(given)) return items === undefined ? given : given.map((each) => this.fill(each, items, name));
    if (typeof given !== "object" || given === null || properties === undefined) return given;
    const filled: Record<string, unknown> = {};
    for (const [field, inner] of Object.entries(properties)) {
      const value = (given as Record<string, unknown>)[field];
      if (value !== undefined) filled[field] = this.fill(value, inner, field);
      else if (required.includes(field)) filled[field] = this.read(inner, field);
    }
    return { ...filled, ...without(given, Object.keys(properties)) };
  }

  #resolved(schema: Schema): oas31.SchemaObject {
    const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? "")?.[1];
    const found = name === undefined ? undefined : this.#schemas[name];
    return found === undefined ? (schema as oas31.SchemaObject) : this.#resolved(found);
  }

  #make(schema: Schema, name: string, depth: number): unknown {
    const resolved = this.#resolved(schema);
    const { examples, default: usual, enum: values, anyOf, oneOf, allOf } = resolved;
    if (examples?.[0] !== undefined) return examples[0];
    if (usual !== undefined) return usual;
    if (resolved.const !== undefined) return resolved.const;
    if (values?.[0] !== undefined) return values[0];
    const choices = anyOf ?? oneOf;
    if (choices !== undefined) {
      const choice = choices.find((one) => this.#resolved(one).type !== "null");
      return choice === undefined || depth > MAX_DEPTH ? null : this.#make(choice, name, depth + 1);
    }
    if (allOf !== undefined) {
      return Object.assign({}, ...allOf.map((one) => this.#make(one, name, depth + 1)));
    }
    const type = [resolved.type].flat().find((one) => one !== "null");
    switch (type) {
      case "string":
        return toText(resolved, name);
      case "integer":
      case "number":
        return Math.max(resolved.minimum ?? (name === "status" ? 200 : 1), (resolved.exclusiveMinimum ?? -1) + 1);
      case "boolean":
        return true;
      case "array":
        return resolved.items === undefined || depth > MAX_DEPTH ? [] : [this.#make(resolved.items, name, depth + 1)];
      case "object":
        return this.#object(resolved, depth);
      default:
        return resolved.type === "null" ? null : {};
    }
  }

  #object(schema: oas31.SchemaObject, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (const [field, inner] of Object.entries(schema.properties ?? {})) {
      if (schema.required?.includes(field) !== true) continue;
      const named = field === "id" && schema.title !== undefined ? schema.title : field;
      made[field] = this.#make(inner, named, depth + 1);
    }
    return made;
  }
}

function toText(schema: oas31.SchemaObject, name: string): string {
  const { format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (format === "date-time" || /(^at|At)$/.test(name)) return EXAMPLE_TIME;
  if (format === "uri") return "https://example.com/";
  if (format === "email") return "ada@example.com";
  const prefix = idPrefixes[name];
  const own = words[name] ?? (prefix === undefined ? undefined : `${prefix}_${EXAMPLE_ULID}`);
  const fitting = [...(own === undefined ? [] : [own]), ...candidates, "e".repeat(Math.min(minLength, 1_000))].find(
    (text) =>
      text.length >= minLength &&
      text.length <= maxLength &&
      (pattern === undefined || new RegExp(pattern, "u").test(text)),
  );
  return fitting ?? "";
}

function fits(schema: oas31.SchemaObject, given: unknown): boolean {
  const type = given === null ? "null" : Array.isArray(given) ? "array" : typeof given;
  if (schema.type !== type) return false;
  if (typeof given !== "object" || given === null || Array.isArray(given)) return true;
  return Object.keys(given).every((field) => schema.properties?.[field] !== undefined);
}

function without(given: object, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([field]) => !fields.includes(field)));
}
