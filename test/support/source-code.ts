import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

/** A file of the product, parsed. */
export interface SourceFile {
  /** Relative to the checkout, with slashes. */
  readonly path: string;
  readonly lines: number;
  readonly tree: ts.SourceFile;
}

/** A function and where it begins. */
export interface FunctionSize {
  readonly path: string;
  /** Its name, or that of the variable or call that it is passed to; `anonymous` without one. */
  readonly name: string;
  /** The line where it begins, from 1. */
  readonly line: number;
  readonly lines: number;
}

/** An import of a file by another, by their paths in the checkout. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** Whether it is of types only: `import type`, `export type … from`, `import("…").Name` as a type. */
  readonly isTypeOnly: boolean;
}

const PRODUCT = /^(storage|runtime|actors|http)\/.*\.tsx?$/;

/** The product's files in a checkout that git tracks, ordered by path. */
export function readProduct(folder: string): readonly SourceFile[] {
  const tracked = execFileSync("git", ["ls-files"], { cwd: folder, encoding: "utf8" }).split("\n");
  return tracked
    .filter((path) => PRODUCT.test(path))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(folder, path), "utf8")));
}

/** Parses a TypeScript file. */
export function parseSource(path: string, text: string): SourceFile {
  const options = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  const tree = ts.createSourceFile(path, text, options);
  return { path, lines: text.split("\n").length - 1, tree };
}

/**
 * All functions whose body is in braces: declarations, methods, constructors, accessors, function expressions and arrow
 * functions, at any depth. Not arrow functions of one expression, classes, or the object of a machine. A function's
 * lines are from its first (without the docstring) to its closing brace; an inner function counts by itself and in the
 * outer one.
 *
 * For example, in `const a = () => b(() => { c(); })` on three lines the inner function has three lines, and the outer
 * one does not count.
 */
export function functionsOf({ path, tree }: SourceFile): readonly FunctionSize[] {
  const found: FunctionSize[] = [];
  const lineAt = (position: number) => tree.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node: ts.Node, parent: ts.Node): void => {
    if (isWithBody(node)) {
      const line = lineAt(node.getStart(tree));
      found.push({ path, name: nameOf(node, parent, tree), line, lines: lineAt(node.end) - line + 1 });
    }
    ts.forEachChild(node, (child) => visit(child, node));
  };
  visit(tree, tree);
  return found;
}

/** The number of statements in a file, at any depth, and of members of its classes, interfaces and types. Blocks do not count. */
export function countStatements({ tree }: SourceFile): number {
  let count = 0;
  const visit = (node: ts.Node): void => {
    if ((ts.isStatement(node) && !ts.isBlock(node)) || ts.isClassElement(node) || ts.isTypeElement(node)) count += 1;
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(tree, visit);
  return count;
}

function isWithBody(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return ts.isFunctionLike(node) && "body" in node && node.body !== undefined && ts.isBlock(node.body as ts.Node);
}

function nameOf(node: ts.FunctionLikeDeclaration, parent: ts.Node, tree: ts.SourceFile): string {
  const { name } = node;
  if (name !== undefined) return name.getText(tree);
  if (ts.isConstructorDeclaration(node)) return "constructor";
  return (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) && parent.initializer === node
    ? parent.name.getText(tree)
    : "anonymous";
}

/** The other files of the checkout that a file imports; packages are omitted. */
export function importsOf({ path, tree }: SourceFile): readonly Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, isTypeOnly: boolean): void => {
    if (specifier === undefined || !ts.isStringLiteral(specifier) || !specifier.text.startsWith(".")) return;
    const to = join(dirname(path), specifier.text).replace(/\.js$/, ".ts");
    found.push({ from: path, to, isTypeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, true);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}
