import { elementsOf, holderOf, innerOf, nodesIn, type Syntax, type SyntaxNode, textOf } from "./hcl-syntax.js";
import { isMany, type ModuleLevel } from "./module-levels.js";

/** A team, by id or by key, depending on what the source gives. */
export type TeamNamed = { readonly id: string } | { readonly key: string };

/** One possible value of an expression: a text, a team's id that comes from a resource, or null if unknown. */
export type ModuleValue = { readonly text: string } | { readonly team: TeamNamed } | null;

/** A step into a value: a member name, an element index, or `*` for each element. */
type Step = string | number;

/** An expression, with the names that it can use. */
interface Expression {
  /** The text that contains `node`. */
  readonly text: string;
  readonly node: SyntaxNode;
  readonly level: ModuleLevel;
  readonly each: Each | null;
}

/** The `each` object of a block with `for_each`. A null key means any key. */
interface Each {
  readonly key: string | null;
  readonly values: Expression;
}

/** Maximum number of expressions to evaluate for one value. */
const MAX_EXPRESSIONS = 300;

/**
 * Returns all values that an expression may have, one per branch. If a part is not understood, the result contains null
 * and the teams mentioned in that part. The evaluation follows locals, variables, module outputs, objects, lists,
 * indexes, `for_each`, and functions that return their arguments.
 */
export function valuesOf(syntax: Syntax, expression: string, level: ModuleLevel): readonly ModuleValue[] {
  return new Evaluation(syntax).parsed(expression, { level, each: null }, []);
}

class Evaluation {
  readonly #syntax: Syntax;
  #left = MAX_EXPRESSIONS;

  constructor(syntax: Syntax) {
    this.#syntax = syntax;
  }

  /** Returns the values of an expression, given as text, after these steps into it. */
  parsed(
    expression: string,
    names: Pick<Expression, "level" | "each">,
    steps: readonly Step[],
  ): readonly ModuleValue[] {
    const at = this.#parse(expression, names);
    return at === null ? [null] : this.#values(at, steps);
  }

  #parse(expression: string, names: Pick<Expression, "level" | "each">): Expression | null {
    const text = `_ = ${expression}\n`;
    const node = holderOf(text, this.#syntax.parse(text)).members[0]?.value;
    return node === undefined ? null : { text, node, ...names };
  }

  #values(at: Expression, steps: readonly Step[]): readonly ModuleValue[] {
    this.#left -= 1;
    if (this.#left < 0) return [null];
    const { text, node } = at;
    const inner = innerOf(node);
    const of = (other: SyntaxNode, further = steps) => this.#values({ ...at, node: other }, further);
    switch (inner.type) {
      case "literal_value":
        return steps.length > 0 ? [null] : literalValues(textOf(text, inner));
      case "quoted_template":
        return this.#template({ ...at, node: inner }, steps);
      case "variable_expr":
        return this.#reference(at, [textOf(text, inner), ...steps]);
      case "object":
      case "tuple":
        return this.#element({ ...at, node: inner }, steps);
      case "conditional":
        return inner.children
          .filter(isExpression)
          .slice(1)
          .flatMap((each) => of(each));
      case "function_call":
        return this.#call({ ...at, node: inner }, steps);
      default: {
        const [head, ...rest] = inner.children.filter(({ type }) => type !== "comment");
        const own = rest.map((each) => stepsOf(text, each) ?? this.#computedStep(at, each));
        if (head === undefined || own.some((each) => each === null)) return this.#mentioned(at);
        const values = of(head, [...own.flatMap((each) => each ?? []), ...steps]);
        return own.some((each) => each?.includes("*")) ? [null, ...values] : values;
      }
    }
  }

  /** Returns the step of a computed index such as `[local.name]`, `*` if it is unknown; null for no index. */
  #computedStep(at: Expression, node: SyntaxNode): readonly Step[] | null {
    const index = nodesIn(node, "new_index")[0]?.children.find(isExpression);
    if (index === undefined) return null;
    return [this.#stepOf(this.#values({ ...at, node: index }, []))];
  }

  #stepOf([value, other]: readonly ModuleValue[]): Step {
    return value != null && other === undefined && "text" in value ? value.text : "*";
  }

