/**
 * The type checker. It uses gradual typing as in cel-go (`checker/checker.go`), but works on the tree with its spans.
 * It reports all faults, not only the first. A part with a fault gets the type `error`. This type is accepted
 * everywhere, so the part causes no further faults.
 */

import {
  Bindings,
  BOOL,
  BYTES,
  bounded,
  DOUBLE,
  DYN,
  ERROR,
  formatType,
  INT,
  NULL,
  opaque,
  STRING,
  type Type,
  toList,
  toMap,
  UINT,
} from "./cel-types.js";
import { type Fault, listOperands, type Node, type Tree } from "./parse.js";
import { callableNames, type Declarations, language, listCandidates, type Overload } from "./signatures.js";
import { nearest } from "./suggest.js";

export interface TypeCheckResult {
  /** The type of the whole expression; `error` if it has faults. */
  readonly type: Type;
  readonly faults: readonly Fault[];
}

/** Checks a tree against the types of the names in scope and the declared functions. */
export function checkExpression(
  tree: Tree,
  names: ReadonlyMap<string, Type>,
  declarations: Declarations = language,
): TypeCheckResult {
  const checker = new Checker(tree, declarations);
  const type = checker.toType(tree.root, names);
  return { type: checker.faults.length > 0 ? ERROR : checker.bindings.resolve(type, "dyn"), faults: checker.faults };
}

type Names = ReadonlyMap<string, Type>;
type CallNode = Extract<Node, { op: "call" | "rcall" }>;

/**
 * cel-spec's type of values that may be absent. No name in scope has this type, but a declared function may return it.
 */
const OPTIONAL = "optional_type";

const macroNames = ["has", "all", "exists", "exists_one", "map", "filter"];

class Checker {
  readonly faults: Fault[] = [];
  readonly bindings = new Bindings();
  readonly #tree: Tree;
  readonly #declared: Declarations;
  #callable: readonly string[] | null = null;

  constructor(tree: Tree, declared: Declarations) {
    this.#tree = tree;
    this.#declared = declared;
  }

