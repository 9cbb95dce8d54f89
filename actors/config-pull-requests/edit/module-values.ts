import type { CodeBlock } from "./code-blocks.js";
import { callValues, type Evaluator, toStep } from "./function-values.js";
import {
  listBranches,
  listElements,
  nodesIn,
  type Syntax,
  type SyntaxNode,
  toHolder,
  toInner,
  toText,
} from "./hcl-syntax.js";
import { isMany, type ModuleLevel } from "./module-levels.js";
import {
  type Expression,
  indirect,
  isExpression,
  listSteps,
  literalValues,
  type ModuleValue,
  type Names,
  placeIn,
  type Step,
  textValues,
  unknownAt,
} from "./module-value.js";

/** Maximum number of syntax nodes to search for teams, in an expression that the evaluation does not understand. */
const MAX_MENTIONED = 5_000;
/** Maximum number of expressions to evaluate for one value. */
const MAX_EXPRESSIONS = 300;

/**
 * Returns all values that an expression may have: one per branch, and one per element that an unknown index may select.
 * If a part is not understood, the result contains an unknown value and the teams mentioned in that part. The
 * evaluation follows locals, variables, module outputs, objects, lists, indexes, `for_each`, and functions on lists,
 * objects and texts.
 */
export function listValues(syntax: Syntax, expression: string, level: ModuleLevel): readonly ModuleValue[] {
  return new Evaluation(syntax).listValues(expression, level);
}

/**
 * Whether a variable's type may define a default, with `optional(type, default)`, for the part of the value to which
 * the steps lead.
 */
