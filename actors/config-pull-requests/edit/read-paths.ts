import { basename, dirname, posix } from "node:path";
import { elementsOf, innerOf, nodesIn, type Syntax, type SyntaxNode, textOf } from "./hcl-syntax.js";
import { isWithin, type Links } from "./links.js";
import {
  foldersOf,
  hasKnownEnd,
  mayBe,
  mayEndWith,
  onlyPath,
  type PathParts,
  type PathPattern,
  toPattern,
} from "./path-pattern.js";

/** A path in an expression, as far as it is known. */
export interface WrittenPath {
  /** Where the path starts: `module` is the folder of the file, `any` an unknown folder. */
  readonly from: "module" | "any";
  readonly parts: PathParts;
  /**
   * `read`: the path is an argument of a function or attribute that reads files. `path`: it starts with `path.module`
   * or a similar folder, so it is a path, whatever its purpose. `text`: a text that may be a path.
   */
  readonly use: "read" | "path" | "text";
  readonly node: SyntaxNode;
}

/** Functions that read files, including provider functions: `file`, `templatefile`, `provider::local::readfile`. */
const READS = /file|read/i;
/** Functions that build paths from their arguments. */
const MAKES = /^(join|format|abspath|pathexpand)$/;
/** Resource attributes that take a file to read. */
const READ_ATTRIBUTE = /^(filename|folder|working_dir|\w+_(file|dir|directory)|dir|directory|source_path|src)$/;

/** Returns all paths that a part of a file may name. */
export function pathsIn(text: string, node: SyntaxNode): readonly WrittenPath[] {
  const inner = innerOf(node);
  const read = readingOf(text, inner);
  const own = [...(read === null ? [] : [read.path]), ...readByAttribute(text, inner), ...writtenOut(text, inner)];
  // A literal argument of a reading function is already listed as `read`; do not list it again as `text`.
  const below = inner.children.flatMap((each) => (each.type === "function_arguments" ? each.children : [each]));
  return [
    ...own,
    ...below.flatMap((each) => {
      const given = innerOf(each);
      return read?.given.includes(each) === true && /^(quoted_template|literal_value)$/.test(given.type)
        ? given.children.flatMap((part) => pathsIn(text, part).filter(({ use }) => use === "read"))
        : pathsIn(text, each);
    }),
  ];
}

/** Returns the path that a function call reads, and the arguments that give it; null if the function reads no file. */
function readingOf(text: string, node: SyntaxNode) {
  if (node.type !== "function_call") return null;
  const { name, given } = callOf(text, node);
  const [first] = given;
  if (first === undefined || !READS.test(name)) return null;
  // `fileset` takes a folder and a pattern in it. For other functions, only the first argument is a path.
  const paths = name === "fileset" ? given : [first];
  const parts = paths.flatMap((each, index) => [...(index > 0 ? ["/"] : []), ...partsOf(text, each)]);
  return { path: toPath(name === "fileset" ? parts.flatMap(globbed) : parts, node, "read"), given: paths };
}

function readByAttribute(text: string, node: SyntaxNode): readonly WrittenPath[] {
  const [name, value] = [node.children[0], node.children.at(-1)];
  if (!/^(attribute|object_elem)$/.test(node.type) || name === undefined || value === undefined || name === value)
    return [];
  const parts = partsOf(text, value);
  const [begin, ...rest] = parts;
  // Code that is given the module's own folder may read everything in it.
  const isFolder = (begin === MODULE || begin === PROGRAM) && rest.every((part) => /^[/.]*$/.test(String(part)));
  const isTold = parts.some((part) => part !== null);
  return isFolder || (READ_ATTRIBUTE.test(textOf(text, name)) && isTold) ? [toPath(parts, value, "read")] : [];
}

function writtenOut(text: string, node: SyntaxNode): readonly WrittenPath[] {
  const isMade = node.type === "function_call" && MAKES.test(callOf(text, node).name);
  if (!isMade && !/^(quoted_template|string_lit|literal_value)$/.test(node.type)) return [];
  return [toPath(partsOf(text, node), node, "text")];
}

