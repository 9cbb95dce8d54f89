import { dirname } from "node:path";
import { isWithin } from "./links.js";
import { listFolders, mayBe, type PathParts, toPattern } from "./path-pattern.js";
import { type CodeFile, isPlan } from "./repository.js";
import { type RunText, runsByLine } from "./run-files.js";

/** A setting that a command or a file gives to runs of Terraform. */
export interface RunSetting {
  /**
   * `workspace`: selects or creates a workspace. `state`: sets where the state is stored. `variable`: sets a variable.
   * `values`: passes a variable file. `apply`: no setting, but a command that applies a root module.
   */
  readonly kind: "workspace" | "state" | "variable" | "values" | "apply";
  /**
   * For `variable`: the variable's name, or `*` if the name is unknown. For `state`: the backend argument or
   * environment variable; empty if unknown. Empty for other kinds.
   */
  readonly name: string;
  /** The value as written. A reference to a variable is replaced if the file sets the variable once, to plain text. */
  readonly value: string;
  readonly file: CodeFile;
  /** Offset of the setting's line in the file. */
  readonly start: number;
  /** The folder that the command runs in, as it is written; null if no folder is given. */
  readonly folder: string | null;
}

/** Matches the text of a file that may contain settings for runs of Terraform. */
export const SETS =
  /\bworkspace\b|\b(terraform|tofu|terragrunt)\b|\bTF_(VAR_|WORKSPACE|STATE_NAME|HTTP_ADDRESS)|(?<![\w-])--?(var|var-file|backend-config)\b/;

/**
 * Pattern of a value: text up to a space, quote, separator or closing bracket. An expression in the value, such as
 * `${…}` or `{{…}}`, may contain these characters.
 */
const VALUE = String.raw`((?:\$\{\{[^}]*\}\}|\{\{[^}]*\}\}|\$\{[^}]*\}|\$\([^)]*\)|[^\s"'\x60,;&|)\]}>])*)`;
const GAP = String.raw`["',\s\])=]+`;
const ASSIGNS = String.raw`["'\])]*\s*(?::=|\?=|[:=](?!=))\s*["'([]*`;
const rule = (before: string) => new RegExp(before + VALUE, "g");

/** The patterns of each kind of setting. Group 1 is the setting's name, or empty; group 2 is the value. */
const RULES: readonly (readonly [RunSetting["kind"], RegExp])[] = [
  ["workspace", rule(String.raw`\bworkspace["',\s]+(?:select|new)(?:["',\s]+-{1,2}[\w-]+(?:=\w+)?)*()["',\s]+`)],
  ["workspace", rule(String.raw`\bTF_WORKSPACE()${ASSIGNS}`)],
  ["state", rule(String.raw`\b(TF_STATE_NAME|TF_HTTP_ADDRESS)${ASSIGNS}`)],
  ["state", rule(String.raw`(?<![\w-])--?backend-config${GAP}()`)],
  ["variable", rule(String.raw`\bTF_VAR_([A-Za-z_]\w*)${ASSIGNS}`)],
  ["variable", rule(String.raw`(?<![\w-])--?var["',\s=]+([A-Za-z_][\w-]*)=["'\\]*`)],
  ["variable", rule(String.raw`(?<![\w-])--?var["',\s=]+()(?=\$|\{\{)`)],
  ["apply", /(?<=\b(?:terraform|tofu|terragrunt)\b[^;&|\n]{0,300})()\b((?<![-\w])apply)(?![-\w])/g],
  ["values", rule(String.raw`(?<![\w-])--?var-file()["',\s=]+`)],
];

