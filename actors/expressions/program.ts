import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { listOperands, type Node, type Tree } from "./parse.js";

/**
 * Converts the tree to `cel.expr` nodes, and expands macros to loops (cel-spec, "Macros"). Some nodes call our own
 * functions. A loop calls `@goesOn` before each step. Our `has` and `in` treat a null value as present.
 */
export function compileProgram(tree: Tree): Expr {
  return new Writer(tree).write(tree.root);
}

/** The names of our own functions. */
export const GOES_ON = "@goesOn";
export const HAS = "@has";
export const APPEND = "@append";
export const NEW_LIST = "@newList";
export const DISTINCT = "@distinct";
export const RANGE = "@range";
const IN = "@in";
/** The name of a loop's accumulator. No expression can contain this name. */
const GATHERED = "@result";

type Kind = Expr["exprKind"];
type Constant = Extract<Kind, { case: "constExpr" }>["value"]["constantKind"];

const operators: Readonly<Record<string, string>> = {
  "==": "_==_",
  "!=": "_!=_",
  "<": "_<_",
  "<=": "_<=_",
  ">": "_>_",
  ">=": "_>=_",
  "+": "_+_",
  "-": "_-_",
  "*": "_*_",
  "/": "_/_",
  "%": "_%_",
  "&&": "_&&_",
  "||": "_||_",
  "?:": "_?_:_",
  "[]": "_[_]",
  "!_": "!_",
  "-_": "-_",
  in: IN,
};

