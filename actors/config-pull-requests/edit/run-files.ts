import { basename, dirname } from "node:path";
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, type YAMLMap } from "yaml";
import { type CodeFile, MAX_FILES, moduleFolders, type Repository } from "./repository.js";

/** Commands and settings in a file that may run Terraform, in the order of the file. */
export interface RunText {
  readonly file: CodeFile;
  readonly lines: readonly RunLine[];
  /** The working folder that the file sets for the commands, as it is written; null if the file sets no folder. */
  readonly folder: string | null;
}

export interface RunLine {
  readonly text: string;
  /** Line number in the file, from 1. */
  readonly line: number;
}

/**
 * Whether a file may run Terraform or describe its runs, judged by its path: a CI file, build file, script, hook or
 * environment file, or any YAML file that is not a lock file.
 */
export function isRunFile(path: string): boolean {
  return (NAMES.test(path) || (SCRIPTS.test(path) && FOLDERS.test(path))) && !LOCKS.test(path);
}

const NAMES =
  /(^|\/)(Jenkinsfile[^/]*|(GNU)?makefile|\.?justfile|Rakefile|Earthfile|(Dockerfile|Containerfile)[^/]*|tasks\.py|noxfile\.py|fabfile\.py|package\.json|mise\.toml|\.?env(rc)?(\.[^/]*)?|[^/]*\.env)$|\.(ya?ml|mk|sh|bash|zsh|ksh|fish|ps1|psm1|bat|cmd|just|groovy|jenkinsfile)$/i;
/** Matches programs, and files without an extension. Such files count only in a folder that matches `FOLDERS`. */
const SCRIPTS = /(^|\/)[\w-]+$|\.(py|rb|js|mjs|cjs|ts|pl)$/;
const FOLDERS = /(^|\/)(s?bin|scripts?|ci|\.?ci|tools?|hack|build|deploy|\.(git)?hooks|hooks|\.husky|\.\w+)\//;
const LOCKS = /(^|\/)(pnpm-lock|[\w-]*\.lock|lock)\.ya?ml$/;

/**
 * Returns the files of a repository that may run Terraform. If there are too many files to read, leaves out YAML files
 * and scripts whose names and folders do not suggest that they run Terraform, such as the manifests of applications.
 */
export function readRunFiles(repository: Repository) {
  const paths = repository.entries.flatMap(({ kind, path }) => (kind === "file" && isRunFile(path) ? [path] : []));
  if (paths.length <= MAX_FILES) return repository.runs(paths);
  const modules = moduleFolders(repository.entries.map(({ path }) => path));
  const isNear = (path: string) => TELLING.test(path) || (dirname(path) !== "." && modules.has(dirname(path)));
  return repository.runs(paths.filter(isNear));
}

/** Matches files of CI services and build tools, files at the root, and paths with the name of a tool. */
const TELLING =
  /^[^/]+$|^\.[\w-]+\/(?!.*\/charts?\/)|(^|\/)(Jenkinsfile[^/]*|(GNU)?makefile|\.?justfile|Taskfile[^/]*|buildspec[^/]*|cloudbuild[^/]*|[^/]*pipelines?[^/]*)$|terraform|tofu|terragrunt|atmos|terrateam|digger|(^|\/)(stacks?|s?bin|scripts?|ci|flux|gitops|envs?|environments?|live)\/|\.mk$/i;

/** Returns the commands and settings in a file. YAML and JSON with a syntax error are read as plain text. */
export function readRunTexts(file: CodeFile): readonly RunText[] {
  const documents = /\.(ya?ml|json)$/.test(file.path) ? readDocuments(file.text) : null;
  if (documents === null) return [{ file, lines: plainLines(file), folder: null }];
  const found: RunText[] = [];
  let left = MAX_NODES;
  const open: { readonly node: unknown; readonly folder: string | null; readonly key: string }[] = [];
  for (const { root, resolve, lineAt } of documents) {
    open.push({ node: root, folder: null, key: "" });
    for (let each = open.pop(); each !== undefined && left > 0; each = open.pop()) {
      left -= 1;
      const { folder, key } = each;
      const node = resolve(each.node);
      if (isMap(node)) {
        const own = folderIn(node) ?? folder;
        const lines = pairLines(node, lineAt);
        if (lines.length > 0) found.push({ file, lines, folder: own });
        for (const pair of node.items) open.push({ node: pair.value, folder: own, key: String(pair.key) });
      } else if (isSeq(node)) {
        const lines = node.items.flatMap((item) => (isScalar(item) ? scalarLines(item, keyed(key), lineAt) : []));
        if (lines.length > 0) found.push({ file, lines: [...lines, ...joined(lines)], folder });
        for (const item of node.items) open.push({ node: item, folder, key: "" });
      }
    }
  }
  return found;
}

/** Maximum number of nodes of a YAML file to read, because aliases can repeat them without end. */
const MAX_NODES = 20_000;

