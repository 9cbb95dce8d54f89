import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

/** A file of the product, parsed. */
export interface SourceFile {
  /** From the checkout's folder, with slashes. */
  readonly path: string;
  readonly lines: number;
  readonly tree: ts.SourceFile;
}

/** A function and where it begins. */
export interface FunctionSize {
  readonly path: string;
  /** Its own name or that of what it is given to; `anonymous` without one. */
  readonly name: string;
  /** Line of the file where it begins, from 1. */
  readonly line: number;
  readonly lines: number;
}

/** That one file names another, relative to the checkout's folder. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** Nothing is left of it once compiled: `import type`, `export type … from`, `import("…").Name` as a type. */
  readonly isTypeOnly: boolean;
}

const PRODUCT = /^(storage|runtime|actors|http)\/.*\.tsx?$/;

/** The files of the product that git knows in a checkout, in order of their paths. */
export function readProduct(folder: string): readonly SourceFile[] {
  const tracked = execFileSync("git", ["ls-files"], { cwd: folder, encoding: "utf8" }).split("\n");
  return tracked
    .filter((path) => PRODUCT.test(path))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(folder, path), "utf8")));
}

/** Parses a file of TypeScript. */
export function parseSource(path: string, text: string): SourceFile {
  const options = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  const tree = ts.createSourceFile(path, text, options);
  return { path, lines: text.split("\n").length - 1, tree };
}

/**
 * Every function whose body stands in braces: declarations, methods, constructors, accessors, function expressions and
 * arrow functions, at any depth; not an arrow function that is one expression, a class, or the object of a machine.
 * From the line where it begins (its docstring not counted) to that of its closing brace; a function within another
 * counts by itself and with the other.
 *
 * For example, of `const a = () => b(() => { c(); })` on three lines the inner one is a function of three lines, the
 * outer one is none.
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

/** What a file names of the checkout's other files; packages are left out. */
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