class Writer {
  readonly #tree: Tree;
  #ids = 0n;

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  write(node: Node): Expr {
    switch (node.op) {
      case "value":
        return this.#constant(toConstant(node.args));
      case "id":
        return this.#name(node.args);
      case ".":
        return this.#node({
          case: "selectExpr",
          value: {
            $typeName: "cel.expr.Expr.Select",
            operand: this.write(node.args[0]),
            field: this.#tree.toField(node),
            testOnly: false,
          },
        });
      case "list":
        return this.#list(node.args.map((each) => this.write(each)));
      case "map":
        return this.#map(node.args);
      case "call":
      case "rcall":
        return this.#macro(node) ?? this.#functionCall(node);
      default:
        return this.#call(
          operators[node.op] ?? node.op,
          listOperands(node).map((each) => this.write(each)),
        );
    }
  }

  #node(exprKind: Kind): Expr {
    this.#ids += 1n;
    return { $typeName: "cel.expr.Expr", id: this.#ids, exprKind };
  }

  #name(name: string): Expr {
    return this.#node({ case: "identExpr", value: { $typeName: "cel.expr.Expr.Ident", name } });
  }

  #constant(constantKind: Constant): Expr {
    return this.#node({ case: "constExpr", value: { $typeName: "cel.expr.Constant", constantKind } });
  }

  #bool(value: boolean): Expr {
    return this.#constant({ case: "boolValue", value });
  }

  #call(name: string, args: Expr[], target?: Expr): Expr {
    const call = { $typeName: "cel.expr.Expr.Call", function: name, args } as const;
    return this.#node({ case: "callExpr", value: target === undefined ? call : { ...call, target } });
  }

  #functionCall(node: Extract<Node, { op: "call" | "rcall" }>): Expr {
    if (node.op === "call")
      return this.#call(
        node.args[0],
        node.args[1].map((each) => this.write(each)),
      );
    const [name, target, args] = node.args;
    return this.#call(
      name,
      args.map((each) => this.write(each)),
      this.write(target),
    );
  }

  #list(elements: Expr[]): Expr {
    return this.#node({
      case: "listExpr",
      value: { $typeName: "cel.expr.Expr.CreateList", elements, optionalIndices: [] },
    });
  }

  /** Converts a map literal. Its keys must differ; 0 and 0u are the same key. */
  #map(entries: readonly (readonly [Node, Node])[]): Expr {
    const map = this.#toMap(entries);
    const others = entries.filter(([key]) => key.op !== "value" || typeof key.args !== "string");
    return others.length > 1 ? this.#call(DISTINCT, [map]) : map;
  }

  #toMap(entries: readonly (readonly [Node, Node])[]): Expr {
    return this.#node({
      case: "structExpr",
      value: {
        $typeName: "cel.expr.Expr.CreateStruct",
        messageName: "",
        entries: entries.map(([key, value]) => ({
          $typeName: "cel.expr.Expr.CreateStruct.Entry",
          id: 0n,
          keyKind: { case: "mapKey", value: this.write(key) },
          value: this.write(value),
          optionalEntry: false,
        })),
      },
    });
  }

  #macro(node: Extract<Node, { op: "call" | "rcall" }>): Expr | null {
    if (node.op === "call") {
      const [of, ...more] = node.args[1];
      if (node.args[0] !== "has" || of?.op !== "." || more.length > 0) return null;
      return this.#call(HAS, [
        this.write(of.args[0]),
        this.#constant({ case: "stringValue", value: this.#tree.toField(of) }),
      ]);
    }
    const [name, range, [variable, first, second, ...more]] = node.args;
    if (variable?.op !== "id" || first === undefined || more.length > 0) return null;
    const loop = { range, variable: variable.args };
    switch (second === undefined ? name : `${name} with a condition`) {
      case "all":
        return this.#quantifier(loop, first, "&&");
      case "exists":
        return this.#quantifier(loop, first, "||");
      case "exists_one":
        return this.#existsOne(loop, first);
      case "filter":
        return this.#gather(loop, first, this.#name(variable.args));
      case "map":
        return this.#gather(loop, null, this.write(first), first);
      case "map with a condition":
        return second === undefined ? null : this.#gather(loop, first, this.write(second), second);
      default:
        return null;
    }
  }

  /**
   * Writes the loop of `all` or `exists`. `all` ends at the first false, and `exists` at the first true. The result
   * then ignores errors of other elements.
   */
  #quantifier(loop: Loop, condition: Node, op: "&&" | "||"): Expr {
    const gathered = this.#name(GATHERED);
    const ended = op === "&&" ? gathered : this.#call("!_", [gathered]);
    return this.#loop(loop, {
      from: this.#bool(op === "&&"),
      while: this.#call("@not_strictly_false", [ended]),
      step: this.#call(operators[op] ?? op, [this.#name(GATHERED), this.write(condition)]),
      result: this.#name(GATHERED),
      weight: toWeight(condition),
    });
  }

  #existsOne(loop: Loop, condition: Node): Expr {
    const one = () => this.#constant({ case: "int64Value", value: 1n });
    const more = this.#call("_+_", [this.#name(GATHERED), one()]);
    return this.#loop(loop, {
      from: this.#constant({ case: "int64Value", value: 0n }),
      while: this.#bool(true),
      step: this.#call("_?_:_", [this.write(condition), more, this.#name(GATHERED)]),
      result: this.#call("_==_", [this.#name(GATHERED), one()]),
      weight: toWeight(condition),
    });
  }

  #gather(loop: Loop, condition: Node | null, element: Expr, written?: Node): Expr {
    const more = this.#call(APPEND, [this.#name(GATHERED), element]);
    const step = condition === null ? more : this.#call("_?_:_", [this.write(condition), more, this.#name(GATHERED)]);
    return this.#loop(loop, {
      from: this.#call(NEW_LIST, []),
      while: this.#bool(true),
      step,
      result: this.#name(GATHERED),
      weight: (condition === null ? 0 : toWeight(condition)) + (written === undefined ? 1 : toWeight(written)),
    });
  }

  #loop(loop: Loop, parts: LoopParts): Expr {
    const goesOn = this.#call(GOES_ON, [this.#constant({ case: "int64Value", value: BigInt(parts.weight) })]);
    return this.#node({
      case: "comprehensionExpr",
      value: {
        $typeName: "cel.expr.Expr.Comprehension",
        iterVar: loop.variable,
        iterVar2: "",
        iterRange: this.#call(RANGE, [this.write(loop.range)]),
        accuVar: GATHERED,
        accuInit: parts.from,
        // `&&` evaluates its left side first. So the cost of a step is counted before the loop's own condition is
        // evaluated.
        loopCondition: this.#call("_&&_", [goesOn, parts.while]),
        loopStep: parts.step,
        result: parts.result,
      },
    });
  }
}

interface Loop {
  readonly range: Node;
  readonly variable: string;
}

interface LoopParts {
  readonly from: Expr;
  readonly while: Expr;
  readonly step: Expr;
  readonly result: Expr;
  /** Number of nodes that a step evaluates. */
  readonly weight: number;
}

function toWeight(node: Node): number {
  return listOperands(node).reduce((sum, operand) => sum + toWeight(operand), 1);
}

function toConstant(value: Extract<Node, { op: "value" }>["args"]): Constant {
  if (value === null) return { case: "nullValue", value: 0 };
  if (value instanceof Uint8Array) return { case: "bytesValue", value: new Uint8Array(value) };
  switch (typeof value) {
    case "string":
      return { case: "stringValue", value };
    case "bigint":
      return { case: "int64Value", value };
    case "number":
      return { case: "doubleValue", value };
    case "boolean":
      return { case: "boolValue", value };
    default:
      return { case: "uint64Value", value: BigInt(value.valueOf()) };
  }
}
