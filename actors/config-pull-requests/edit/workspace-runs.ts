import { isMap, isSeq, LineCounter, parseDocument } from "yaml";
import type { CodeBlock } from "./code-blocks.js";
import { toPlace } from "./edit-source.js";
import { toTimes } from "./module-calls.js";
import { mayBe, toPattern } from "./path-pattern.js";
import { readPath } from "./read-paths.js";
import type { Repository } from "./repository.js";

/** Resources that run a root module in a workspace, with the attribute for the module's folder. */
const RUNNERS: ReadonlyMap<string, string> = new Map([
  ["tfe_workspace", "working_directory"],
  ["scalr_workspace", "working_directory"],
  ["spacelift_stack", "project_root"],
]);
/** Matches the text of a file that has such a resource. */
export const RUNS = new RegExp([...RUNNERS.keys()].join("|"));
/** Files that list the root modules for a tool to run, each with its folder as `dir`. */
const PROJECT_FILES = ["atlantis.yaml", "digger.yml", "digger.yaml"];

/**
 * Returns where the root module in a folder is run in several workspaces, as text for a message: two places, or one
 * place that may start several runs. Null if there is no such place.
 */
export async function severalRuns(
  repository: Repository,
  files: readonly CodeBlock[],
  { folder, named }: { readonly folder: string; readonly named: string | undefined },
): Promise<string | null> {
  const runners = files
    .flatMap(({ blocks }) => blocks)
    .filter((block) => mayRun(repository, block, folder) && !isOfOther(block, named));
  const many = runners.find((block) => mayRepeat(repository, block));
  if (many !== undefined) return toPlace(many.file, many);
  // The same run may be in both lists, so only two places of one list are two runs.
  for (const places of [runners.map((each) => toPlace(each.file, each)), await listProjects(repository, folder)]) {
    const [first, second] = places;
    if (second !== undefined) return `${first} and ${second}`;
  }
  return null;
}

/** Whether a block may run the root module in a folder. */
function mayRun({ syntax }: Repository, { type, labels, attributes, blocks }: CodeBlock, folder: string): boolean {
  const named = type === "resource" ? RUNNERS.get(labels[0] ?? "") : undefined;
  if (named === undefined) return false;
  const written = attributes.get(named);
  // A workspace without a folder and without a repository is run from anywhere.
  if (written === undefined && named === "working_directory" && !blocks.some(isOfRepository)) return false;
  const { parts } = written === undefined || written === "null" ? { parts: [] } : readPath(syntax, written);
  return mayBe(toPattern(".", ["/", ...parts]), folder);
}

function isOfRepository({ type, labels }: CodeBlock): boolean {
  return type === "vcs_repo" || labels[0] === "vcs_repo";
}

/** Whether a block runs modules of another repository. */
function isOfOther({ attributes, blocks }: CodeBlock, named: string | undefined): boolean {
  const identifier = blocks.find(({ type }) => type === "vcs_repo")?.attributes.get("identifier");
  const [, written] = /^"([^"\\$%]+)"$/.exec(identifier ?? attributes.get("repository") ?? "") ?? [];
  if (written === undefined || named === undefined) return false;
  return !`/${named}`.toLowerCase().endsWith(`/${written.toLowerCase()}`);
}

/** Whether a block may run one module several times, because its instances may have the same folder. */
function mayRepeat(repository: Repository, block: CodeBlock): boolean {
  const folder = block.attributes.get(RUNNERS.get(block.labels[0] ?? "") ?? "") ?? "";
  const isSet = /^\(*\s*toset\s*\(/.test(block.attributes.get("for_each") ?? "");
  const isOwn = /\beach\.key\b|\bcount\.index\b/.test(folder) || (isSet && /\beach\.value\b/.test(folder));
  return toTimes(repository, block) === "many" && !isOwn;
}

/** Returns the places of the projects in a folder in the files of tools that run root modules. */
async function listProjects(repository: Repository, folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of PROJECT_FILES.filter((each) => repository.entries.some((entry) => entry.path === each))) {
    const text = await repository.read(path);
    for (const { dir, line } of typeof text === "string" ? readProjects(text) : []) {
      if (mayBe(toPattern(".", ["/", dir]), folder)) found.push(`${path}:${line}`);
    }
  }
  return found;
}

function readProjects(text: string): readonly { readonly dir: string; readonly line: number }[] {
  const lines = new LineCounter();
  const root = parseDocument(text, { lineCounter: lines, logLevel: "silent" }).get("projects");
  return (isSeq(root) ? root.items : []).flatMap((item) => {
    const dir = isMap(item) ? item.get("dir") : undefined;
    return isMap(item) && typeof dir === "string" ? [{ dir, line: lines.linePos(item.range?.[0] ?? 0).line }] : [];
  });
}