/** Returns the path in an expression that is given as text. */
export function pathOf(syntax: Syntax, expression: string): Pick<WrittenPath, "from" | "parts"> {
  const text = `_ = ${expression}\n`;
  const value = nodesIn(syntax.parse(text), "expression")[0];
  return value === undefined ? { from: "any", parts: [null] } : toPath(partsOf(text, value), value, "text");
}

/** Returns the path in a JSON string that is not a template. */
export function plainPath(text: string, node: SyntaxNode): WrittenPath {
  return toPath([text.normalize("NFC")], node, "text");
}

/** Returns the content of a heredoc as a path. */
export function heredocPath(text: string, heredoc: SyntaxNode): WrittenPath {
  const [start, end] = [text.indexOf("\n", heredoc.start) + 1, text.lastIndexOf("\n", heredoc.end - 1)];
  return toPath(templateParts(text, heredoc, { start, end }), heredoc, "text");
}

/** Markers for the start of a path: the module's folder, and the program's folders, which a file does not reveal. */
const MODULE = Symbol("path.module");
const PROGRAM = Symbol("path.root, path.cwd");
type Part = string | null | typeof MODULE | typeof PROGRAM;

function partsOf(text: string, expression: SyntaxNode): readonly Part[] {
  const inner = innerOf(expression);
  switch (inner.type) {
    case "literal_value":
    case "string_lit":
      return [readPart(textOf(text, inner).replace(/^"|"$/g, ""))];
    case "quoted_template":
      return templateParts(text, inner, { start: inner.start + 1, end: inner.end - 1 });
    case "function_call":
      return callParts(text, inner);
    default:
      return namedParts(text, inner);
  }
}

function templateParts(
  text: string,
  template: SyntaxNode,
  { start, end }: { readonly start: number; readonly end: number },
): readonly Part[] {
  let at = start;
  const parts: Part[] = [];
  for (const each of template.children.filter(({ type }) => /^template_(interpolation|directive)$/.test(type))) {
    const expression = each.type === "template_interpolation" ? each.children.find(isExpression) : undefined;
    parts.push(readPart(text.slice(at, each.start)));
    parts.push(...(expression === undefined ? [null] : partsOf(text, expression)));
    at = each.end;
  }
  return [...parts, readPart(text.slice(at, end))].filter((each) => each !== "");
}

/** Returns the parts of the path that `abspath`, `pathexpand`, `format` or `join` builds. Other calls are unknown. */
function callParts(text: string, call: SyntaxNode): readonly Part[] {
  const { name, given } = callOf(text, call);
  const [first, second] = given;
  if (first === undefined) return [null];
  if (name === "abspath" || name === "pathexpand") return partsOf(text, first);
  if (name === "format") return formatParts(text, first, given.slice(1));
  const list = second === undefined ? second : innerOf(second);
  if (name !== "join" || given.length !== 2 || list?.type !== "tuple") return [null];
  const glue = partsOf(text, first);
  return elementsOf(list).flatMap((each, index) => [...(index > 0 ? glue : []), ...partsOf(text, each)]);
}

/** Returns the parts that `format` produces. Each verb takes the next value; only `%s`, `%d` and `%v` are known. */
function formatParts(text: string, format: SyntaxNode, values: readonly SyntaxNode[]): readonly Part[] {
  const [written, ...more] = partsOf(text, format);
  if (typeof written !== "string" || more.length > 0 || /%[^sdv%]/.test(written)) return [null];
  let next = 0;
  return written.split(/(%[sdv%])/).flatMap((part): readonly Part[] => {
    if (part === "%%") return ["%"];
    if (!/^%[sdv]$/.test(part)) return part === "" ? [] : [part];
    const value = values[next];
    next += 1;
    return value === undefined ? [null] : partsOf(text, value);
  });
}

function namedParts(text: string, node: SyntaxNode): readonly Part[] {
  const [only] = node.children.filter(({ type }) => type !== "comment");
  if (node.type === "expression" && only?.type === "expression") return partsOf(text, only);
  const written = textOf(text, node).replace(/\s+/g, "");
  if (written === "path.module") return [MODULE];
  return [/^path\.\w+$/.test(written) ? PROGRAM : null];
}

