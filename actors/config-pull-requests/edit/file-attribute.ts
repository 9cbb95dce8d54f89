import { dirname, posix } from "node:path";
import { refuse, type Source, toPlace } from "./edit-source.js";
import { type SyntaxNode, toInner, toText } from "./hcl-syntax.js";
import { isWithin, type Links } from "./links.js";
import type { TreeEntry } from "./station-edit.js";

/** Matches `file("${path.module}/prompts/plan.md")` with a literal path. */
const FILE = /^file\(\s*"\$\{\s*path\.module\s*\}\/([^"\\$%]+)"\s*\)$/;
/** Matches `file` with a path after `path.root`, or with a relative path. Both start in the root module's folder. */
const ROOT_FILE = /^file\(\s*"(?:\$\{\s*path\.root\s*\}\/|(?![/~]))([^"\\$%]+)"\s*\)$/;
/**
 * Matches `chomp(…)`. If a text has no final newline, `signalbox export` writes `chomp(file(…))` instead of `file(…)`.
 */
const CHOMP = /^chomp\(\s*(.*?)\s*\)$/s;

/** A file that an attribute reads. */
export interface FileAttribute {
  readonly path: string;
  /** Whether `chomp` removes the newlines at the end of the file from the attribute's value. */
  readonly isChomped: boolean;
}

/**
 * Returns the file that an expression reads with `file(…)` or `chomp(file(…))`. The path must be a literal after
 * `path.module`. In a root module, the path may also follow `path.root` or be relative. Returns null for any other
 * expression, and for a path that is not in Unicode NFC, because HCL would read another path.
 */
export function findFile(
  { path, text, isRoot }: Pick<Source, "path" | "text" | "isRoot">,
  expression: SyntaxNode,
): FileAttribute | null {
  const inner = toInner(expression);
  const [only, other] = inner.children.filter(({ type }) => type !== "comment");
  // Parentheses do not change the meaning.
  if (inner.type === "expression" && only?.type === "expression" && other === undefined)
    return findFile({ path, text, isRoot }, only);
  if (inner.type !== "function_call") return null;
  const call = toText(text, inner);
  const chomped = CHOMP.exec(call)?.[1];
  const read = chomped ?? call;
  const written = (FILE.exec(read) ?? (isRoot ? ROOT_FILE.exec(read) : null))?.[1];
  if (written === undefined || written !== written.normalize("NFC")) return null;
  return { path: posix.join(dirname(path), written), isChomped: chomped !== undefined };
}

/** Refuses a file that is outside the module's folder, is missing, or is reached through a symlink. */
export function refuseOtherFile(
  source: Source,
  { entries, links }: { readonly entries: readonly TreeEntry[]; readonly links: Links },
  { target, node, attribute }: { readonly target: string; readonly node: SyntaxNode; readonly attribute: string },
): void {
  const about = { attribute, expression: toText(source.text, node) };
  const folder = dirname(source.path);
  const begin = `At ${toPlace(source, node)}, ${attribute} is the file ${target}, which`;
  if (target.startsWith("../") || !isWithin(target, folder)) {
    refuse("ambiguous", `${begin} is outside the module: other modules may read it.`, about);
  }
  const link = links.on(target);
  if (link !== null) refuse("ambiguous", `${begin} is reached through the symlink ${link}.`, about);
  if (entries.find(({ path }) => path === target)?.kind !== "file")
    refuse("not-found", `${begin} does not exist.`, about);
}