/** Returns the settings in the commands of a file. */
export function settingsIn({ file, lines, folder }: RunText): readonly RunSetting[] {
  const found: RunSetting[] = [];
  let entered: string | null = null;
  for (const { text, line } of lines) {
    const way = [...text.matchAll(ENTERS)].map(({ 1: path, 2: only, index }) => ({ path: path ?? `/${only}`, index }));
    const options = [...text.matchAll(/(?<![\w-])-chdir=["']?((?:\$\([^)]*\)|\$\{\{[^}]*\}\}|[^\s"',])+)/g)];
    for (const [kind, matches] of SETS.test(text) ? RULES : []) {
      for (const { 0: whole, 1: name = "", 2: written = "", index } of text.matchAll(matches)) {
        const isBare =
          isProgram(file.path) &&
          /[,:[(]\s*$|\bTF_\w+["'\])]*\s*=\s*$/.test(whole.slice(0, whole.length - written.length));
        const value = isBare && written !== "" ? `$${written}` : resolved(file.text, written);
        const before = way.filter((each) => each.index < index).map(({ path }) => path);
        const at = [entered, ...before].reduce(enter, null);
        const start = offsetOf(file.text, line);
        const option = options.findLast((each) => each.index < index)?.[1] ?? null;
        const own = { kind, value, file, start, folder: enter(enter(folder, at), option) };
        if (value !== "") found.push(toSetting({ ...own, name: name === "" && kind === "variable" ? "*" : name }));
      }
    }
    if (!runsByLine(file.path)) entered = [entered, ...way.map(({ path }) => path)].reduce(enter, null);
  }
  return found;
}

/** Whether unquoted text in a file of this type is an expression, as in programs and HCL. */
function isProgram(path: string): boolean {
  return /\.(tf|tofu|hcl|tm|py|rb|groovy|jenkinsfile|[mc]?[jt]s)$|Jenkinsfile[^/]*$/i.test(path);
}

/** Matches commands that enter a folder. `dir` of Jenkins gives a folder of the repository. */
const ENTERS = /(?<![\w-])(?:cd|pushd|Set-Location)\s+["']?((?:\$\([^)]*\)|[^\s"'&;|)])+)|\bdir\s*\(\s*["']([^"']+)/g;

/** Splits the `name=value` of a `-backend-config` option. Returns other settings unchanged. */
function toSetting(setting: RunSetting): RunSetting {
  const [, name, value = ""] = setting.kind === "state" ? (/^(\w+)=["'\\]*(.*)$/.exec(setting.value) ?? []) : [];
  return name === undefined ? setting : { ...setting, name, value };
}

function enter(from: string | null, to: string | null): string | null {
  if (from === null || to === null) return to ?? from;
  return /^[/~$]/.test(to) ? to : `${from}/${to}`;
}

function offsetOf(text: string, line: number): number {
  let at = 0;
  for (let count = 1; count < line; count += 1) at = text.indexOf("\n", at) + 1;
  return at;
}

/** Replaces references to variables in a value, if the text sets the variable exactly once, and to plain text. */
function resolved(text: string, value: string): string {
  return value.replace(/\$\{\{\s*env\.(\w+)\s*\}\}|\$\{(\w+)\}|\$\((\w+)\)|\$(\w+)/g, (written, ...names) => {
    const name = names.slice(0, 4).find((each) => typeof each === "string");
    const set = [...text.matchAll(new RegExp(String.raw`(?<![\w-])${name}["']?\s*(\?=|:?=|:)\s*(.*)`, "g"))];
    const [, sign, first = ""] = set[0] ?? [];
    const plain = /^["']?([\w./@-]+)["']?\s*(?:[#;].*)?$/.exec(first)?.[1];
    return set.length === 1 && sign !== "?=" && plain !== undefined ? plain : written;
  });
}

/** Whether a value contains an expression or a wildcard, so that it may differ between runs. */
export function isOpen(value: string): boolean {
  return splitParts(value).some((part) => part === null);
}

/** Matches an expression, such as `${…}` or `$1`, or a wildcard. */
const OPEN = /\$\{\{[^}]*\}\}|\{\{.*?\}\}|\$\{[^}]*\}|\$\([^)]*\)|\$[\w*@<?^#!]|%\w+%|<[^>]*>|[*`$]/;

function splitParts(value: string): PathParts {
  const parts: (string | null)[] = [];
  let rest = value;
  for (let match = OPEN.exec(rest); match !== null; match = OPEN.exec(rest)) {
    // After `$`, the pattern matches only the first character of a name: skip the whole name.
    const [name = ""] = /^\$\w+/.exec(rest.slice(match.index)) ?? [match[0]];
    parts.push(rest.slice(0, match.index), null);
    rest = rest.slice(match.index + Math.max(name.length, match[0].length));
  }
  return [...parts, rest].filter((part) => part !== "");
}

/**
 * Whether `written`, a path in a file, may lead to `path`. The path may start in the repository's root, in the file's
 * folder or in one of `folders`.
 */
export function mayLead(written: string, file: CodeFile, path: string, folders: readonly string[] = []): boolean {
  const parts = ["/", ...splitParts(written)];
  return [".", dirname(file.path), ...folders].some((base) => mayBe(toPattern(base, parts), path));
}

/**
 * Whether a setting may apply to runs of the root module in the folder `root`. `modules` are the folders of all
 * modules. If the setting's own folder is unknown, the setting may apply to these modules:
 * - the nearest module above the setting's file, or any module if there is none above;
 * - a module whose path the file contains;
 * - every module below the file's folder, if the file belongs to Terragrunt or Terramate.
 */
export function appliesTo(
  { file, folder }: Pick<RunSetting, "file" | "folder">,
  root: string,
  modules: ReadonlySet<string>,
): boolean {
  if (folder !== null) return mayLead(folder, file, root);
  if (isPlan(file.path) && isWithin(root, dirname(file.path))) return true;
  const owner = [...listFolders(file.path), "."].find((each) => modules.has(each));
  return owner === undefined || owner === root || (root !== "." && isNamed(file.text, root));
}

/**
 * Whether a command applies the module in a folder as a root module. True in these cases:
 * - The command names the folder.
 * - The command's folder depends on the run, and the file names the module's folder.
 * - The command has no folder, and its file is in the module's folder.
 */
export function appliesModule({ kind, file, folder }: RunSetting, module: string): boolean {
  if (kind !== "apply") return false;
  if (folder === null) return dirname(file.path) === module;
  if (!mayLead(folder, file, module)) return false;
  return !isOpen(folder) || file.text.split(/["'\s,;[\]]+/).some((word) => isPathOf(word, module));
}

/** Whether a word is the path of a folder, also with wildcards for whole parts. */
function isPathOf(word: string, folder: string): boolean {
  const [steps, parts] = [word.replace(/^\.?\/|\/$/g, "").split("/"), folder.split("/")];
  return (
    steps.length === parts.length && steps.every((step, index) => step === parts[index] || (index > 0 && step === "*"))
  );
}

/** Whether a text contains the path of a folder. */
function isNamed(text: string, folder: string): boolean {
  for (let at = text.indexOf(folder); at >= 0; at = text.indexOf(folder, at + 1)) {
    if (!/[\w-]/.test(text[at - 1] ?? "") && !/[\w-]/.test(text[at + folder.length] ?? "")) return true;
  }
  return false;
}