function callOf(text: string, call: SyntaxNode) {
  const [name, list] = [call.children[0], call.children.find(({ type }) => type === "function_arguments")];
  return { name: name === undefined ? "" : textOf(text, name), given: list?.children.filter(isExpression) ?? [] };
}

function isExpression({ type }: SyntaxNode): boolean {
  return type === "expression";
}

/** Returns a text in Unicode NFC, as HCL reads it. A text with escapes is unknown. */
function readPart(written: string): string | null {
  return written.includes("\\") ? null : written.normalize("NFC");
}

/** Splits a `fileset` pattern. Its wildcards are unknown parts. */
function globbed(part: Part): readonly Part[] {
  if (typeof part !== "string") return [part];
  return part.split(/([*?]+|\{[^}]*\}|\[[^\]]*\])/).map((each) => (/^[*?{[]/.test(each) ? null : each));
}

function toPath(parts: readonly Part[], node: SyntaxNode, use: "read" | "text"): WrittenPath {
  const [begin] = parts;
  const isPlaced = begin === MODULE || begin === PROGRAM;
  const known = (begin === MODULE ? parts.slice(1) : parts).map((part) => (typeof part === "string" ? part : null));
  const from = begin === MODULE ? "module" : "any";
  return { from, parts: known, node, use: use === "text" && isPlaced ? "path" : use };
}

/** A file that may be read elsewhere, and the folder of the module that it belongs to. */
export interface ReadTarget {
  readonly target: string;
  readonly module: string;
  readonly links: Links;
}

/** Whether a path in the file at `file` may be the target or a folder that contains it, also through symlinks. */
export function mayName(written: WrittenPath, file: string, of: ReadTarget): boolean {
  const { target, links } = of;
  const isAbsolute = written.use === "read" && written.from === "any" && /^[/~]/.test(written.parts[0] ?? "");
  const bases = written.from === "module" ? links.namesOf(dirname(file)) : [null];
  return bases.some((base) => {
    const pattern = toPattern(base, written.parts);
    const path = onlyPath(pattern);
    const followed = path === null ? null : links.follow(path);
    // The target of a symlink on the way was not read, so the path may lead anywhere.
    if (followed === undefined) return true;
    const fits = (name: string): boolean => mayBe(pattern, name) || (isAbsolute && mayEndWith(pattern, name));
    const isNamed = (name: string): boolean => (path === null ? links.namesOf(name).some(fits) : followed === name);
    if (isNamed(target)) return written.use === "read" || isTold(written, pattern, { file, target });
    return (
      (written.use !== "text" || path === null || path !== base) && foldersNamed(written, pattern, of).some(isNamed)
    );
  });
}

/**
 * Whether a text that no function reads is a path. It is one if it starts at `path.module` or a similar folder and adds
 * a name. Otherwise its last part must be known. A single text without a slash counts only if it is the target's path,
 * from the file's folder or from the root.
 */
function isTold(
  { parts, use }: WrittenPath,
  pattern: PathPattern,
  { file, target }: { readonly file: string; readonly target: string },
): boolean {
  if (use === "path" && parts.some((part) => /[^/.]/.test(part ?? ""))) return true;
  if (!hasKnownEnd(pattern)) return false;
  if (use === "path" || parts.length > 1) return true;
  const text = parts[0] ?? "";
  return text.includes("/") || posix.join(dirname(file), text) === target || text === target;
}

/** Returns the folders of the target that a path may name. Code that takes a folder may read everything in it. */
function foldersNamed({ parts, use }: WrittenPath, pattern: PathPattern, of: ReadTarget): readonly string[] {
  const isRoot = pattern.steps.length === 0 && use !== "text";
  if (!isRoot && !hasKnownEnd(pattern)) return [];
  const folders = [...foldersOf(of.target), "."];
  if (use !== "text") return folders;
  // A string like this may also be the source of a module call. For folders below the module's own folder, that is
  // impossible.
  const isWhole = parts.length === 1 && parts[0]?.includes("/") === true;
  return isWhole ? folders.filter((folder) => folder !== of.module && isWithin(folder, of.module)) : [];
}

/** Whether a text contains the name of the file or of its folder. */
export function hasNameOf(text: string, target: string): boolean {
  return [basename(target), basename(dirname(target))].some((each) => text.includes(each));
}
