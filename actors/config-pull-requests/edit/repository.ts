import { dirname } from "node:path";
import { type Syntax, type SyntaxNode, TooDeep } from "./hcl-syntax.js";
import { isJson, readJson } from "./json-code.js";
import { findLinks, type Links } from "./links.js";
import type { Parsers } from "./parsers.js";
import type { SourceTree, TreeEntry, UnreadFile } from "./station-edit.js";

/** A configuration file: HCL, or Terraform's JSON syntax. */
export interface CodeFile {
  readonly path: string;
  readonly text: string;
}

/** The configuration files, or a clause that says why the complete list is unknown. */
export type CodeFiles = { readonly files: readonly CodeFile[] } | { readonly fault: string };

/** A repository at one commit, as an edit searches it. Each file is read and parsed once. */
export interface Repository {
  readonly entries: readonly TreeEntry[];
  /** Whether `entries` is the complete list. */
  readonly isWhole: boolean;
  readonly links: Links;
  readonly syntax: Syntax;
  /** Reports the file that is parsed next, for the message of an edit that takes too long. */
  onFile(path: string): void;
  read(path: string): Promise<string | UnreadFile>;
  /** Reads all configuration files in the repository. */
  code(): Promise<CodeFiles>;
  /** Reads all files that have the ending of a template. Functions in templates may read other files. */
  templates(): Promise<CodeFiles>;
  /**
   * Reads other files that may be templates. Leaves out files that are not UTF-8 text, because they cannot be
   * templates.
   */
  texts(paths: readonly string[]): Promise<CodeFiles>;
  /** Reads files that may run Terraform or describe its runs. Skips files that are not text, or larger than 1 MiB. */
  runs(paths: readonly string[]): Promise<CodeFiles>;
  /** Reads the module files directly in a folder, without variable files. */
  module(folder: string): Promise<CodeFiles>;
  /**
   * Reads the files that `isWanted` selects by path from the variable files and other HCL files that may be variable
   * files.
   */
  values(isWanted: (path: string) => boolean): Promise<CodeFiles>;
  /** Returns the syntax tree of a file; null for JSON, and for a file that nests too deeply. */
  parse(file: CodeFile): SyntaxNode | null;
}

/** Maximum number of files to read for one search. Each file needs a request to the code host. */
export const MAX_FILES = 400;
const RUNS = "files that may run Terraform";
const NO_JSON = "is not a JSON object, or repeats a name in an object";
/** Maximum number of files to read at the same time. */
const TOGETHER = 8;

/** Opens a repository. Lists its entries, but reads no file yet. */
export async function openRepository(
  tree: SourceTree,
  { syntax, onFile }: Omit<Parsers, "parseValues">,
): Promise<Repository> {
  const { entries, isWhole } = await tree.list();
  const texts = new Map<string, Promise<string | UnreadFile>>();
  const roots = new Map<string, SyntaxNode | null>();
  const read = (path: string): Promise<string | UnreadFile> => {
    const text = texts.get(path) ?? tree.read(path).then((given) => given ?? { unread: "missing" });
    texts.set(path, text);
    return text;
  };
  const readAll = async (paths: readonly string[], kind = "files of HCL"): Promise<CodeFiles> => {
    const isTexts = kind !== "files of HCL";
    if (paths.length > MAX_FILES) return { fault: `it has ${paths.length} ${kind}, more than ${MAX_FILES}` };
    const files: CodeFile[] = [];
    for (let at = 0; at < paths.length; at += TOGETHER) {
      const some = paths.slice(at, at + TOGETHER);
      for (const [index, text] of (await Promise.all(some.map(read))).entries()) {
        const path = some[index] ?? "";
        if (isTexts && typeof text === "object" && (text.unread !== "large" || kind === RUNS)) continue;
        if (typeof text !== "string") return { fault: `${path} ${whyUnread(text)}` };
        if (isJson(path) && !isTexts && readJson(text) === null) return { fault: `${path}:1 ${NO_JSON}` };
        files.push({ path, text });
      }
    }
    return { files };
  };
  const files = entries.filter(({ kind }) => kind === "file" || kind === "symlink").map(({ path }) => path);
  const paths = files.filter(isCode);
  return {
    entries,
    isWhole,
    links: findLinks(entries),
    syntax,
    read,
    onFile: (path) => onFile?.(path),
    async code() {
      return isWhole ? readAll(paths) : { fault: "it is too large for the code host to list completely" };
    },
    templates: () => readAll(files.filter(isTemplate)),
    texts: (some) => readAll(some, "templates"),
    runs: (some) => readAll(some, RUNS),
    values: (isWanted) => readAll(paths.filter((path) => (isValues(path) || isNamedValues(path)) && isWanted(path))),
    module: (folder) => readAll(paths.filter((path) => dirname(path) === folder && isModuleFile(path))),
    parse(file) {
      const known = roots.get(file.path);
      if (known !== undefined) return known;
      onFile?.(file.path);
      const root = isJson(file.path) ? null : parseOrNull(syntax, file.text);
      roots.set(file.path, root);
      return root;
    },
  };
}

