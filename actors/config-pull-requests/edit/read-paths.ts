import { basename, dirname, posix } from "node:path";
import { innerOf, type SyntaxNode, textOf } from "./hcl-syntax.js";

/** A path as an expression gives it, as far as the expression tells. */
export interface WrittenPath {
  /** What it begins at: `module` is the folder of the file, `any` a folder that the file does not tell. */
  readonly from: "module" | "any";
  /** What follows; null stands for anything. */
  readonly parts: readonly (string | null)[];
  /** Whether a function that reads files is given it. */
  readonly isRead: boolean;
  readonly node: SyntaxNode;
}

const READS = /^(file\w*|templatefile)$/;

/** All paths that a file may name: what functions that read files are given, and texts that can be nothing else. */
export function pathsIn(text: string, node: SyntaxNode): readonly WrittenPath[] {
  const inner = innerOf(node);
  if (inner.type === "function_call") {
    const [name, given] = [inner.children[0], inner.children.find(({ type }) => type === "function_arguments")];
    const all = given?.children.filter(({ type }) => type === "expression") ?? [];
    if (name !== undefined && READS.test(textOf(text, name))) {
      // `fileset` takes a folder and a pattern below it; of others only the first argument is a path.
      const isSet = textOf(text, name) === "fileset";
      const parts = isSet ? all.flatMap((each) => [...partsOf(text, each), "/"]) : partsOf(text, all[0] ?? name);
      const read = toPath(isSet ? [...parts.slice(0, -1).flatMap(globbed)] : parts, { isRead: true, node: inner });
      return [read, ...all.slice(1).flatMap((each) => pathsIn(text, each))];
    }
  }
  if (inner.type === "quoted_template" || inner.type === "string_lit" || inner.type === "literal_value") {
    const parts = partsOf(text, inner);
    const known = toPath(parts, { isRead: false, node: inner });
    const below = inner.type === "quoted_template" ? inner.children.flatMap((each) => pathsIn(text, each)) : [];
    return known.parts.includes(null) ? below : [known, ...below];
  }
  return inner.children.flatMap((each) => pathsIn(text, each));
}

/** Marks where a path begins. */
const MODULE = Symbol("path.module");
type Part = string | null | typeof MODULE;

function partsOf(text: string, expression: SyntaxNode): readonly Part[] {
  const inner = innerOf(expression);
  if (inner.type === "literal_value" || inner.type === "string_lit") {
    return [readPart(textOf(text, inner).replace(/^"|"$/g, ""))];
  }
  const written = textOf(text, inner).trim();
  if (written === "path.module") return [MODULE];
  if (inner.type !== "quoted_template") return [null];
  let at = inner.start + 1;
  const parts: Part[] = [];
  for (const each of inner.children.filter(({ type }) => /^template_(interpolation|directive)$/.test(type))) {
    parts.push(readPart(text.slice(at, each.start)));
    parts.push(/^\$\{~?\s*path\.module\s*~?\}$/.test(textOf(text, each)) ? MODULE : null);
    at = each.end;
  }
  return [...parts, readPart(text.slice(at, inner.end - 1))].filter((each) => each !== "");
}

/** A part that is written with escapes is not looked into. HCL has texts in Unicode's form C. */
function readPart(written: string): string | null {
  return written.includes("\\") ? null : written.normalize("NFC");
}

/** The signs of a pattern stand for anything. */
function globbed(part: Part): readonly Part[] {
  if (typeof part !== "string") return [part];
  return part.split(/([*?]+|\{[^}]*\}|\[[^\]]*\])/).map((each) => (/^[*?{[]/.test(each) ? null : each));
}

function toPath(parts: readonly Part[], about: Pick<WrittenPath, "isRead" | "node">): WrittenPath {
  const isOfModule = parts[0] === MODULE;
  const rest = isOfModule ? parts.slice(1) : parts;
  return { from: isOfModule ? "module" : "any", parts: rest.map((part) => (part === MODULE ? null : part)), ...about };
}

/** Whether a path that the file at `file` names may be that of `target`. */
export function mayBe({ from, parts, isRead }: WrittenPath, file: string, target: string): boolean {
  const folder = dirname(file);
  const texts = parts.filter((part) => part !== null);
  if (texts.length === parts.length) {
    const written = posix.normalize(texts.join("").replace(/^\/+/, "") || ".");
    // A folder below the module's may be read with all that is in it.
    if (from === "module") return isWithin(target, posix.join(folder, written)) && (written !== "." || isRead);
    if (posix.join(folder, written) === target || written === target) return true;
    return target.endsWith(`/${written.replace(/^(\.\.\/)+/, "")}`) && (isRead || written.includes("/"));
  }
  const isOwn = target.startsWith(folder === "." ? "" : `${folder}/`);
  if (texts.length === 0) return isOwn;
  // Anything may be above what is not known, and what goes up is not followed.
  const wild = parts
    .map((part) => (part === null ? ".*" : escaped(part.replace(/^.*\.\.\//, "\0"))))
    .join("")
    .replace(/(\.\*)+/g, ".*");
  const tail = wild.replace(/^.*\0/s, ".*").replace(/^(\.?\/)+/, "");
  const begin = from === "module" && !wild.includes("\0") ? (folder === "." ? "" : `${escaped(folder)}/`) : "(.*/)?";
  const endsKnown = !tail.slice(tail.lastIndexOf("/") + 1).includes(".*");
  return new RegExp(`^${begin}${tail}$`, "s").test(target) && (from === "module" || isOwn || endsKnown);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Whether a path that is known goes over a symlink, to a file with this name. */
export function goesOver(
  path: WrittenPath,
  file: string,
  over: { readonly links: ReadonlySet<string>; readonly target: string },
): boolean {
  if (path.parts.includes(null) || over.links.size === 0) return false;
  const whole = posix.join(dirname(file), path.parts.join(""));
  const steps = whole.split("/").map((_, index, all) => all.slice(0, index + 1).join("/"));
  return basename(whole) === basename(over.target) && steps.some((each) => over.links.has(each));
}
