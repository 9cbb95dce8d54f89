import { dirname } from "node:path";
import { readCode } from "./code-blocks.js";
import { toPlace } from "./edit-source.js";
import { type GeneratedCode, readGenerated } from "./generated-code.js";
import { nodesIn, type SyntaxNode, TooDeep, toText } from "./hcl-syntax.js";
import { isJson } from "./json-code.js";
import { jsonPaths } from "./json-texts.js";
import type { NamedValue, Names } from "./path-parts.js";
import { hasNameOf, mayName, pathsIn, type ReadTarget, type WrittenPath } from "./read-paths.js";
import { type CodeFile, isModuleFile, type Repository } from "./repository.js";
import { withoutComments } from "./splice.js";
import { type FileReads, findTemplateReader } from "./template-readers.js";
import { unknownGivers } from "./variable-values.js";

/** An attribute that reads a file. */
export interface FileReading {
  /** The path of the file that the attribute reads. */
  readonly target: string;
  /** The folder of the module that contains the attribute. */
  readonly module: string;
  /** The file that contains the attribute. */
  readonly path: string;
  readonly node: SyntaxNode;
}

/**
 * Returns where else the repository may read a file, or why the repository cannot be searched, as text for a message.
 * Returns null if no other place may read the file. Searches all configuration, including generated code: arguments of
 * functions that read files, attributes that name files, function calls in templates, and strings that name the file.
 *
 * Locals, variables that always have their default, `join` and `format` are evaluated. Any other part of a path, such
 * as `path.root`, can be any text; see {@link toPattern} for the limits of such a part. Files that other programs read
 * are not found.
 */
export async function findOtherReader(repository: Repository, reading: FileReading): Promise<string | null> {
  const code = await repository.code();
  if ("fault" in code) return `the repository cannot be searched, because ${code.fault}`;
  const { target, module } = reading;
  const of = { target, module, links: repository.links };
  const namesIn = toNames(repository, code.files);
  const reads: FileReads[] = [];
  for (const file of code.files) {
    const read = readerIn(repository, file, { reading, of, names: namesIn(dirname(file.path)) });
    if ("found" in read) return `at ${read.found}`;
    reads.push({ file, paths: read.paths });
  }
  const template = await findTemplateReader(repository, reads, of);
  if (template !== null) return template;
  const generated = await readGenerated(repository, code.files);
  const found = generated.flatMap((each) => generatedReader(each, of) ?? [])[0];
  return found === undefined ? null : `at ${found}`;
}

/** Returns the place in generated code that may read the target; null if there is none. */
function generatedReader({ text, root, place, by }: GeneratedCode, of: ReadTarget): string | null {
  // The folder that the code is written into is unknown.
  const paths = pathsIn(text, root).map((path): WrittenPath => {
    return path.from === "module" ? { ...path, from: "any", parts: [null, ...path.parts] } : path;
  });
  const found = paths.find((each) => mayName(each, by.path, of))?.node.start;
  const missed = found ?? (root.isBroken ? missedIn(text, root, of.target) : null);
  return missed === null ? null : place(missed);
}

/**
 * Matches files that may call a reading function or build a path from parts. Other files are skipped, unless they
 * contain the name of the target or of its folder.
 */
const MAY_READ = /file|read|path|provisioner|command|inline|program|source|src|dir|folder|script|context|cwd/i;

function readerIn(
  repository: Repository,
  file: CodeFile,
  { reading, of, names }: { readonly reading: FileReading; readonly of: ReadTarget; readonly names: Names },
): { readonly found: string } | { readonly paths: readonly WrittenPath[] } {
  const { path, text } = file;
  const isNamed = of.links.listNames(of.target).some((name) => hasNameOf(text, name));
  if (!isNamed && !MAY_READ.test(text)) return { paths: [] };
  repository.onFile(path);
  const read = readPaths(repository, file, names);
  if (read === null) return { found: `${path}, which nests too deeply to be searched` };
  const { root, paths } = read;
  const isOwn = ({ start, end }: SyntaxNode) =>
    path === reading.path && start >= reading.node.start && end <= reading.node.end;
  const found = paths.find((each) => !isOwn(each.node) && mayName(each, path, of));
  if (found !== undefined) return { found: toPlace(file, found.node) };
  const missed = root?.isBroken === true ? missedIn(text, root, path === reading.path ? "" : of.target) : null;
  return missed === null ? { paths } : { found: toPlace(file, { start: missed }) };
}