  /**
   * Returns the values of one element of an object or a list. If the step is missing or unknown, returns everything
   * that the object or list mentions.
   */
  #element(at: Expression, [step, ...rest]: readonly Step[]): readonly ModuleValue[] {
    const { text, node } = at;
    const members = node.type === "object" ? holderOf(text, node).members : [];
    const elements = node.type === "tuple" ? elementsOf(node) : members.map(({ value }) => value);
    const isAny = step === "*";
    const found = isAny
      ? elements
      : node.type === "tuple"
        ? elements.slice(Number(step), Number(step) + 1)
        : members.filter(({ name }) => name === String(step)).map(({ value }) => value);
    if (step === undefined || (found.length !== 1 && !isAny)) return this.#mentioned(at);
    return found.flatMap((each) => this.#values({ ...at, node: each }, rest));
  }

  #template(at: Expression, steps: readonly Step[]): readonly ModuleValue[] {
    const parts = at.node.children.filter(({ type }) => type.startsWith("template_"));
    const expressions = parts.map((part) => part.children.find(isExpression));
    const [only] = expressions;
    if (parts.length === 1 && only !== undefined) return this.#values({ ...at, node: only }, steps);
    const texts = parts.map((part, index) => {
      const expression = expressions[index];
      if (part.type === "template_literal") return textOf(at.text, part);
      const values = expression === undefined ? [] : this.#values({ ...at, node: expression }, []);
      const [value] = values;
      return values.length === 1 && value !== null && value !== undefined && "text" in value ? value.text : null;
    });
    return texts.some((text) => text === null || text.includes("\\"))
      ? this.#mentioned(at)
      : [{ text: texts.join("") }];
  }

  #call(at: Expression, steps: readonly Step[]): readonly ModuleValue[] {
    const { text, node } = at;
    const name = textOf(text, node).slice(0, textOf(text, node).indexOf("(")).trim();
    const given = node.children.find(({ type }) => type === "function_arguments")?.children.filter(isExpression) ?? [];
    const [first, second] = given;
    const of = (each: SyntaxNode, further: readonly Step[]) => this.#values({ ...at, node: each }, further);
    if (first === undefined) return [null];
    if (/^(try|coalesce)$/.test(name)) return given.flatMap((each) => of(each, steps));
    const [key] = steps;
    if (name === "toset" && steps.length === 1 && typeof key === "string" && key !== "*") return [{ text: key }];
    if (/^(tostring|tolist|toset|tomap|sensitive|nonsensitive)$/.test(name)) return of(first, steps);
    if (name === "one") return of(first, ["*", ...steps]);
    if (name === "lookup" && second !== undefined) {
      const key = this.#stepOf(of(second, []));
      const found = of(first, [key, ...steps]);
      return key === "*" ? [null, ...found] : found;
    }
    return this.#mentioned(at);
  }

  /** Returns null, and the teams that any part of an expression names. */
  #mentioned({ node, ...at }: Expression): readonly ModuleValue[] {
    const open = [...node.children];
    const found: ModuleValue[] = [null];
    for (let each = open.pop(); each !== undefined; each = open.pop()) {
      const isReference = each.children[0]?.type === "variable_expr";
      if (!isReference) open.push(...each.children);
      else found.push(...this.#values({ ...at, node: each }, []).filter((value) => value !== null && "team" in value));
    }
    return found;
  }

  #reference(at: Expression, [kind, ...steps]: readonly Step[]): readonly ModuleValue[] {
    const { level, each } = at;
    const [name = "", ...rest] = steps;
    const of = (expressions: readonly string[], names: Pick<Expression, "level" | "each">, further = rest) =>
      expressions.length === 0 ? [null] : expressions.flatMap((one) => this.parsed(one, names, further));
    if (kind === "local") {
      const written = level.blocks.filter(({ type }) => type === "locals");
      return of(
        written.flatMap(({ attributes }) => attributes.get(String(name)) ?? []),
        { level, each: null },
      );
    }
    if (kind === "var") return this.#variable(level, String(name), rest);
    if (kind === "each" && name === "key" && each !== null)
      return each.key === null ? this.#keys(each.values) : [{ text: each.key }];
    if (kind === "each" && name === "value" && each !== null)
      return this.#values(each.values, [each.key ?? "*", ...rest]);
    if (kind === "module") {
      const child = level.children.get(String(name));
      const isOfMany = child?.call !== null && child !== undefined && isMany(child.call.block);
      const isIndexed = isOfMany || typeof rest[0] === "number" || rest[0] === "*";
      const [output, ...further] = isIndexed ? rest.slice(1) : rest;
      const blocks =
        child?.blocks.filter(({ type, labels }) => type === "output" && labels[0] === (output ?? labels[0])) ?? [];
      const written = blocks.flatMap(({ attributes }) => attributes.get("value") ?? []);
      return child === undefined ? [null] : of(written, { level: child, each: null }, further);
    }
    if (kind === "service_team") return this.#team(level, "resource", steps);
    return kind === "data" && name === "service_team" ? this.#team(level, "data", rest) : [null];
  }

  /** Returns the keys that `for_each` gives: member names of an object, and elements of a set. */
  #keys(values: Expression): readonly ModuleValue[] {
    const inner = innerOf(values.node);
    if (inner.type !== "object") return this.#values(values, ["*"]);
    return holderOf(values.text, inner).members.map(({ name }) => (name === null ? null : { text: name }));
  }

  /** Returns the values of a variable: from the call, otherwise from variable files, otherwise its default. */
  #variable(level: ModuleLevel, name: string, steps: readonly Step[]): readonly ModuleValue[] {
    const { call, blocks } = level;
    const given = call?.block.attributes.get(name);
    if (call !== null && given !== undefined)
      return this.parsed(given, this.#namesOf(call.block, call.above, null), steps);
    const declared = blocks.find(({ type, labels }) => type === "variable" && labels[0] === name);
    const values = level.valuesOf(name);
    const all = values.length > 0 ? values : [declared?.attributes.get("default") ?? []].flat();
    return all.length === 0 ? [null] : all.flatMap((one) => this.parsed(one, { level, each: null }, steps));
  }

  /** Returns the names that a block can use: those of its module, and `each` if it has `for_each`. */
  #namesOf(
    { attributes }: ModuleLevel["blocks"][number],
    level: ModuleLevel,
    key: string | null,
  ): Pick<Expression, "level" | "each"> {
    const values = this.#parse(attributes.get("for_each") ?? "null", { level, each: null });
    return { level, each: values === null || !attributes.has("for_each") ? null : { key, values } };
  }

  /** Returns the team of a resource or data block, by all of its blocks, because an override file may have another. */
  #team(level: ModuleLevel, kind: string, [name, ...steps]: readonly Step[]): readonly ModuleValue[] {
    const blocks = level.named.get(`${kind} service_team ${name}`) ?? [];
    return blocks.length === 0 ? [null] : blocks.flatMap((block) => this.#teamOf(level, block, steps));
  }

  #teamOf(level: ModuleLevel, block: ModuleLevel["blocks"][number], steps: readonly Step[]): readonly ModuleValue[] {
    const [key, id] = ["key", "id"].map((name) => block.attributes.get(name));
    const written = key ?? id;
    if (written === undefined) return [null];
    // An index selects an instance: `service_team.all["core"]`, `service_team.core[0]`, `service_team.core[*]`.
    const [first] = steps;
    const isIndexed = typeof first === "number" || first === "*" || isMany(block);
    const [attribute] = isIndexed ? steps.slice(1) : steps;
    const instance = isMany(block) && typeof first === "string" && first !== "*" ? first : null;
    return this.parsed(written, this.#namesOf(block, level, instance), []).flatMap((value): readonly ModuleValue[] => {
      if (value === null || !("text" in value)) return [null];
      if (attribute === "key" && key !== undefined) return [value];
      const team = { team: key === undefined ? { id: value.text } : { key: value.text } };
      return attribute === undefined || attribute === "id" ? [team] : [null, team];
    });
  }
}

function isExpression({ type }: SyntaxNode): boolean {
  return type === "expression";
}

/** `null` and an empty string name no team. */
function literalValues(written: string): readonly ModuleValue[] {
  if (written === "null" || written === '""') return [];
  const plain = /^"([^"\\$%]*)"$/.exec(written)?.[1];
  return [plain === undefined ? null : { text: plain }];
}

/**
 * Parses the steps after a value: `.name`, `["name"]`, `[0]`, `.0`, `[*].name`. Null if an expression computes a step.
 */
function stepsOf(text: string, node: SyntaxNode): readonly Step[] | null {
  const written = textOf(text, node).replace(/\s+/g, "");
  const parts = [...written.matchAll(/\.([A-Za-z_][\w-]*)|\["([^"\\$%]*)"\]|\[(\d+)\]|\.(\d+)|\[(\*)\]|\.(\*)/g)];
  if (parts.map(([whole]) => whole).join("") !== written) return null;
  return parts.flatMap(([, name, key, place, dotted, ...any]) => {
    const number = place ?? dotted;
    return number === undefined ? (name ?? key ?? any[0] ?? any[1] ?? []) : Number(number);
  });
}