  toType(node: Node, names: Names): Type {
    return bounded(this.#toType(node, names));
  }

  #toType(node: Node, names: Names): Type {
    switch (node.op) {
      case "value":
        return literalType(node.args);
      case "id":
        return this.#name(node, node.args, names);
      case ".":
        return this.#qualified(node, names) ?? this.#field(node, this.toType(node.args[0], names));
      case "list":
        return toList(this.#joined(node.args, names));
      case "map":
        return toMap(
          this.#joined(
            node.args.map(([key]) => key),
            names,
          ),
          this.#joined(
            node.args.map(([, value]) => value),
            names,
          ),
        );
      case "call":
      case "rcall":
        return this.#macro(node, names) ?? this.#call(node, names);
      case ".?":
      case "[?]":
        return this.#fault(node, "optional values are not supported");
      default:
        return this.#operator(node, names);
    }
  }

  #fault(node: Node, message: string, suggestion: string | null = null): Type {
    this.faults.push({ message, span: this.#tree.toSpan(node), suggestion });
    return ERROR;
  }

  #name(node: Node, name: string, names: Names): Type {
    const known = this.#declaredType(name, names);
    if (known !== null) return known;
    const suggestion = nearest(name, names.keys());
    return this.#fault(node, `there is no ${name} here${suggestion === null ? toNamesHere(names) : ""}`, suggestion);
  }

  /** Returns the type of a qualified name (`a.b`); null if the name is not declared. */
  #qualified(node: Node, names: Names): Type | null {
    const name = dotted(node);
    return name === null ? null : this.#declaredType(name, names);
  }

  #declaredType(name: string, names: Names): Type | null {
    const candidates = listCandidates(name, this.#declared.container);
    const found = candidates.find((each) => names.has(each) || this.#declared.types.has(each));
    return found === undefined ? null : (names.get(found) ?? this.#declared.types.get(found) ?? null);
  }

  /** The overloads of a function by its qualified name; none for an unknown function. */
  #listOverloads(name: string): readonly Overload[] {
    const candidates = listCandidates(name, this.#declared.container);
    const found = candidates.find((each) => this.#declared.functions.has(each));
    return found === undefined ? [] : (this.#declared.functions.get(found) ?? []);
  }

  /**
   * Returns the names in scope within a loop. The loop variable hides names that are equal to it, and names that start
   * with it and a dot.
   */
  #inside(names: Names, variable: string, element: Type): Names {
    const hidden = listCandidates(variable, this.#declared.container);
    const isHidden = (name: string) => hidden.some((each) => name === each || name.startsWith(`${each}.`));
    return new Map([...[...names].filter(([name]) => !isHidden(name)), [variable, element]]);
  }

  #field(node: Extract<Node, { op: "." }>, operand: Type): Type {
    const field = this.#tree.toField(node);
    const type = this.bindings.resolve(operand);
    switch (type.kind) {
      case "error":
        return ERROR;
      case "map":
        return type.value;
      case "object":
        return this.#ownField(node, type.fields, field);
      case "opaque":
        return this.#optionalField(node, type);
      case "parameter":
        this.bindings.areAssignable([DYN], [type]);
        return DYN;
      case "dyn":
        return DYN;
      default:
        return this.#fault(node, `${formatType(type)} has no fields, so no ${field}`);
    }
  }

  /** A field of an optional value is also optional. Other opaque types have no fields. */
  #optionalField(node: Extract<Node, { op: "." }>, type: Extract<Type, { kind: "opaque" }>): Type {
    const [value] = type.parameters;
    if (type.name === OPTIONAL && value !== undefined) return opaque(OPTIONAL, this.#field(node, value));
    return this.#fault(node, `${formatType(type)} has no fields, so no ${this.#tree.toField(node)}`);
  }

  #ownField(node: Node, fields: Readonly<Record<string, Type>>, field: string): Type {
    const own = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (own !== undefined) return own;
    // Report the span of the field's name only, because the part before it is correct.
    const { end } = this.#tree.toSpan(node);
    const suggestion = nearest(field, Object.keys(fields));
    const span = { start: end - field.length, end };
    this.faults.push({ message: `there is no field ${field} here`, span, suggestion });
    return ERROR;
  }

  #joined(nodes: readonly Node[], names: Names): Type {
    let joined: Type | null = null;
    for (const node of nodes) {
      const type = this.toType(node, names);
      joined = joined === null ? type : this.bindings.join(joined, type);
    }
    return joined ?? this.bindings.fresh();
  }

  #operator(node: Node, names: Names): Type {
    const operands = listOperands(node);
    const types = operands.map((operand) => this.toType(operand, names));
    const own = this.#literalIndex(node, operands, types);
    if (own !== null) return own;
    return (
      this.#overload(this.#listOverloads(node.op), types) ??
      this.#fault(node, `${operatorName(node.op)} does not take ${this.#list(types)}`)
    );
  }

  /**
   * Returns the type of a field that is read with a literal index, as in `event["at"]`. Returns null if the node has
   * another form, or if the indexed value is not a declared object.
   */
  #literalIndex(node: Node, [, index]: readonly Node[], [of]: readonly Type[]): Type | null {
    if (node.op !== "[]" || index?.op !== "value" || typeof index.args !== "string" || of === undefined) return null;
    const type = this.bindings.resolve(of);
    if (type.kind !== "object") return null;
    const own = Object.hasOwn(type.fields, index.args) ? type.fields[index.args] : undefined;
    return (
      own ?? this.#fault(index, `there is no field ${index.args} here`, nearest(index.args, Object.keys(type.fields)))
    );
  }

  #call(node: CallNode, names: Names): Type {
    const [name] = node.args;
    const named = this.#namespaced(node, names);
    if (named !== null) return named;
    const types = listOperands(node).map((operand) => this.toType(operand, names));
    const isMethod = node.op === "rcall";
    const known = this.#listOverloads(name).filter((overload) => overload.isMethod === isMethod);
    if (known.length === 0) return this.#unknownFunction(node, name, isMethod);
    const found = this.#overload(known, types);
    if (found !== null) return found;
    const [receiver, ...rest] = types;
    if (!isMethod || receiver === undefined) return this.#fault(node, `${name}() does not take ${this.#list(types)}`);
    const given = rest.length === 0 ? "" : ` with ${this.#list(rest)}`;
    return this.#fault(node, `${name}() is not for ${formatType(this.bindings.resolve(receiver, "dyn"))}${given}`);
  }

  /**
   * Checks a call of a function with a qualified name. Such a call looks like a method call. Returns null if the node
   * is not such a call.
   */
  #namespaced(node: CallNode, names: Names): Type | null {
    if (node.op !== "rcall") return null;
    const [name, receiver, args] = node.args;
    const before = dotted(receiver);
    const known = before === null ? [] : this.#listOverloads(`${before}.${name}`).filter(({ isMethod }) => !isMethod);
    if (known.length === 0) return null;
    const types = args.map((argument) => this.toType(argument, names));
    return this.#overload(known, types) ?? this.#fault(node, `${before}.${name}() does not take ${this.#list(types)}`);
  }

  #unknownFunction(node: Node, name: string, isMethod: boolean): Type {
    this.#callable ??= callableNames(this.#declared);
    const callable = this.#callable;
    if (callable.includes(name)) {
      const written = isMethod ? `${name}(value)` : `value.${name}(…)`;
      return this.#fault(node, `${name}() is written as ${written}`);
    }
    return this.#fault(node, `there is no function ${name}()`, nearest(name, [...callable, ...macroNames]));
  }

  /**
   * Returns the result type of the overloads that accept these types. Returns `dyn` if several overloads accept them
   * and have different result types. Returns null if no overload accepts the types. Returns `error` if one of the types
   * is `error`.
   */
  #overload(overloads: readonly Overload[], types: readonly Type[]): Type | null {
    if (types.some(({ kind }) => kind === "error")) return ERROR;
    let result: Type | null = null;
    for (const overload of overloads) {
      if (overload.takes.length !== types.length) continue;
      const [gives, ...takes] = this.bindings.instantiate([overload.gives, ...overload.takes]);
      if (gives === undefined || !this.bindings.areAssignable(types, takes)) continue;
      const type = this.bindings.resolve(gives);
      if (result === null) result = type;
      else if (result.kind !== "dyn" && formatType(result) !== formatType(type)) result = DYN;
    }
    return result;
  }

  #macro(node: CallNode, names: Names): Type | null {
    if (node.op === "call") {
      const [argument, ...more] = node.args[1];
      return node.args[0] === "has" && argument !== undefined && more.length === 0 ? this.#has(argument, names) : null;
    }
    const [name, range, args] = node.args;
    const [variable, first, second] = args;
    if (variable === undefined || first === undefined || !isMacro(name, args.length)) return null;
    const element = this.#toElement(range, this.bindings.resolve(this.toType(range, names)));
    if (variable.op !== "id") return this.#fault(variable, `${name}() needs a plain name for each element first`);
    const inside = this.#inside(names, variable.args, element);
    if (name === "map" && second === undefined) return toList(this.toType(first, inside));
    this.#condition(first, inside);
    if (name === "map" && second !== undefined) return toList(this.toType(second, inside));
    return name === "filter" ? toList(element) : BOOL;
  }

  #has(argument: Node, names: Names): Type {
    if (argument.op !== ".") return this.#fault(argument, "has() needs a field, as in has(event.to)");
    const type = this.bindings.resolve(this.toType(argument.args[0], names));
    this.#field(argument, type);
    return BOOL;
  }

  #condition(node: Node, names: Names): void {
    const type = this.toType(node, names);
    if (this.bindings.areAssignable([type], [BOOL])) return;
    this.#fault(node, `must be bool, not ${formatType(this.bindings.resolve(type, "dyn"))}`);
  }

  #toElement(range: Node, type: Type): Type {
    switch (type.kind) {
      case "list":
        return type.element;
      case "map":
        return type.key;
      case "object":
        return STRING;
      case "parameter":
        this.bindings.areAssignable([DYN], [type]);
        return DYN;
      case "dyn":
      case "error":
        return DYN;
      default:
        return this.#fault(range, `must be a list or a map, not ${formatType(type)}`);
    }
  }

  #list(types: readonly Type[]): string {
    const written = types.map((type) => formatType(this.bindings.resolve(type, "dyn")));
    return written.length === 0 ? "nothing" : written.join(" and ");
  }
}

