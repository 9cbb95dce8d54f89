import { placeOf } from "./edit-source.js";
import { nodesIn, type SyntaxNode, TooDeep } from "./hcl-syntax.js";
import { jsonPaths, templatePaths } from "./json-texts.js";
import { hasNameOf, mayName, pathsIn, type ReadTarget, type WrittenPath } from "./read-paths.js";
import { type CodeFile, isTemplate, type Repository } from "./repository.js";
import { withoutComments } from "./splice.js";

/** An attribute that reads a file. */
export interface FileReading {
  /** The file that it reads. */
  readonly target: string;
  /** The folder of the module that it is written in. */
  readonly module: string;
  /** Where it is written. */
  readonly path: string;
  readonly node: SyntaxNode;
}

/**
 * Where else in its repository a file may be read, in words; null when nothing else reads it. Looks at all configuration:
 * what functions and attributes that read files are given, in templates too, and texts that name the file. A path that is not known whole
 * may be any that its known parts allow. What other programs read it does not know.
 */
export async function findOtherReader(repository: Repository, reading: FileReading): Promise<string | null> {
  const code = await repository.code();
  if ("fault" in code) return `the repository cannot be looked through, since ${code.fault}`;
  const templates = await repository.templates();
  if ("fault" in templates) return `the templates cannot be looked through, since ${templates.fault}`;
  const { target, module } = reading;
  const { links } = repository;
  for (const file of [...code.files, ...templates.files]) {
    const found = readerIn(repository, file, { reading, of: { target, module, links } });
    if (found !== null) return `at ${found}`;
  }
  return null;
}

/** What may read a file, or hold its name in parts. */
const MAY_READ = /file|read|path|source_dir/i;

function readerIn(
  repository: Repository,
  file: CodeFile,
  { reading, of }: { readonly reading: FileReading; readonly of: ReadTarget },
): string | null {
  const { path, text } = file;
  const isNamed = of.links.namesOf(of.target).some((name) => hasNameOf(text, name));
  if (!isNamed && !MAY_READ.test(text)) return null;
  const read = readPaths(repository, file);
  if (read === null) return `${path}, which nests too deeply to be looked through`;
  const { root, paths } = read;
  const isOwn = ({ start, end }: SyntaxNode) =>
    path === reading.path && start >= reading.node.start && end <= reading.node.end;
  const found = paths.find((each) => !isOwn(each.node) && mayName(each, path, of));
  if (found !== undefined) return placeOf(file, found.node);
  const missed = root?.isBroken === true ? missedIn(text, root, path === reading.path ? "" : of.target) : null;
  return missed === null ? null : placeOf(file, { start: missed });
}

/** The paths that a file may name, with the syntax of HCL; null for what nests too deeply. */
function readPaths(
  repository: Repository,
  file: CodeFile,
): { readonly root: SyntaxNode | null; readonly paths: readonly WrittenPath[] } | null {
  const { path, text } = file;
  const { syntax } = repository;
  try {
    if (isTemplate(path)) return { root: null, paths: templatePaths(text, syntax) };
    if (path.endsWith(".json")) return { root: null, paths: jsonPaths(text, syntax) };
  } catch (error) {
    if (error instanceof TooDeep) return null;
    throw error;
  }
  const root = repository.parse(file);
  return root === null ? null : { root, paths: pathsIn(text, root) };
}

/** Where a part of a file that was not understood may read a file, or names the target; null for nowhere. */
function missedIn(text: string, root: SyntaxNode, target: string): number | null {
  const known = new Set(nodesIn(root, "function_call").map(({ start }) => start));
  const code = withoutComments(text, root);
  const call = [...code.matchAll(/[\w:]*(?:file|read)\w*(?=\s*\()/gi)].find(({ index }) => !known.has(index));
  const name = target.slice(target.lastIndexOf("/") + 1);
  const named = name === "" ? -1 : code.indexOf(name);
  return call?.index ?? (named < 0 ? null : named);
}
