import { adviseNear } from "./attribute-names.js";
import { type Expression, partsText, type ReferencePart } from "./expression.js";
import type { Module, ResourceBlock } from "./hcl-module.js";
import { type Place, type Placed, placeText, Refused, refuse } from "./refused.js";
import { isList, isMap, type Value, Weights } from "./value.js";

/** Values that come from outside of the module. */
export interface Given {
  /** Returns the value of a variable; undefined if it has none. */
  variable(name: string): Value | undefined;
  /** Returns the id of a resource; null if it will be known only when the resource is created. */
  id(resource: ResourceBlock): string | null;
}

/** A value, and the resources that it refers to. */
export interface Evaluated {
  readonly value: Value;
  readonly references: ReadonlySet<string>;
}

const TWICE = "an object has a name twice";

/** Matches a mark of an expression (`expression-reader.ts`). */
const MARK = /signalbox[0-9a-f]{24}x\d+x/g;
const WHOLE_MARK = /^signalbox[0-9a-f]{24}x\d+x$/;

/** Maximum number of nested references: a value can refer to a value that has references too. */
const MAX_DEPTH = 200;

/** Maximum length of the text of all templates together, in characters. */
const MAX_TEXT = 16 * 1024 * 1024;

/** Maximum weight of all values together (see {@link Weights}). */
const MAX_TOTAL = 4 * MAX_TEXT;

const TOO_LARGE = `the value is too large: with the values that it refers to, it may have ${MAX_TEXT / 1024 ** 2} MiB`;

/** Evaluates values of a module. Throws {@link Refused} for a value that cannot be evaluated. */
export class Scope {
  readonly #module: Module;
  readonly #given: Given;
  /** The local values that were evaluated so far, by name. */
  readonly #locals = new Map<string, Evaluated>();
  readonly #weights = new Weights();
  /** The total weight of the values evaluated so far. */
  #weight = 0;
  /** The total length of the template texts evaluated so far. */
  #length = 0;
  /** The names of the values that are being evaluated now, outermost first. */
  readonly #open: string[] = [];
  /** The names of the resources that the current value refers to. */
  #references = new Set<string>();

  constructor(module: Module, given: Given) {
    this.#module = module;
    this.#given = given;
  }

  /**
   * Discards the evaluated local values and the size totals. Call it when a created resource gets its id, because local
   * values may refer to that id.
   */
  refresh(): void {
    this.#length = 0;
    this.#weight = 0;
    this.#locals.clear();
  }

  evaluate({ value, place }: Placed): Evaluated {
    const before = this.#references;
    this.#references = new Set();
    try {
      const found = this.#value(value, place);
      // Weigh only the outermost value, because its weight includes the values inside it.
      if (this.#open.length === 0) this.#weigh(found, place);
      return { value: found, references: this.#references };
    } finally {
      this.#references = before;
    }
  }

  /** Evaluates one attribute of a resource; undefined if it is not set. */
  attribute({ name, block }: ResourceBlock, attribute: string): Value | undefined {
    const value = Object.hasOwn(block.body, attribute) ? block.body[attribute] : undefined;
    if (value === undefined || value === null) return undefined;
    const node = block.holder.members.find((member) => member.name === attribute)?.node ?? block.place.node;
    const place = { file: block.place.file, node };
    return this.#within(`${name}.${attribute}`, place, () => this.#value(value, place));
  }

  #value(value: Value, place: Place): Value {
    if (typeof value === "string") return this.#text(value, place);
    if (isList(value))
      return this.#bounded(
        value.map((each) => this.#value(each, place)),
        place,
      );
    if (!isMap(value)) return value;
    const entries = Object.entries(value).map(([name, each]) => [this.#name(name, place), this.#value(each, place)]);
    const map = Object.fromEntries(entries);
    if (Object.keys(map).length < entries.length) refuse(place, TWICE, TWICE);
    return this.#bounded(map, place);
  }

  /**
   * Refuses a list or map that is too large. Local values that repeat other lists can expand a short file to a huge
   * value.
   */
  #bounded<Whole extends Value>(value: Whole, place: Place): Whole {
    if (this.#weights.weigh(value) > MAX_TEXT) refuse(place, TOO_LARGE, TOO_LARGE);
    return value;
  }

  #weigh(value: Value, place: Place): void {
    this.#weight += this.#weights.weigh(value);
    if (this.#weight > MAX_TOTAL) refuse(place, TOO_LARGE, TOO_LARGE);
  }

  #name(name: string, place: Place): string {
    const value = this.#text(name, place);
    return typeof value === "string" ? value : this.#join(name, place);
  }

  /**
   * Evaluates a text. If the text is a single expression, returns the value of the expression. Otherwise replaces each
   * expression in the text by its value.
   */
  #text(text: string, place: Place): Value {
    return WHOLE_MARK.test(text) ? this.#marked(text) : this.#join(text, place);
  }

  #join(text: string, place: Place): string {
    const rest = text.replaceAll(MARK, "").replaceAll(/([$%])\1\{/g, "");
    if (/[$%]\{/.test(rest)) refuse(place, "a template in this value is not understood");
    const parts = text.split(new RegExp(`(${MARK.source})`));
    const isTemplate = parts.length > 1;
    const joined = parts
      .map((part) => this.#counted(WHOLE_MARK.test(part) ? this.#inText(part) : unescaped(part), isTemplate, place))
      .join("");
    return isTemplate ? joined.normalize("NFC") : joined;
  }

  /**
   * Adds the length of a template's part to the total and returns the part. Refuses a total above the limit, because
   * nested templates can expand to a very long text.
   */
  #counted(part: string, isTemplate: boolean, place: Place): string {
    if (isTemplate) this.#length += part.length;
    if (this.#length > MAX_TEXT) refuse(place, `the templates have more than ${MAX_TEXT / 1024 ** 2} MiB of text`);
    return part;
  }

  #inText(mark: string): string {
    const value = this.#marked(mark);
    if (typeof value === "string") return value;
    if (value !== null && typeof value !== "object") return String(value);
    const what = value === null ? "null" : Array.isArray(value) ? "a list" : "an object";
    return refuse(this.#expression(mark).place, `${what} cannot be part of a text`);
  }

  #marked(mark: string): Value {
    return this.#evaluate(this.#expression(mark));
  }

  #expression(mark: string): Expression {
    const expression = this.#module.expressions.get(mark);
    if (expression === undefined) throw new Error("a mark without an expression");
    return expression;
  }

  #evaluate(expression: Expression): Value {
    const { place } = expression;
    switch (expression.kind) {
      case "value":
        return expression.value;
      case "literal":
        return this.#value(this.#module.literals[expression.name] ?? null, place);
      case "file":
        return this.#file(expression.path, place);
      case "chomp":
        return this.#chomp(expression.text, place);
      case "reference": {
        const [root, name, ...path] = expression.parts;
        if (typeof root !== "string" || typeof name !== "string") return refuse(place, "this is not understood");
        if (root === "path") return ".";
        if (root === "var") return this.#follow(this.#variable(name, place), path, expression);
        if (root === "local") return this.#follow(this.#local(name, place), path, expression);
        const [first, ...rest] = path;
        if (first === undefined)
          refuse(place, `${root}.${name} is a whole resource: name an attribute, such as ${root}.${name}.id`);
        const attribute = this.#key(first, place);
        return this.#follow(this.#resource(`${root}.${name}`, String(attribute), place), rest, expression);
      }
    }
  }

