import { dirname } from "node:path";
import { type Syntax, type SyntaxNode, TooDeep } from "./hcl-syntax.js";
import { findLinks, type Links } from "./links.js";
import type { SourceTree, TreeEntry, UnreadFile } from "./station-edit.js";

/** A file of configuration: HCL, or JSON that says the same. */
export interface CodeFile {
  readonly path: string;
  readonly text: string;
}

/** The files that configuration is written in, or why they cannot all be known, as a part of a sentence. */
export type CodeFiles = { readonly files: readonly CodeFile[] } | { readonly fault: string };

/** A repository at one commit, as an edit looks through it. Each file is read and parsed once. */
export interface Repository {
  readonly entries: readonly TreeEntry[];
  /** Whether `entries` are all of them. */
  readonly isWhole: boolean;
  readonly links: Links;
  readonly syntax: Syntax;
  read(path: string): Promise<string | UnreadFile>;
  /** All files of configuration in the repository. */
  code(): Promise<CodeFiles>;
  /** Templates that may read files themselves. */
  templates(): Promise<CodeFiles>;
  /** Those right within the folder of a module, without variables' values. */
  module(folder: string): Promise<CodeFiles>;
  /** The files of variables' values that are chosen by their paths. */
  values(isWanted: (path: string) => boolean): Promise<CodeFiles>;
  /** The syntax of a file; null for JSON, and for what nests too deeply. */
  parse(file: CodeFile): SyntaxNode | null;
}

/** Most files of configuration that are looked through: each is a request to the code host. */
const MAX_FILES = 400;
/** Files that are read at the same time. */
const TOGETHER = 8;

/** Opens a repository: lists it, and reads nothing yet. */
export async function openRepository(tree: SourceTree, syntax: Syntax): Promise<Repository> {
  const { entries, isWhole } = await tree.list();
  const texts = new Map<string, Promise<string | UnreadFile>>();
  const roots = new Map<string, SyntaxNode | null>();
  const read = (path: string): Promise<string | UnreadFile> => {
    const text = texts.get(path) ?? tree.read(path).then((given) => given ?? { unread: "missing" });
    texts.set(path, text);
    return text;
  };
  const readAll = async (paths: readonly string[]): Promise<CodeFiles> => {
    if (paths.length > MAX_FILES) return { fault: `it has ${paths.length} files of HCL, more than ${MAX_FILES}` };
    const files: CodeFile[] = [];
    for (let at = 0; at < paths.length; at += TOGETHER) {
      const some = paths.slice(at, at + TOGETHER);
      for (const [index, text] of (await Promise.all(some.map(read))).entries()) {
        const path = some[index] ?? "";
        if (typeof text !== "string") return { fault: `${path} ${whyUnread(text)}` };
        files.push({ path, text });
      }
    }
    return { files };
  };
  const files = entries.filter(({ kind }) => kind === "file" || kind === "symlink").map(({ path }) => path);
  const paths = files.filter(isCode);
  return {
    ...{ entries, isWhole, links: findLinks(entries), syntax, read },
    async code() {
      return isWhole ? readAll(paths) : { fault: "it is too large for the code host to list it whole" };
    },
    templates: () => readAll(files.filter(isTemplate)),
    values: (isWanted) => readAll(paths.filter((path) => isValues(path) && isWanted(path))),
    module: (folder) => readAll(paths.filter((path) => dirname(path) === folder && isModuleFile(path))),
    parse(file) {
      const known = roots.get(file.path);
      if (known !== undefined) return known;
      const root = file.path.endsWith(".json") ? null : parseOrNull(syntax, file.text);
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

/** Whether a file is of configuration: modules, variables' values, and what calls modules in their place. */
export function isCode(path: string): boolean {
  return /\.(tf|tofu|tfvars|hcl)(\.json)?$/.test(path) && !path.endsWith(".terraform.lock.hcl");
}

/** Whether a file is a template as Terraform's own functions render it. */
export function isTemplate(path: string): boolean {
  return /\.(tftpl|tpl|tmpl)$/.test(path);
}

/** Whether a file holds variables' values. */
export function isValues(path: string): boolean {
  return /\.tfvars(\.json)?$/.test(path);
}

/** Whether a file is read as part of its folder's module. */
export function isModuleFile(path: string): boolean {
  return /(^|\/)[^./~#][^/]*\.(tf|tofu)(\.json)?$/.test(path);
}

/** Whether a file replaces parts of what the other files of its module say. */
export function isOverride(path: string): boolean {
  return /(^|[/_])override\.(tf|tofu)(\.json)?$/.test(path);
}

/** Why a file was not read, as the end of a sentence about it. */
export function whyUnread({ unread }: UnreadFile): string {
  return {
    missing: "is not there",
    large: "is larger than 1 MiB, the most that is read",
    "utf-16": "is text in UTF-16; save it as UTF-8",
    binary: "is binary, no text",
    encoding: "is no text in UTF-8",
  }[unread];
}
