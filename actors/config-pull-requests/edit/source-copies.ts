import { basename, dirname } from "node:path";
import { refuse, toPlace } from "./edit-source.js";
import { TooDeep } from "./hcl-syntax.js";
import { isJson } from "./json-code.js";
import { jsonPaths } from "./json-texts.js";
import { mayName, pathsIn, type WrittenPath } from "./read-paths.js";
import type { CodeFile, Repository } from "./repository.js";
import { mayLead } from "./run-commands.js";
import { readRunFiles, readRunTexts } from "./run-files.js";

/**
 * Returns the first place (`path:line`) where code reads the file `target` as text, or where a command may copy or
 * render it; null if there is none. In code, only paths that end with `.tf` or `.tofu` count; in a command, only words
 * that end with the file's name.
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

const COPIED = /\.(tf|tofu)[\\"\s]/;
/** Matches commands that copy or render files. */
const COPIES = /(^|[\s"'&;|@(])(cp|mv|ln|rsync|install|scp|envsubst|jinja2|j2|gomplate|Copy-Item|copy|xcopy)\s/;

/**
 * Whether code reads a path as the text of a source. Functions such as `filesha256`, `fileexists` and `fileset` do not
 * count, because they do not return the text.
 */
function isCopy({ parts, use, by = "" }: WrittenPath): boolean {
  return use === "read" && /\.(tf|tofu)$/.test(parts.at(-1) ?? "") && !/sha|md5|exists|fileset/.test(by);
}

function readPaths(repository: Repository, file: CodeFile): readonly WrittenPath[] {
  try {
    if (isJson(file.path)) return jsonPaths(file.text, repository.syntax);
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
  }
  const root = repository.parse(file);
  return root === null ? [] : pathsIn(file.text, root);
}

/**
 * Refuses a source that a tool seems to generate: a comment at its start says so, or its template is beside it, such as
 * `main.tf.tmpl`.
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
 * Matches comment lines of `terraform plan -generate-config-out`. They do not count, because people edit these files.
 */
const IMPORTED = /^.*__generated__.*$/gm;
const TEMPLATE = /\.(j2|jinja2?|tmpl|tpl|tftpl|erb|mustache|hbs|gotmpl|template|in|ejs|jsonnet)$/;
