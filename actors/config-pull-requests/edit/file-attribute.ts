import { dirname, posix } from "node:path";
import { placeOf, refuse, type Source } from "./edit-source.js";
import { innerOf, type SyntaxNode, textOf } from "./hcl-syntax.js";
import { isWithin, type Links } from "./links.js";
import type { TreeEntry } from "./station-edit.js";

/** `file("${path.module}/prompts/plan.md")`, of a path that is written out. */
const FILE = /^file\(\s*"\$\{\s*path\.module\s*\}\/([^"\\$%]+)"\s*\)$/;

/** The path of the file whose text an expression is; null for any other expression, and where HCL reads it in another form. */
export function fileOf({ path, text }: Pick<Source, "path" | "text">, expression: SyntaxNode): string | null {
  const inner = innerOf(expression);
  const [only, other] = inner.children.filter(({ type }) => type !== "comment");
  // Within `(…)` it says the same.
  if (inner.type === "expression" && only?.type === "expression" && other === undefined)
    return fileOf({ path, text }, only);
  if (inner.type !== "function_call") return null;
  const written = FILE.exec(textOf(text, inner))?.[1];
  return written === undefined || written !== written.normalize("NFC") ? null : posix.join(dirname(path), written);
}

/** Refuses a file that is not right within the module: outside its folder, not there, or behind a symlink. */
export function refuseOtherFile(
  source: Source,
  { entries, links }: { readonly entries: readonly TreeEntry[]; readonly links: Links },
  { target, node, attribute }: { readonly target: string; readonly node: SyntaxNode; readonly attribute: string },
): void {
  const about = { attribute, expression: textOf(source.text, node) };
  const folder = dirname(source.path);
  const begin = `At ${placeOf(source, node)}, ${attribute} is the file ${target}, which`;
  if (target.startsWith("../") || !isWithin(target, folder)) {
    refuse("ambiguous", `${begin} lies outside the module: others may read it.`, about);
  }
  const link = links.on(target);
  if (link !== null) refuse("ambiguous", `${begin} is reached over the symlink ${link}.`, about);
  if (entries.find(({ path }) => path === target)?.kind !== "file")
    refuse("not-found", `${begin} is not there.`, about);
}