function parseOrNull(syntax: Syntax, text: string): SyntaxNode | null {
  try {
    return syntax.parse(text);
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    return null;
  }
}

/** Whether a file holds configuration: a module, variable values, or module calls of a tool such as Terragrunt. */
export function isCode(path: string): boolean {
  const isHcl = /\.(tf|tofu|tfvars|hcl|tm)(\.json)?$/.test(path) && !path.endsWith(".terraform.lock.hcl");
  return isHcl || /\.(tftest|tofutest|tfmock|tofumock|tfquery|tfstack|tfcomponent|tfdeploy)\.json$/.test(path);
}

/**
 * Whether a file may belong to Terragrunt, Terramate or Terraform stacks: a configuration file that is not a module
 * file, not a variable file, and not a test. Tests do not count, because Terraform destroys their resources after the
 * test.
 */
export function isPlan(path: string): boolean {
  return (
    isCode(path) && !isModuleFile(path) && !isValues(path) && !/\.(tftest|tofutest|tfmock|tofumock)\.\w+$/.test(path)
  );
}

/** Whether a file has the ending of a template for Terraform's template functions. */
function isTemplate(path: string): boolean {
  return /\.(tftpl|tpl|tmpl)$/.test(path);
}

/** Whether a file is a Terraform variable file (`.tfvars`). */
export function isValues(path: string): boolean {
  return /\.tfvars(\.json)?$/.test(path);
}

/**
 * Whether a file may be a variable file with another ending. False for files with the usual names of Terragrunt and
 * Packer.
 */
export function isNamedValues(path: string): boolean {
  return isPlan(path) && /\.hcl$/.test(path) && !/(^|\/)terragrunt(\.stack)?\.hcl$|\.pkr(vars)?\.hcl$/.test(path);
}

/** Whether Terraform reads a file as part of its folder's module. */
export function isModuleFile(path: string): boolean {
  return /(^|\/)[^./~#][^/]*\.(tf|tofu)(\.json)?$/.test(path);
}

/** Returns the folders that directly contain module files. */
export function moduleFolders(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.filter(isModuleFile).map((path) => dirname(path)));
}

/** Whether a file is an override file, which replaces parts of its module's other files. */
export function isOverride(path: string): boolean {
  return /(^|[/_])override\.(tf|tofu)(\.json)?$/.test(path);
}

/** Returns why a file was not read, as the end of a sentence about the file. */
export function whyUnread({ unread }: UnreadFile): string {
  return {
    missing: "does not exist",
    large: "is larger than 1 MiB, the most that is read",
    "utf-16": "is text in UTF-16; save it as UTF-8",
    binary: "is binary, no text",
    encoding: "is not UTF-8 text",
  }[unread];
}
