import { basename, dirname } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import { refuse, toPlace } from "./edit-source.js";
import { TooDeep } from "./hcl-syntax.js";
import { isJson } from "./json-code.js";
import { jsonPaths } from "./json-texts.js";
import { listFolders, mayBe, onlyPath, toPattern } from "./path-pattern.js";
import { mayName, pathsIn, readPath, type WrittenPath } from "./read-paths.js";
import type { CodeFile, Repository } from "./repository.js";
import { mayLead } from "./run-commands.js";
import { readRunFiles, readRunTexts } from "./run-files.js";

/**
 * Returns the place at which code or a command may copy a source into another module or repository; null if there is
 * none. Counts only paths that end with the name of a source, and archives of the source's folder.
 */
export async function sourceCopier(
  repository: Repository,
  files: readonly CodeFile[],
  target: string,
): Promise<string | null> {
  const of = { target, module: dirname(target), links: repository.links };
  for (const file of files.filter(({ text }) => COPIED.test(text))) {
    const found = readPaths(repository, file).find((each) => isCopy(each) && mayName(each, file.path, of));
    if (found !== undefined) return toPlace(file, found.node);
  }
  for (const file of files.filter(({ text }) => text.includes("archive_file"))) {
    const found = readCode(repository, file).blocks.find((block) => isArchiveOf(repository, block, target));
    if (found !== undefined) return toPlace(file, found.nodes.get("source_dir") ?? found);
  }
  const read = await readRunFiles(repository);
  const name = basename(target);
  for (const file of "fault" in read ? [] : read.files.filter(({ text }) => text.includes(name))) {
    for (const { text, line } of readRunTexts(file).flatMap(({ lines }) => lines)) {
      const words = COPIES.test(text) ? text.split(/[\s"'=:;&|<>()]+/) : [];
      if (words.some((word) => word.endsWith(name) && mayLead(word, file, target))) return `${file.path}:${line}`;
    }
  }
  return null;
}

/** Whether a block makes an archive of a folder with the source. A folder with an unknown part does not count. */
function isArchiveOf({ syntax }: Repository, { labels, file, attributes }: CodeBlock, target: string): boolean {
  const written = attributes.get("source_dir");
  if (labels[0] !== "archive_file" || written === undefined) return false;
  // An exclusion of the source: by its name, or by its ending.
  const excluded = [...(attributes.get("excludes") ?? "").matchAll(/"([^"]*)"/g)].map(([, each = ""]) => each);
  if (excluded.some((each) => /\*\.(tf|tofu)$/.test(each) || basename(each) === basename(target))) return false;
  const folder = /^["(${\s]*(abspath\()?path\.(root|cwd)/.test(written) ? null : dirname(file.path);
  const { parts } = readPath(syntax, written.replace(/\bpath\.(root|cwd)\b/g, "path.module"));
  const pattern = toPattern(folder, ["/", ...parts]);
  const isKnown = parts.every((part) => part !== null) && (folder === null || onlyPath(pattern) !== null);
  return isKnown && [...listFolders(target), "."].some((each) => mayBe(pattern, each));
}

const COPIED = /\.(tf|tofu)[\\"\s]/;
/** Matches commands that copy or render files. */
const COPIES = /(^|[\s"'&;|@(])(cp|mv|ln|rsync|install|scp|envsubst|jinja2|j2|gomplate|Copy-Item|copy|xcopy)\s/;

/** Whether a path is read as the text of a source. */
function isCopy(path: WrittenPath): boolean {
  return isTextOf(path) && /\.(tf|tofu)$/.test(path.parts.at(-1) ?? "");
}

/** Whether a file's text is read, not its digest or name. */
export function isTextOf({ use, by = "" }: WrittenPath): boolean {
  return use === "read" && !/sha|md5|exists|fileset/.test(by);
}

/** Returns the paths that a file may name. */
export function readPaths(repository: Repository, file: CodeFile): readonly WrittenPath[] {
  try {
    if (isJson(file.path)) return jsonPaths(file.text, repository.syntax);
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
  }
  const root = repository.parse(file);
  return root === null ? [] : pathsIn(file.text, root);
}

/**
 * Refuses a source that a tool seems to generate. Either a comment at the start of the source says so, or a template
 * such as `main.tf.tmpl` is beside the source.
 */
export function refuseGenerated({ entries }: Repository, { path, text }: CodeFile): void {
  const [head = ""] = /^\uFEFF?(\s*(#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/))*/.exec(text.slice(0, MAX_HEAD)) ?? [];
  const found = GENERATED.exec(head.replace(IMPORTED, (line) => " ".repeat(line.length)));
  if (found !== null)
    refuse(
      "not-proven",
      `At ${toPlace({ path, text }, { start: found.index })}, the file is generated. The next generation would undo the edit.`,
    );
  const template = entries.find((each) => each.path.startsWith(`${path}.`) && TEMPLATE.test(each.path));
  if (template !== undefined)
    refuse("not-proven", `At ${path}:1: the file may be generated from ${template.path}:1, which would undo the edit.`);
}

/** Maximum length of the text to search for comments at the start, in characters. */
const MAX_HEAD = 4_000;
const GENERATED =
  /\bdo(n't| not) (edit|modify|change|touch)\b|\b(auto-?(matically)?|code|file|is|was)[ -]?generated\b|\bgenerated (by|from|with|automatically)\b/i;
/**
 * Matches the comment lines that `terraform plan -generate-config-out` writes. They do not prove that a file is
 * generated, because people edit these files.
 */
const IMPORTED = /^.*__generated__.*$/gm;
const TEMPLATE = /\.(j2|jinja2?|tmpl|tpl|tftpl|erb|mustache|hbs|gotmpl|template|in|ejs|jsonnet)$/;