  #file(path: Expression, place: Place): Value {
    const value = this.#evaluate(path);
    if (typeof value !== "string") return refuse(place, "the path of a file must be a text");
    try {
      return this.#module.files.text(value);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return refuse(place, error.message);
    }
  }

  #chomp(text: Expression, place: Place): Value {
    const value = this.#evaluate(text);
    if (typeof value !== "string") return refuse(place, "chomp takes a text");
    return withoutFinalNewlines(value);
  }

  #variable(name: string, place: Place): Value {
    const value = this.#given.variable(name);
    if (value !== undefined) return value;
    return refuse(
      place,
      `the variable ${name} has no value: pass --var ${name}=…, --var-file, or set SIGNALBOX_VAR_${name}`,
    );
  }

  #local(name: string, place: Place): Value {
    const known = this.#locals.get(name) ?? this.#within(`local.${name}`, place, () => this.#evaluateLocal(name));
    this.#locals.set(name, known);
    for (const reference of known.references) this.#references.add(reference);
    return known.value;
  }

  #evaluateLocal(name: string): Evaluated {
    const local = this.#module.locals.get(name);
    if (local === undefined) throw new Error(`no local value ${name}`);
    return this.evaluate(local);
  }

  #resource(name: string, attribute: string, place: Place): Value {
    const resource = this.#module.resources.get(name);
    if (resource === undefined) throw new Error(`no resource ${name}`);
    this.#references.add(name);
    if (attribute === "id") return this.#given.id(resource) ?? unknownId(name);
    if (attribute.endsWith("_wo")) refuse(place, `${name}.${attribute} is write-only`);
    const value = this.attribute(resource, attribute);
    if (value !== undefined) return value;
    const near = adviseNear(attribute, ["id", ...Object.keys(resource.block.body)]);
    return refuse(
      place,
      `${name} sets no ${attribute} (${placeText(resource.block.place)})${near || ": only id and attributes that the folder sets can be named"}`,
    );
  }

  #follow(value: Value, path: readonly ReferencePart[], expression: Expression): Value {
    const { place } = expression;
    let found = value;
    for (const part of path) {
      const key = this.#key(part, place);
      const below: unknown =
        typeof found === "object" && found !== null && Object.hasOwn(found, key) ? Reflect.get(found, key) : undefined;
      if (below === undefined) {
        const text = expression.kind === "reference" ? partsText(expression.parts) : "this value";
        return refuse(place, `${text} does not exist: there is no ${JSON.stringify(key)} in it`);
      }
      found = below as Value;
    }
    return found;
  }

  #key(part: string | Expression, place: Place): string | number {
    const key = typeof part === "string" ? part : this.#evaluate(part);
    if (typeof key === "string" || (typeof key === "number" && Number.isInteger(key) && key >= 0)) return key;
    return refuse(place, "an index must be a text or a whole number");
  }

  #within<Result>(what: string, place: Place, evaluate: () => Result): Result {
    if (this.#open.length >= MAX_DEPTH) refuse(place, `references are more than ${MAX_DEPTH} deep`);
    if (this.#open.includes(what))
      refuse(place, `${[...this.#open.slice(this.#open.indexOf(what)), what].join(" → ")} refers to itself`);
    this.#open.push(what);
    try {
      return evaluate();
    } finally {
      this.#open.pop();
    }
  }
}

/** Removes the newlines at the end of a text, as Terraform's `chomp` does, in linear time. */
function withoutFinalNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === "\n" || text[end - 1] === "\r")) end -= 1;
  return text.slice(0, end);
}

function unescaped(text: string): string {
  return text.replaceAll(/([$%])\1\{/g, "$1{");
}

/** Returns a placeholder for the id of a resource that does not exist yet. */
export function unknownId(name: string): string {
  return `(id of ${name})`;
}
