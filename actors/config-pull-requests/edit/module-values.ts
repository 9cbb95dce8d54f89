import { elementsOf, holderOf, innerOf, type Syntax, type SyntaxNode, textOf } from "./hcl-syntax.js";
import { blockNamed, isMany, type ModuleLevel } from "./module-levels.js";

/** A team, by its id or by its key, whatever its line's source tells. */
export type TeamNamed = { readonly id: string } | { readonly key: string };

/** What an expression may be: a text, a team's id by its resource, or null for what is not known. */
export type ModuleValue = { readonly text: string } | { readonly team: TeamNamed } | null;

/** A step into a value: a name, a place in a list, `*` for each element. */
type Step = string | number;

/** An expression with the names that it can use. */
interface Expression {
  /** The text that `node` is in. */
  readonly text: string;
  readonly node: SyntaxNode;
  readonly level: ModuleLevel;
  readonly each: Each | null;
}

/** `each` of a block with `for_each`; a null key is any. */
interface Each {
  readonly key: string | null;
  readonly values: Expression;
}

/** Most expressions that are looked at for one value. */
const MAX_EXPRESSIONS = 300;

/**
 * All values that an expression may have: one for each branch, and null beside the teams that it names in a way that is not
 * understood. It follows locals, variables, outputs, indexes, and functions that pass on what they are given.
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

  /** The values of an expression's text, after steps into it. */
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
        const own = rest.map((each) => stepsOf(text, each));
        if (head === undefined || own.some((each) => each === null)) return this.#mentioned(at);
        return of(head, [...own.flatMap((each) => each ?? []), ...steps]);
      }
    }
  }

  /** The element of an object or a list; all that it mentions where there is no step, and where the step is not known. */
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
      const [named] = of(second, []);
      if (named !== null && named !== undefined && "text" in named) return of(first, [named.text, ...steps]);
    }
    return this.#mentioned(at);
  }

  /** Null, and the teams that anything within an expression names. */
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
    if (kind === "each" && name === "key" && each?.key != null) return [{ text: each.key }];
    if (kind === "each" && name === "value" && each !== null)
      return this.#values(each.values, [each.key ?? "*", ...rest]);
    if (kind === "module") {
      const child = level.children.get(String(name));
      const isOfMany = child?.call !== null && child !== undefined && isMany(child.call.block);
      const [output = "", ...further] = isOfMany ? rest.slice(1) : rest;
      const blocks = child?.blocks.filter(({ type, labels }) => type === "output" && labels[0] === output) ?? [];
      const written = blocks.flatMap(({ attributes }) => attributes.get("value") ?? []);
      return child === undefined ? [null] : of(written, { level: child, each: null }, further);
    }
    if (kind === "service_team") return this.#team(level, "resource", steps);
    return kind === "data" && name === "service_team" ? this.#team(level, "data", rest) : [null];
  }

  /** What a call gives a variable, or files give it, or its default. */
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

  /** The names that a block uses: those of its level, and `each` where it has `for_each`. */
  #namesOf(
    { attributes }: ModuleLevel["blocks"][number],
    level: ModuleLevel,
    key: string | null,
  ): Pick<Expression, "level" | "each"> {
    const values = this.#parse(attributes.get("for_each") ?? "null", { level, each: null });
    return { level, each: values === null || !attributes.has("for_each") ? null : { key, values } };
  }

  #team(level: ModuleLevel, kind: string, [name, ...steps]: readonly Step[]): readonly ModuleValue[] {
    const block = blockNamed(level, kind, "service_team", String(name));
    const written = block?.attributes.get("key");
    if (block === undefined || written === undefined) return [null];
    const [index] = steps;
    const rest = isMany(block) ? steps.slice(1) : steps;
    const key = isMany(block) && typeof index === "string" && index !== "*" ? index : null;
    const keys = this.parsed(written, this.#namesOf(block, level, key), []);
    const [attribute] = rest;
    return keys.map((value) => {
      if (value === null || !("text" in value)) return null;
      if (attribute === "key") return value;
      return attribute === undefined || attribute === "id" ? { team: { key: value.text } } : null;
    });
  }
}

function isExpression({ type }: SyntaxNode): boolean {
  return type === "expression";
}

/** `null` and an empty text name nothing. */
function literalValues(written: string): readonly ModuleValue[] {
  if (written === "null" || written === '""') return [];
  const plain = /^"([^"\\$%]*)"$/.exec(written)?.[1];
  return [plain === undefined ? null : { text: plain }];
}

/** The steps of what follows a value: `.name`, `["name"]`, `[0]`, `.0`, `[*].name`; null for what an expression computes. */
function stepsOf(text: string, node: SyntaxNode): readonly Step[] | null {
  const written = textOf(text, node).replace(/\s+/g, "");
  const parts = [...written.matchAll(/\.([A-Za-z_][\w-]*)|\["([^"\\$%]*)"\]|\[(\d+)\]|\.(\d+)|\[(\*)\]|\.(\*)/g)];
  if (parts.map(([whole]) => whole).join("") !== written) return null;
  return parts.flatMap(([, name, key, place, dotted, ...any]) => {
    const number = place ?? dotted;
    return number === undefined ? (name ?? key ?? any[0] ?? any[1] ?? []) : Number(number);
  });
}