function hasOptional(type: string, steps: readonly Step[]): boolean {
  const names = steps.filter((step) => typeof step === "string" && step !== "*");
  if (steps.length === 0 || !/\boptional\s*\(/.test(type)) return false;
  const optional = [...type.matchAll(/([\w-]+)\\?"?\s*[=:]\s*optional\s*\(/g)].map(([, name]) => name);
  return names.length === 0 || names.some((name) => optional.includes(String(name)));
}

class Evaluation {
  readonly #syntax: Syntax;
  readonly #evaluator: Evaluator = {
    values: (at, steps) => this.#values(at, steps),
    mentioned: (at) => this.#mentioned(at),
    joined: (at, parts) => this.#joined(at, parts, []),
  };
  #left = MAX_EXPRESSIONS;

  constructor(syntax: Syntax) {
    this.#syntax = syntax;
  }

  listValues(expression: string, level: ModuleLevel): readonly ModuleValue[] {
    return this.#parsed(expression, { block: null, level, each: null }, []);
  }

  /** Parses an expression, follows the steps into it, and returns the possible values of the part found there. */
  #parsed(expression: string, read: Names & Pick<Expression, "block">, steps: readonly Step[]): readonly ModuleValue[] {
    const at = this.#parse(expression, read);
    return at === null ? [unknownAt(read)] : this.#values(at, steps);
  }

  #parse(expression: string, read: Names & Pick<Expression, "block">): Expression | null {
    const text = `_ = ${expression}\n`;
    const root = this.#syntax.parse(text);
    const node = root.isBroken ? undefined : toHolder(text, root).members[0]?.value;
    return node === undefined ? null : { text, node, ...read };
  }

  /**
   * Returns the expression of a block's attribute; null if the attribute is missing or broken. An expression that has a
   * node in the file's syntax tree is not parsed again.
   */
  #attribute(block: CodeBlock, name: string, names: Names): Expression | null {
    const node = block.nodes.get(name);
    if (node?.isBroken === true) return null;
    if (node !== undefined) return { text: block.file.text, node, block, ...names };
    const written = block.attributes.get(name);
    return written === undefined ? null : this.#parse(written, { block, ...names });
  }

  /**
   * Returns the values of an attribute in all blocks that have it. If no block has the attribute, its value is unknown.
   */
  #attributes(
    { blocks, name, names, at }: { blocks: readonly CodeBlock[]; name: string; names: Names; at: Expression },
    steps: readonly Step[],
  ): readonly ModuleValue[] {
    const values = blocks
      .filter(({ attributes }) => attributes.has(name))
      .flatMap((block) => {
        const written = this.#attribute(block, name, names);
        return written === null ? [unknownAt({ block })] : this.#values(written, steps);
      });
    return values.length === 0 && !blocks.some(({ attributes }) => attributes.has(name)) ? [unknownAt(at)] : values;
  }

  #values(at: Expression, steps: readonly Step[]): readonly ModuleValue[] {
    this.#left -= 1;
    if (this.#left < 0) return [unknownAt(at)];
    const { text, node } = at;
    const inner = toInner(node);
    const read = (other: SyntaxNode, further = steps) => this.#values({ ...at, node: other }, further);
    switch (inner.type) {
      case "literal_value":
        // A splat makes a list of a single value.
        return steps.some((step) => step !== "*") ? [unknownAt(at)] : literalValues(toText(text, inner), at);
      case "quoted_template":
        return this.#joined(at, this.#templateParts({ ...at, node: inner }), steps);
      case "variable_expr":
        return this.#reference(at, [toText(text, inner), ...steps]);
      case "object":
      case "tuple":
        return this.#element({ ...at, node: inner }, steps);
      case "conditional":
        return listBranches(inner).flatMap((each) => read(each));
      case "for_expr":
        return this.#loop({ ...at, node: inner }, steps);
      case "function_call":
        return callValues({ ...at, node: inner }, steps, this.#evaluator);
      default: {
        const [head, ...rest] = inner.children.filter(({ type }) => type !== "comment");
        const own = rest.map((each) => listSteps(text, each) ?? this.#computedStep(at, each));
        if (head === undefined || own.some((each) => each === null)) return this.#mentioned(at);
        const values = read(head, [...own.flatMap((each) => each ?? []), ...steps]);
        return own.some((each) => each?.includes("*")) ? indirect(values) : values;
      }
    }
  }

  /**
   * Returns the step of a computed index such as `[local.name]`, or `*` if the index is unknown. Null if the node is
   * not an index.
   */
  #computedStep(at: Expression, node: SyntaxNode): readonly Step[] | null {
    const index = nodesIn(node, "new_index")[0]?.children.find(isExpression);
    if (index === undefined) return null;
    return [toStep(this.#values({ ...at, node: index }, []))];
  }

  /**
   * Returns the values of one element of an object or a list, or of all elements for the step `*`. If there is no step,
   * or if the step possibly does not select exactly one element, returns everything that the object or list mentions.
   */
  #element(at: Expression, [step, ...rest]: readonly Step[]): readonly ModuleValue[] {
    const { text, node } = at;
    const members = node.type === "object" ? toHolder(text, node).members : [];
    const elements = node.type === "tuple" ? listElements(node) : members.map(({ value }) => value);
    const isAny = step === "*";
    const found = isAny
      ? elements
      : node.type === "tuple"
        ? elements.slice(Number(step), Number(step) + 1)
        : members.filter(({ name }) => name === String(step)).map(({ value }) => value);
    const isRepeated = !isAny && (found.length !== 1 || members.some(({ name }) => name === null));
    if (step === undefined || isRepeated || at.node.isBroken) return this.#mentioned(at);
    return found.flatMap((each) => this.#values({ ...at, node: each }, rest));
  }

  /**
   * Returns the values of one member of `{ for k, v in source : k => v.name }`, which has the same keys as `source`.
   * For any other loop, and for an unknown member, returns what the loop mentions.
   */
  #loop(at: Expression, [step, ...rest]: readonly Step[]): readonly ModuleValue[] {
    const { text, node } = at;
    const [loop] = node.children;
    const intro = loop?.children.find(({ type }) => type === "for_intro");
    const [key, value] = (intro?.children ?? []).filter(({ type }) => type === "identifier");
    const source = intro?.children.find(isExpression);
    const [newKey, newValue] = (loop?.children ?? []).filter(isExpression);
    const [head, ...own] = newValue?.children ?? [];
    const path = own.map((each) => listSteps(text, each));
    const isSame = (one: SyntaxNode | undefined, other: SyntaxNode | undefined) =>
      one !== undefined && other !== undefined && toText(text, one).trim() === toText(text, other).trim();
    const isFiltered = loop?.children.some(
      ({ type }) => !/^(object_(start|end)|for_intro|expression|comment)$/.test(type),
    );
    const isPlain =
      isFiltered === false && isSame(newKey, key) && isSame(head, value) && path.every((each) => each !== null);
    if (!isPlain || source === undefined || typeof step !== "string" || step === "*") return this.#mentioned(at);
    const steps = path.flatMap((each) => each ?? []);
    return this.#values({ ...at, node: source }, [step, ...steps, ...rest]);
  }

  /** Returns the values of each part of a template. */
  #templateParts(at: Expression): readonly (readonly ModuleValue[])[] {
    return at.node.children
      .filter(({ type }) => type.startsWith("template_"))
      .map((part) => {
        const expression = part.type === "template_interpolation" ? part.children.find(isExpression) : undefined;
        if (part.type === "template_literal") return textValues(toText(at.text, part), at);
        return expression === undefined ? [unknownAt(at)] : this.#values({ ...at, node: expression }, []);
      });
  }

  /**
   * Joins known parts to one text. If there is only one part, returns the values of that part, which may be teams. If
   * one of several parts has no single known text, returns what the expression mentions.
   */
  #joined(at: Expression, parts: readonly (readonly ModuleValue[])[], steps: readonly Step[]): readonly ModuleValue[] {
    const [only] = parts;
    if (steps.length > 0) return [unknownAt(at)];
    if (only !== undefined && parts.length === 1) return only;
    const texts = parts.flatMap(([value, other]) =>
      value !== undefined && other === undefined && "text" in value ? value.text : [],
    );
    return texts.length === parts.length ? textValues(texts.join(""), at) : this.#mentioned(at);
  }

  /** Returns an unknown value, and the teams that some part of an expression names. */
  #mentioned({ node, ...at }: Expression): readonly ModuleValue[] {
    const open = [node];
    const found: ModuleValue[] = [unknownAt(at, node)];
    let left = MAX_MENTIONED;
    for (let each = open.pop(); each !== undefined && left > 0; each = open.pop()) {
      left -= 1;
      const isReference = each !== node && each.children[0]?.type === "variable_expr";
      if (isReference) found.push(...this.#values({ ...at, node: each }, []).filter((value) => "team" in value));
      else for (const child of each.children.slice(0, left)) open.push(child);
    }
    return found;
  }

  #reference(at: Expression, [kind, ...steps]: readonly Step[]): readonly ModuleValue[] {
    const { level, each } = at;
    const [name = "", ...rest] = steps;
    if (kind === "local") {
      const blocks = level.blocks.filter(({ type }) => type === "locals");
      return this.#attributes({ blocks, name: String(name), names: { level, each: null }, at }, rest);
    }
    if (kind === "var") return this.#variable(at, String(name), rest);
    if (kind === "each" && name === "key" && each !== null)
      return each.key === null ? this.#keys(each.values) : [{ text: each.key, place: placeIn(at) }];
    if (kind === "each" && name === "value" && each !== null)
      return this.#values(each.values, [each.key ?? "*", ...rest]);
    if (kind === "module") {
      const child = level.children.get(String(name));
      const isOfMany = child?.call !== null && child !== undefined && isMany(child.call.block);
      const isIndexed = isOfMany || typeof rest[0] === "number" || rest[0] === "*";
      const [output, ...further] = isIndexed ? rest.slice(1) : rest;
      if (child === undefined) return [unknownAt(at)];
      const blocks = child.blocks.filter(
        ({ type, labels }) => type === "output" && labels[0] === (output ?? labels[0]),
      );
      const [key] = rest;
      const isKeyed = isOfMany && child.call !== null && typeof key === "string" && key !== "*";
      const called = isKeyed ? { ...child, call: { ...child.call, key } } : child;
      return this.#attributes({ blocks, name: "value", names: { level: called, each: null }, at }, further);
    }
    if (kind === "service_team") return this.#team(at, "resource", steps);
    return kind === "data" && name === "service_team" ? this.#team(at, "data", rest) : [unknownAt(at)];
  }

  /** Returns the keys that `for_each` gives: member names of an object, and elements of a set. */
  #keys(values: Expression): readonly ModuleValue[] {
    const inner = toInner(values.node);
    if (inner.type !== "object") return this.#values(values, ["*"]);
    return toHolder(values.text, inner).members.map(({ name }) =>
      name === null ? unknownAt(values) : { text: name, place: placeIn(values) },
    );
  }

  /**
   * Returns the values of a variable: from the call, otherwise from variable files or a Terragrunt unit, otherwise its
   * default. A null that is given to a variable with `nullable = false` also means its default.
   */
  #variable(at: Expression, name: string, given: readonly Step[]): readonly ModuleValue[] {
    const declared = at.level.blocks.filter(({ type, labels }) => type === "variable" && labels[0] === name);
    const types = declared.map(({ attributes }) => attributes.get("type") ?? "").join(" ");
    // A set is ordered by value, so an index may select any element.
    const steps = /\bset\s*\(/.test(types) ? given.map((step) => (typeof step === "number" ? "*" : step)) : given;
    const values = this.#givenTo(at, name, { declared, steps });
    const [first = at.block] = declared;
    return hasOptional(types, steps) ? [...values, unknownAt({ block: first })] : values;
  }

  #givenTo(
    at: Expression,
    name: string,
    { declared, steps }: { readonly declared: readonly CodeBlock[]; readonly steps: readonly Step[] },
  ): readonly ModuleValue[] {
    const { level } = at;
    const { call } = level;
    const names = { level, each: null };
    const defaults = () => this.#attributes({ blocks: declared, name: "default", names, at }, steps);
    const isNullable = declared.every(({ attributes }) => (attributes.get("nullable") ?? "true") === "true");
    const orDefault = (expression: string) => (!isNullable && /\bnull\b/.test(expression) ? defaults() : []);
    const passed = call?.block.attributes.get(name);
    if (call !== null && passed !== undefined) {
      const of = this.#toNames(call.block, call.above, call.key ?? null);
      return [...this.#attributes({ blocks: [call.block], name, names: of, at }, steps), ...orDefault(passed)];
    }
    const hasDefault = declared.some(({ attributes }) => attributes.has("default"));
    const given = level.listValues(name);
    if (given.length > 0)
      return given.flatMap(({ expression, block, isOptional = false }) => [
        ...this.#parsed(expression, { block, ...names }, steps),
        ...(isOptional && hasDefault ? defaults() : orDefault(expression)),
      ]);
    const [first = at.block] = declared;
    return hasDefault
      ? defaults()
      : [{ ...unknownAt({ block: first }), unknown: call === null ? "input" : "expression" }];
  }

  /** Returns the names that a block can use: the names of its module, and `each` if the block has `for_each`. */
  #toNames(block: CodeBlock, level: ModuleLevel, key: string | null): Names {
    const values = this.#attribute(block, "for_each", { level, each: null });
    return { level, each: values === null ? null : { key, values } };
  }

  /**
   * Returns the values that a reference to a `service_team` resource or data source can have. Reads every block with
   * that address, because an override file may select another team.
   */
  #team(at: Expression, kind: string, [name, ...steps]: readonly Step[]): readonly ModuleValue[] {
    const blocks = at.level.named.get(`${kind} service_team ${name}`) ?? [];
    return blocks.length === 0 ? [unknownAt(at)] : blocks.flatMap((block) => this.#toTeam(at.level, block, steps));
  }

  #toTeam(level: ModuleLevel, block: CodeBlock, steps: readonly Step[]): readonly ModuleValue[] {
    const named = ["key", "id"].filter((each) => block.attributes.has(each));
    // With a key and an id, either may select the team.
    return named.length === 0
      ? [unknownAt({ block })]
      : named.flatMap((name) => this.#teamBy(name, { level, block, steps }));
  }

  #teamBy(
    name: string,
    {
      level,
      block,
      steps,
    }: { readonly level: ModuleLevel; readonly block: CodeBlock; readonly steps: readonly Step[] },
  ): readonly ModuleValue[] {
    const unknown = unknownAt({ block });
    // An index selects an instance: `service_team.all["core"]`, `service_team.core[0]`, `service_team.core[*]`.
    const [first] = steps;
    const isIndexed = typeof first === "number" || first === "*" || isMany(block);
    const [attribute] = isIndexed ? steps.slice(1) : steps;
    const instance = isMany(block) && typeof first === "string" && first !== "*" ? first : null;
    const written = this.#attribute(block, name, this.#toNames(block, level, instance));
    if (written === null) return [unknown];
    return this.#values(written, []).flatMap((value): readonly ModuleValue[] => {
      if (!("text" in value)) return [unknown];
      if (attribute === "key" && name === "key") return [value];
      const team = { team: name === "id" ? { id: value.text } : { key: value.text }, place: unknown.place };
      return attribute === undefined || attribute === "id" ? [team] : [unknown, team];
    });
  }
}