/** A YAML document. `lineAt` returns the line of an offset, from 1. */
export interface YamlDocument {
  readonly root: unknown;
  /** The content as plain values; undefined if the document expands too many aliases. */
  readonly value: unknown;
  resolve(node: unknown): unknown;
  lineAt(offset: number): number;
}

/** Parses the YAML documents of a file. Returns null if any document has a syntax error. */
export function readDocuments(text: string): readonly YamlDocument[] | null {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, logLevel: "silent", uniqueKeys: false });
  if (!Array.isArray(documents) || documents.some(({ errors }) => errors.length > 0)) return null;
  return documents.map((document) => ({
    root: document.contents,
    get value() {
      try {
        return document.toJS({ maxAliasCount: 100 });
      } catch {
        return undefined;
      }
    },
    resolve: (node) => (isAlias(node) ? node.resolve(document) : node),
    lineAt: (offset) => lineCounter.linePos(offset).line,
  }));
}

/**
 * Returns the scalar values of a map as lines, such as `name: value`. A map such as `{ name: X, value: Y }` also gives
 * the line `X: Y`.
 */
function pairLines(map: YAMLMap, lineAt: YamlDocument["lineAt"]): readonly RunLine[] {
  const lines = map.items.flatMap(({ key, value }) =>
    isScalar(value) ? scalarLines(value, keyed(String(key)), lineAt) : [],
  );
  const name = map.get("name") ?? map.get("key");
  const value = map.get("value");
  const isNamed = typeof name === "string" && /^[A-Za-z_]\w*$/.test(name) && value !== undefined;
  return isNamed ? [...lines, { text: `${name}: ${String(value)}`, line: lineAt(map.range?.[0] ?? 0) }] : lines;
}

function keyed(key: string): string {
  return key === "" ? "" : `${key}: `;
}

function scalarLines(
  { value, range, type }: { value: unknown; range?: Node["range"]; type?: unknown },
  key: string,
  lineAt: YamlDocument["lineAt"],
): readonly RunLine[] {
  if (value === null || typeof value === "object") return [];
  const isBlock = String(type).startsWith("BLOCK");
  const line = lineAt(range?.[0] ?? 0);
  const lines = String(value).split("\n");
  return continued(
    lines.map((text, index) => ({
      text: index === 0 ? `${key}${text}` : text,
      line: isBlock ? line + index + 1 : line,
    })),
  );
}

/**
 * Returns the elements of a list as one line, because they may be the arguments of one command. Returns no line if an
 * element contains white space.
 */
function joined(lines: readonly RunLine[]): readonly RunLine[] {
  const [first] = lines;
  const words = lines.map(({ text }) => text.replace(/^\w+: /, ""));
  return first === undefined || words.some((word) => /\s/.test(word)) ? [] : [{ ...first, text: words.join(" ") }];
}

/** Names of settings for the working folder of commands. */
const WORKING =
  /^(working[-_]?dir(ectory)?|work_?dir|dir|cwd|chdir|tf_(root|dir|path|working_dir\w*)|terraform_dir\w*)$/i;
/** Names of maps whose working folder applies to the commands of the map that contains them. */
const OUTER = /^(defaults|default|run|variables|env|environment|with|inputs)$/;

/** Returns the working folder that a map sets for its commands; null if the map sets no folder. */
function folderIn(map: YAMLMap, depth = 0): string | null {
  for (const { key, value } of map.items) {
    const name = String(key);
    if (WORKING.test(name) && isScalar(value)) return String(value.value);
    const below = depth < 2 && OUTER.test(name) && isMap(value) ? folderIn(value, depth + 1) : null;
    if (below !== null) return below;
    const before = name === "before_script" && isSeq(value) ? value.items : [];
    for (const item of before) {
      const entered = isScalar(item) ? /^\s*cd\s+["']?([^\s"'&;]+)/.exec(String(item.value))?.[1] : undefined;
      if (entered !== undefined) return entered;
    }
  }
  return null;
}

function plainLines({ text }: CodeFile): readonly RunLine[] {
  return continued(text.split(/\r?\n/).map((each, index) => ({ text: each, line: index + 1 })));
}

/**
 * Joins a line that ends with a continuation character (backslash, caret or backtick) with the next line. Leaves out
 * comment lines.
 */
function continued(lines: readonly RunLine[]): readonly RunLine[] {
  const found: RunLine[] = [];
  let open: RunLine | null = null;
  for (const each of lines) {
    if (open === null && /^\s*(#|\/\/|::|REM\b)/.test(each.text)) continue;
    const whole: RunLine = open === null ? each : { ...open, text: `${open.text} ${each.text.trim()}` };
    const end = /\s[\\`^]\s*$/.exec(whole.text);
    open = end === null ? null : { ...whole, text: whole.text.slice(0, end.index) };
    if (open === null) found.push(whole);
  }
  return open === null ? found : [...found, open];
}

/** Whether each line of a file runs in a shell of its own, so that `cd` does not affect later lines. */
export function runsByLine(path: string): boolean {
  return /(^|\/)(GNU)?makefile$|\.mk$|justfile$|\.just$|Earthfile$/i.test(path) || basename(path) === "package.json";
}