function isMacro(name: string, count: number): boolean {
  return macroNames.includes(name) && name !== "has" && (count === 2 || (name === "map" && count === 3));
}

function literalType(value: unknown): Type {
  if (value === null) return NULL;
  if (value instanceof Uint8Array) return BYTES;
  switch (typeof value) {
    case "string":
      return STRING;
    case "bigint":
      return INT;
    case "number":
      return DOUBLE;
    case "boolean":
      return BOOL;
    default:
      return UINT;
  }
}

/** Maximum number of names in scope that a fault lists. */
const MAX_LISTED_NAMES = 10;

/** Lists the names in scope, for a fault about a name that resembles none of them. */
function toNamesHere(names: Names): string {
  const listed = [...names.keys()].slice(0, MAX_LISTED_NAMES);
  if (listed.length === 0) return "";
  return `; there ${names.size === 1 ? "is" : "are"} ${listed.join(", ")}${names.size > listed.length ? ", …" : ""}`;
}

/** Returns the text of a chain of plain names, such as `a.b.c`; null for any other node. */
function dotted(node: Node): string | null {
  if (node.op === "id") return node.args;
  if (node.op !== ".") return null;
  const before = dotted(node.args[0]);
  return before === null ? null : `${before}.${node.args[1]}`;
}

const written: Readonly<Record<string, string>> = { "!_": "!", "-_": "-", "[]": "[ ]", "?:": "? :" };

function operatorName(op: string): string {
  return written[op] ?? op;
}
