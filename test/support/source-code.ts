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

/** A function's position and length. */
export interface FunctionSize {
  readonly path: string;
  /** The function's name, or that of its variable or property; else `anonymous`. */
  readonly name: string;
  /** The function's first line, counted from 1. */
  readonly line: number;
  readonly lines: number;
}

/** An import of one file by another, as paths in the checkout. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** Whether the import has only types: `import type`, `export type … from`, `import("…").Name` as a type. */
  readonly isTypeOnly: boolean;
}

const PRODUCT = /^(storage|runtime|actors|http)\/.*\.tsx?$/;

/** Returns the product's files that git tracks in a checkout, ordered by path. */
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
 * Returns all functions with a body in braces: declarations, methods, constructors, accessors, function expressions and
 * arrow functions, at any depth. Excludes arrow functions that are a single expression, classes, and a machine's
 * object. A function's lines run from its first line (without the docstring) to its closing brace. An inner function
 * counts separately and also as part of the outer one.
 *
 * For example, in `const a = () => b(() => { c(); })` on three lines, the inner function has three lines and the outer
 * one does not count.
 */
export function listFunctions({ path, tree }: SourceFile): readonly FunctionSize[] {
  const found: FunctionSize[] = [];
  const lineAt = (position: number) => tree.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node: ts.Node, parent: ts.Node): void => {
    if (isWithBody(node)) {
      const line = lineAt(node.getStart(tree));
      found.push({ path, name: toName(node, parent, tree), line, lines: lineAt(node.end) - line + 1 });
    }
    ts.forEachChild(node, (child) => visit(child, node));
  };
  visit(tree, tree);
  return found;
}

/**
 * Returns the number of statements in a file at any depth, plus the members of its classes, interfaces and types.
 * Blocks do not count.
 */
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

function toName(node: ts.FunctionLikeDeclaration, parent: ts.Node, tree: ts.SourceFile): string {
  const { name } = node;
  if (name !== undefined) return name.getText(tree);
  if (ts.isConstructorDeclaration(node)) return "constructor";
  return (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) && parent.initializer === node
    ? parent.name.getText(tree)
    : "anonymous";
}

/** Returns a file's imports of other files in the checkout, without packages. */
export function listImports({ path, tree }: SourceFile): readonly Import[] {
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
