/** A part of an OpenAPI document with its description. */
export interface Described {
  /** The part's position in the document, such as `GET /api/tasks/{taskId} 200 .notes[].text`. */
  readonly place: string;
  /** The name of the property, parameter or tag, or the operation's id. */
  readonly name: string;
  readonly kind: "operation" | "tag" | "property" | "parameter";
  readonly description: string | undefined;
}

interface Node {
  readonly [name: string]: unknown;
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** Lists all operations, tags, parameters and properties of an OpenAPI document, and of its webhooks. */
export function listDescribed(document: Node): readonly Described[] {
  const all: Described[] = [];
  const add = (kind: Described["kind"], place: string, name: string, { description }: Node) => {
    all.push({ kind, place, name, description: description as string | undefined });
  };
  const walk = (schema: unknown, place: string): void => {
    if (!isNode(schema)) return;
    for (const [name, property] of Object.entries(toNode(schema.properties))) {
      // A reference without its own description has the description of its target.
      add("property", `${place}.${name}`, name, resolve(document, toNode(property)));
      walk(property, `${place}.${name}`);
    }
    walk(schema.items, `${place}[]`);
    walk(schema.additionalProperties, `${place}{}`);
    for (const choices of [schema.anyOf, schema.oneOf, schema.allOf, schema.prefixItems]) {
      for (const choice of (choices as readonly unknown[] | undefined) ?? []) walk(choice, place);
    }
  };
  const content = (holder: unknown, place: string) => {
    for (const media of Object.values(toNode(toNode(holder).content))) walk(toNode(media).schema, place);
  };
  for (const tag of (document.tags as readonly Node[] | undefined) ?? []) add("tag", "tags", String(tag.name), tag);
  const webhooks = Object.entries(toNode(document.webhooks)).map(([name, item]) => [`webhook ${name}`, item] as const);
  for (const [path, item] of [...Object.entries(toNode(document.paths)), ...webhooks]) {
    for (const method of METHODS) {
      const operation = toNode(item)[method];
      if (!isNode(operation)) continue;
      const place = `${method.toUpperCase()} ${path}`;
      add("operation", place, String(operation.operationId), operation);
      for (const given of (operation.parameters as readonly Node[] | undefined) ?? []) {
        const parameter = resolve(document, given);
        add("parameter", `${place} ?${parameter.name}`, String(parameter.name), parameter);
      }
      content(operation.requestBody, place);
      for (const [status, response] of Object.entries(toNode(operation.responses)))
        content(response, `${place} ${status}`);
    }
  }
  for (const [name, schema] of Object.entries(toNode(toNode(document.components).schemas))) walk(schema, `#${name}`);
  return all;
}

/** Minimum number of words in a description. */
const MIN_WORDS = 4;
/** Maximum number of different property names that share one description. */
const MAX_NAMES = 5;

/**
 * Returns one line for each part with a poor description. A description is poor in these cases:
 *
 * - It is missing.
 * - It has fewer than {@link MIN_WORDS} words.
 * - It only repeats the name.
 * - Properties with more than {@link MAX_NAMES} different names share it.
 */
export function listPoor(all: readonly Described[]): readonly string[] {
  const names = new Map<string, Set<string>>();
  for (const { kind, name, description } of all) {
    if (kind !== "property" || description === undefined) continue;
    const seen = names.get(description) ?? new Set();
    names.set(description, seen.add(name));
  }
  return all.flatMap(({ kind, place, name, description }) => {
    const fault = findFault(name, description);
    const shared = kind === "property" ? (names.get(description ?? "")?.size ?? 0) : 0;
    if (fault !== null) return [`${place}: ${fault}`];
    return shared > MAX_NAMES ? [`${place}: ${shared} properties have this description: ${description}`] : [];
  });
}

function findFault(name: string, description: string | undefined): string | null {
  if (description === undefined || description.trim() === "") return "has no description";
  const words = listWords(description);
  if (words.length < MIN_WORDS) return `has fewer than ${MIN_WORDS} words: ${description}`;
  const own = new Set([...listWords(name), ...FILLERS]);
  return words.every((word) => own.has(word)) ? `only repeats its name: ${description}` : null;
}

/** Words that do not count when a description is compared with a name. */
const FILLERS = [
  "the",
  "a",
  "an",
  "of",
  "for",
  "this",
  "that",
  "its",
  "is",
  "in",
  "to",
  "and",
  "value",
  "field",
  "property",
];

/** Splits a text or a camel-case name into lower-case words. */
function listWords(text: string): readonly string[] {
  return [...text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").matchAll(/[A-Za-z0-9']+/g)].map(([word]) =>
    word.toLowerCase(),
  );
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toNode(value: unknown): Node {
  return isNode(value) ? value : {};
}

/**
 * Resolves a node. If the node is a reference, follows it. If the node is a nullable schema with one other choice, uses
 * this choice. Fields of the node override fields of the target. A node with its own description is returned unchanged.
 */
function resolve(document: Node, node: Node): Node {
  const { $ref, ...own } = node;
  const choices = (node.anyOf as readonly Node[] | undefined)?.filter(({ type }) => type !== "null");
  if (own.description !== undefined) return node;
  if (typeof $ref !== "string")
    return choices?.length === 1 ? { ...resolve(document, choices[0] ?? {}), ...own } : node;
  const target = $ref
    .replace("#/", "")
    .split("/")
    .reduce<Node>((from, name) => toNode(from[name]), document);
  return { ...resolve(document, target), ...own };
}
