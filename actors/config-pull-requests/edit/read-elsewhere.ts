import { basename, dirname } from "node:path";
import { placeOf } from "./edit-source.js";
import type { Syntax, SyntaxNode } from "./hcl-syntax.js";
import { goesOver, mayBe, pathsIn } from "./read-paths.js";
import type { SourceTree, TreeEntry } from "./station-edit.js";

/** Most files of HCL of a repository that are looked through. */
const MAX_FILES = 300;

/** An attribute that reads a file. */
export interface FileReading {
  /** The file that it reads. */
  readonly target: string;
  /** Where it is written. */
  readonly path: string;
  readonly node: SyntaxNode;
}

interface Repository {
  readonly tree: SourceTree;
  readonly entries: readonly TreeEntry[];
  readonly syntax: Syntax;
}

/**
 * Where else in its repository a file may be read, in words; null when nothing else reads it. Looks at all HCL: calls
 * that read files, with what they are given as far as it is written out, and texts that name the file. What other
 * programs read it does not know.
 */
export async function findOtherReader(
  { tree, entries, syntax }: Repository,
  reading: FileReading,
): Promise<string | null> {
  const files = entries.filter(({ path, kind }) => isCode(path) && (kind === "file" || kind === "symlink"));
  if (files.length > MAX_FILES) return `one of ${files.length} files, which are too many to look through`;
  const links = new Set(entries.filter(({ kind }) => kind === "symlink").map(({ path }) => path));
  for (const { path } of files) {
    const text = await tree.read(path);
    if (text === null) return `${path}, which cannot be read`;
    const found = readerIn({ path, text }, { reading, links, syntax });
    if (found !== null) return found;
  }
  return null;
}

function isCode(path: string): boolean {
  return /\.(tf|tofu|tfvars|hcl)(\.json)?$/.test(path);
}

function readerIn(
  { path, text }: { readonly path: string; readonly text: string },
  {
    reading,
    links,
    syntax,
  }: { readonly reading: FileReading; readonly links: ReadonlySet<string>; readonly syntax: Syntax },
): string | null {
  const { target, node: own } = reading;
  const names = [basename(target), basename(dirname(target))].some((each) => text.includes(each));
  if (path.endsWith(".json")) return text.includes(basename(target)) ? path : null;
  if (!names && !/\b(file\w*|templatefile)\s*\(/.test(text)) return null;
  const root = syntax.parse(text);
  const found = pathsIn(text, root)
    .filter(({ node }) => path !== reading.path || node.start < own.start || node.end > own.end)
    .find((each) => mayBe(each, path, target) || goesOver(each, path, { links, target }));
  if (found !== undefined) return placeOf({ path, text }, found.node);
  // What was not understood may be anything.
  return root.isBroken && text.includes(basename(target)) && path !== reading.path ? path : null;
}
