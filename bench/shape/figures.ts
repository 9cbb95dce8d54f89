import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { type Import, listImports, type SourceFile } from "../../test/support/source-code.js";

export interface Figure {
  readonly name: string;
  readonly count: number | string;
}

/** Files with fewer lines count as small. */
const SMALL = 60;
/** Folders with more files of their own count as flat. */
const FLAT = 40;

/** Counts properties of the source that make it easier or harder to read, in the order of the printed table. */
export function measureHabits(files: readonly SourceFile[]): readonly Figure[] {
  const trees = files.map(({ tree }) => tree);
  const exported = trees.flatMap(listExports);
  const documented = trees.flatMap((tree) => listExports(tree).filter((node) => isDocumented(node, tree))).length;
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  const charts = files.filter(({ path }) => path.endsWith(".machine.ts"));
  return [
    { name: "exports a thousand lines", count: ((exported.length / lines) * 1_000).toFixed(1) },
    {
      name: "exported functions, classes, interfaces and types with a docstring",
      count: `${documented} of ${exported.length}`,
    },
    { name: "calls of assertEvent", count: countNodes(trees, (node) => isCallOf(node, "assertEvent")) },
    { name: "lines of machines (.machine.ts)", count: charts.reduce((sum, file) => sum + file.lines, 0) },
    { name: "folds: an object literal spread inside an object literal", count: countNodes(trees, isFold) },
    { name: "functions and methods called xOf or of", count: countNodes(trees, isNamedOf) },
    {
      name: `files under ${SMALL} lines whose one importer is in the same folder`,
      count: listSmall(files).length,
    },
    { name: `folders with more than ${FLAT} files of their own`, count: listFlat(files).join(", ") || 0 },
  ];
}

/** Returns the files that import the most other files, with the number for each. */
export function listFanOut(files: readonly SourceFile[], most: number): readonly Figure[] {
  return files
    .map((file) => ({ name: file.path, count: new Set(listImports(file).map(({ to }) => to)).size }))
    .sort((left, right) => right.count - left.count)
    .slice(0, most);
}

/** Counts the words in the READMEs of a checkout's code folders. */
export function countReadmeWords(folder: string, files: readonly SourceFile[]): number {
  const folders = [...new Set(files.flatMap(({ path }) => listParents(path)))];
  return folders.reduce((sum, each) => sum + countWords(join(folder, each, "README.md")), 0);
}

function listParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === "." ? [] : [parent, ...listParents(parent)];
}

function countWords(path: string): number {
  try {
    return readFileSync(path, "utf8").split(/\s+/).length;
  } catch {
    return 0;
  }
}

/**
 * Lists the imports inside a folder that lead from a lower part to a higher one. `parts` has the lowest part first.
 * Each part is a list of paths below the folder (a folder, or a file without its extension). `rest` is the index of the
 * part to which all other paths belong.
 */
export function listArrowsUp(
  files: readonly SourceFile[],
  folder: string,
  { parts, rest }: { readonly parts: readonly (readonly string[])[]; readonly rest: number },
): readonly Import[] {
  const rank = (path: string): number => {
    const inside = path.slice(folder.length + 1).replace(/\.ts$/, "");
    const found = parts.findIndex((part) => part.some((name) => inside === name || inside.startsWith(`${name}/`)));
    return found === -1 ? rest : found;
  };
  const isInside = (path: string) => path.startsWith(`${folder}/`);
  return files
    .filter(({ path }) => isInside(path))
    .flatMap(listImports)
    .filter(({ from, to }) => isInside(to) && rank(to) > rank(from));
}

function listSmall(files: readonly SourceFile[]): readonly string[] {
  const importers = new Map<string, Set<string>>();
  for (const { from, to } of files.flatMap(listImports)) {
    importers.set(to, (importers.get(to) ?? new Set()).add(from));
  }
  return files
    .filter(({ path, lines }) => {
      const [only, ...others] = importers.get(path) ?? [];
      return lines < SMALL && only !== undefined && others.length === 0 && dirname(only) === dirname(path);
    })
    .map(({ path }) => path);
}

function listFlat(files: readonly SourceFile[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > FLAT).map(([folder, count]) => `${folder} ${count}`);
}

type Exported =
  | ts.FunctionDeclaration
  | ts.ClassDeclaration
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.VariableStatement;

function listExports(tree: ts.SourceFile): readonly Exported[] {
  return tree.statements.filter(
    (node): node is Exported =>
      (ts.isFunctionDeclaration(node) ||
        ts.isClassDeclaration(node) ||
        ts.isInterfaceDeclaration(node) ||
        ts.isTypeAliasDeclaration(node) ||
        ts.isVariableStatement(node)) &&
      node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true,
  );
}

function isDocumented(node: ts.Node, { text }: ts.SourceFile): boolean {
  const comments = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
  return comments.some(({ pos }) => text.startsWith("/**", pos));
}

function countNodes(trees: readonly ts.SourceFile[], counts: (node: ts.Node) => boolean): number {
  let count = 0;
  const visit = (node: ts.Node): void => {
    if (counts(node)) count += 1;
    ts.forEachChild(node, visit);
  };
  for (const tree of trees) visit(tree);
  return count;
}

function isCallOf(node: ts.Node, name: string): boolean {
  return ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === name;
}

/** Whether a node is `...{ a, b }` inside an object literal. */
function isFold(node: ts.Node): boolean {
  return ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression);
}

function isNamedOf(node: ts.Node): boolean {
  const isFunction =
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    (ts.isVariableDeclaration(node) && node.initializer !== undefined && ts.isArrowFunction(node.initializer));
  return (
    isFunction && node.name !== undefined && ts.isIdentifier(node.name) && /([a-z0-9]Of|^of)$/.test(node.name.text)
  );
}