/** Returns the paths that a file may name, with its syntax tree for HCL; null if the file nests too deeply. */
function readPaths(
  repository: Repository,
  file: CodeFile,
  names: Names,
): { readonly root: SyntaxNode | null; readonly paths: readonly WrittenPath[] } | null {
  const { path, text } = file;
  try {
    if (isJson(path)) return { root: null, paths: jsonPaths(text, repository.syntax) };
  } catch (error) {
    if (error instanceof TooDeep) return null;
    throw error;
  }
  const root = repository.parse(file);
  return root === null ? null : { root, paths: pathsIn(text, root, names) };
}

/**
 * Returns a function that gives the names of the module in a folder: its locals, and the variables that always have a
 * string as their default. A name is unknown if the module sets it twice, or if a unit with computed inputs may set it.
 */
function toNames(repository: Repository, files: readonly CodeFile[]): (folder: string) => Names {
  type Written = Pick<NamedValue, "text" | "node">;
  const modules = new Map<string, ReadonlyMap<string, readonly Written[]>>();
  const read = (folder: string) => {
    const found = new Map<string, Written[]>();
    for (const file of files.filter(({ path }) => dirname(path) === folder && isModuleFile(path))) {
      for (const { type, labels, nodes } of readCode(repository, file).blocks) {
        const value = nodes.get("default");
        const named = [
          ...(type === "locals" ? [...nodes].map(([name, node]) => [`local.${name}`, node] as const) : []),
          ...(type === "variable" && value !== undefined ? [[`var.${labels[0]}`, value] as const] : []),
        ];
        for (const [name, node] of named) found.set(name, [...(found.get(name) ?? []), { text: file.text, node }]);
      }
    }
    modules.set(folder, found);
    return found;
  };
  let set: ReadonlySet<string> | undefined;
  const isSet = (variable: string): boolean => {
    set ??= new Set(files.flatMap(({ text }) => [...text.matchAll(SET)].map(([, name = ""]) => name)));
    return set.has(variable);
  };
  let givers: ReturnType<typeof unknownGivers> | undefined;
  const isGiven = (folder: string, variable: string): boolean => {
    givers ??= unknownGivers(repository, files);
    return givers(folder, variable);
  };
  let left = MAX_FOLLOWED;
  const names =
    (folder: string, hops: number): Names =>
    (name) => {
      const [only, other] = (modules.get(folder) ?? read(folder)).get(name) ?? [];
      if (only === undefined || other !== undefined || hops === 0) return null;
      const variable = name.startsWith("var.") ? name.slice(4) : null;
      if (variable !== null && (!isText(only) || isSet(variable) || isGiven(folder, variable))) return null;
      left -= only.node.end - only.node.start;
      if (left < 0) return null;
      return { ...only, names: names(folder, hops - 1) };
    };
  return (folder) => names(folder, MAX_HOPS);
}

/** Matches a name that a file sets: an argument, a variable in a variable file or in `-var`, `TF_VAR_…`. */
const SET = /(?<![\w-])(?:TF_VAR_)?([A-Za-z_][\w-]*)"?\s*[=:](?![=>])/g;

function isText({ text, node }: Pick<NamedValue, "text" | "node">): boolean {
  return /^"[^"]+"$/.test(toText(text, node).trim());
}

/**
 * Maximum total length of the locals and variables that one search follows, in characters. Above it, further locals and
 * variables are unknown.
 */
const MAX_FOLLOWED = 100_000;
/** Maximum length of a chain of locals and variables to follow. */
const MAX_HOPS = 10;

/**
 * Returns the offset of the first call that the parser missed and that may read a file; otherwise the offset of the
 * target's name. Returns null if there is neither.
 */
function missedIn(text: string, root: SyntaxNode, target: string): number | null {
  const known = new Set(nodesIn(root, "function_call").map(({ start }) => start));
  const code = withoutComments(text, root);
  const call = [...code.matchAll(/[\w:]*(?:file|read)\w*(?=\s*\()/gi)].find(({ index }) => !known.has(index));
  const name = target.slice(target.lastIndexOf("/") + 1);
  const named = name === "" ? -1 : code.indexOf(name);
  return call?.index ?? (named < 0 ? null : named);
}
