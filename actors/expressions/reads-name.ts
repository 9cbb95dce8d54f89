import { listOperands, type Node, parseExpression, type Tree } from "./parse.js";
import { isTemplate, readTemplate } from "./templates.js";

/**
 * Returns whether an expression in the text reads the value of this name. A field or a string that has the same text
 * does not count.
 */
export function readsName(text: string, name: string): boolean {
  return listTreesWith(text, name).some(({ root }) => isNamed(root, name));
}

/** A field of a map, and the name by which expressions read the map. */
interface FieldOfName {
  readonly name: string;
  readonly field: string;
}

/**
 * Returns whether an expression in the text reads the map's field and nowhere tests whether the field exists. Such an
 * expression fails if the field is missing.
 */
export function needsField(text: string, wanted: FieldOfName): boolean {
  return listTreesWith(text, wanted.name).some(
    (tree) => isReadIn(tree, tree.root, wanted) && !isAskedFor(tree, tree.root, wanted),
  );
}

/**
 * Parses the expressions in the text and returns those whose source contains the name. Skips expressions with syntax
 * errors.
 */
function listTreesWith(text: string, name: string): readonly Tree[] {
  if (!isTemplate(text)) return [];
  const read = readTemplate(text);
  if ("fault" in read) return [];
  return read.template.flatMap((part) => {
    if (typeof part === "string" || !part.source.includes(name)) return [];
    const parsed = parseExpression(part.source);
    return "fault" in parsed ? [] : [parsed.tree];
  });
}

function isReadIn(tree: Tree, node: Node, wanted: FieldOfName): boolean {
  return isField(tree, node, wanted) || listOperands(node).some((operand) => isReadIn(tree, operand, wanted));
}

/** Whether the node contains the test `has(name.field)` or `"field" in name`. */
function isAskedFor(tree: Tree, node: Node, wanted: FieldOfName): boolean {
  const operands = listOperands(node);
  if (node.op === "call" && node.args[0] === "has" && operands.some((operand) => isField(tree, operand, wanted))) {
    return true;
  }
  if (node.op === "in" && isText(node.args[0], wanted.field) && isNamed(node.args[1], wanted.name)) return true;
  return operands.some((operand) => isAskedFor(tree, operand, wanted));
}

/** Whether the node is `name.field` or `name["field"]`. */
function isField(tree: Tree, node: Node, { name, field }: FieldOfName): boolean {
  if (node.op === ".") return isId(node.args[0], name) && tree.toField(node) === field;
  return node.op === "[]" && isId(node.args[0], name) && isText(node.args[1], field);
}

function isId(node: Node, name: string): boolean {
  return node.op === "id" && node.args === name;
}

function isText(node: Node, text: string): boolean {
  return node.op === "value" && node.args === text;
}

function isNamed(node: Node, name: string): boolean {
  return isId(node, name) || listOperands(node).some((operand) => isNamed(operand, name));
}
