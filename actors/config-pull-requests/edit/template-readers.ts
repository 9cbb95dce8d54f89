import { dirname } from "node:path";
import { toPlace } from "./edit-source.js";
import { nodesIn, type SyntaxNode, TooDeep, toText } from "./hcl-syntax.js";
import { isFields, isJson, readJson } from "./json-code.js";
import { templatePaths } from "./json-texts.js";
import { listParts } from "./path-parts.js";
import { filesNamed, mayName, type ReadTarget, type WrittenPath } from "./read-paths.js";
import type { CodeFile, Repository } from "./repository.js";

/** The paths that a configuration file may read. */
export interface FileReads {
  readonly file: CodeFile;
  readonly paths: readonly WrittenPath[];
}

/**
 * Returns the place in a template that may read the target, or why the templates cannot be searched, as text for a
 * message. Null if there is no such place. These are the templates:
 * - files with a template's ending;
 * - files that `templatefile` may name;
 * - texts and files in code that uses `templatestring` or a `template` attribute.
 */
export async function findTemplateReader(
  repository: Repository,
  reads: readonly FileReads[],
  of: ReadTarget,
): Promise<string | null> {
  const used = reads.filter(templateUse(reads.map(({ file }) => file)));
  for (const { file } of used) {
    for (const { template, start } of textsIn(repository, file)) {
      const { found } = readTemplate(repository, { path: file.path, text: template }, of);
      if (found !== null) return `at ${toPlace(file, { start })}`;
    }
  }
  const ended = await repository.templates();
  if ("fault" in ended) return `the templates cannot be searched, because ${ended.fault}`;
  const open = [...ended.files];
  const known = new Set([of.target, ...open.map(({ path }) => path)]);
  const add = async (by: CodeFile, paths: readonly WrittenPath[]): Promise<string | null> => {
    const named = paths.flatMap((path) => filesNamed(path, by.path, repository)).filter((path) => !known.has(path));
    for (const path of named) known.add(path);
    const texts = await repository.texts([...new Set(named)]);
    if ("fault" in texts) return `the templates that ${by.path}:1 reads cannot be searched, because ${texts.fault}`;
    open.push(...texts.files);
    return null;
  };
  for (const each of reads) {
    const named = each.paths.filter(({ by = "" }) => IS_TEMPLATE.test(by) || (used.includes(each) && isContent(by)));
    const fault = await add(each.file, named);
    if (fault !== null) return fault;
  }
  for (const file of open) {
    const { found, paths } = readTemplate(repository, file, of);
    const fault =
      found ??
      (await add(
        file,
        paths.filter(({ by = "" }) => IS_TEMPLATE.test(by)),
      ));
    if (fault !== null) return fault;
  }
  return null;
}

const IS_TEMPLATE = /template/i;

function isContent(by: string): boolean {
  return by !== "" && by !== "fileset";
}

/** Returns whether a file's texts, and the files that it reads, may be templates. */
function templateUse(files: readonly CodeFile[]): (reads: FileReads) => boolean {
  // A text may reach `templatestring` through the variables of any module.
  const isAny = files.some(({ text }) => /\btemplatestring\b/.test(text));
  const folders = files
    .filter(({ text }) => /(?<![\w-])"?template"?\s*[=:]/.test(text))
    .map(({ path }) => dirname(path));
  return ({ file }) => isAny || folders.includes(dirname(file.path));
}

/** Returns the texts of a file that contain an escaped template expression, with their offsets. */
function textsIn(
  repository: Repository,
  file: CodeFile,
): readonly { readonly template: string; readonly start: number }[] {
  const { path, text } = file;
  if (!ESCAPED.test(text)) return [];
  if (isJson(path)) {
    const texts = listTexts(readJson(text)).filter((each) => ESCAPED.test(each));
    return texts.map((each) => ({
      template: each.replace(/([$%])\1\{/g, "$1{"),
      start: Math.max(0, text.indexOf(JSON.stringify(each))),
    }));
  }
  const root = repository.parse(file);
  const texts = root === null ? [] : TEXTS.flatMap((type) => nodesIn(root, type));
  return texts
    .filter((node) => ESCAPED.test(toText(text, node)))
    .map((node) => ({ template: toTemplate(text, node), start: node.start }));
}

const ESCAPED = /\$\$\{|%%\{/;
const TEXTS = ["quoted_template", "heredoc_template", "literal_value"];

function toTemplate(text: string, node: SyntaxNode): string {
  return listParts(text, node)
    .map((part) => (typeof part === "string" ? part : ""))
    .join("");
}

function listTexts(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  const below: readonly unknown[] = Array.isArray(value) ? value : isFields(value) ? Object.values(value) : [];
  return below.flatMap(listTexts);
}

/**
 * Searches a template for the first place that may read the target.
 * - `found` is that place, or why the template cannot be searched, as text for a message. Null if no place reads the
 *   target.
 * - `paths` lists the paths that the template reads. Empty if the template cannot be searched.
 */
function readTemplate(
  repository: Repository,
  file: CodeFile,
  of: ReadTarget,
): { readonly found: string | null; readonly paths: readonly WrittenPath[] } {
  if (!/file|read/i.test(file.text)) return { found: null, paths: [] };
  repository.onFile(file.path);
  try {
    const paths = templatePaths(file.text, repository.syntax);
    const found = paths.find((each) => mayName(each, file.path, of));
    return { found: found === undefined ? null : `at ${toPlace(file, found.node)}`, paths };
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    return { found: `at ${file.path}, which nests too deeply to be searched`, paths: [] };
  }
}
