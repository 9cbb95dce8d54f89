import { dirname } from "node:path";
import { readCode } from "./code-blocks.js";
import { refuse, type Source, toPlace } from "./edit-source.js";
import type { FoundStation } from "./find-station.js";
import { nodesIn } from "./hcl-syntax.js";
import type { ModuleInstance } from "./module-instances.js";
import { type CodeFile, isModuleFile, type Repository } from "./repository.js";
import { blanked } from "./splice.js";

/**
 * Refuses a line if another expression of the module reads the line's stations, because the edit would also change the
 * value of that expression.
 *
 * References to `service_line.web.stations` read the stations. References to the whole resource `service_line.web` read
 * them too, unless they only order operations, name the resource, or are outputs that no other module reads. References
 * to other attributes, such as `id`, do not count.
 *
 * The same applies to references to a data source that may be the line, in any module.
 */
export async function refuseLineReaders(
  repository: Repository,
  source: Source,
  {
    found,
    calls,
    lineKey,
  }: { readonly found: FoundStation; readonly calls: ModuleInstance["calls"]; readonly lineKey: string },
): Promise<void> {
  const module = await repository.module(dirname(source.path));
  if ("fault" in module) return;
  const [, type, name] = found.path;
  const line = new RegExp(`(?<![\\w-])${type}\\s*\\.\\s*${name}(?![\\w-])`, "g");
  for (const file of module.files) {
    const outputs = outputsIn(repository, file);
    for (const start of readersIn(repository, file, line)) {
      const output = outputs.get(start);
      if (output !== undefined && !(await isOutputRead(repository, output, calls))) continue;
      refuseReader(source, found, toPlace(file, { start }));
    }
  }
  const data = await dataReader(repository, lineKey);
  if (data !== null) refuseReader(source, found, data);
}

function refuseReader(source: Source, { resource }: FoundStation, at: string): never {
  const message = `At ${toPlace(source, resource)}, another expression reads the line's stations: at ${at}.`;
  return refuse("ambiguous", message);
}

/**
 * Finds a data source whose key is computed or equals the key of a line, and returns a place that reads its stations.
 * Returns null if there is no such place.
 */
async function dataReader(repository: Repository, lineKey: string): Promise<string | null> {
  const code = await repository.code();
  if ("fault" in code) return null;
  const files = code.files.filter(({ path }) => isModuleFile(path));
  const sources = files
    .filter(({ text }) => /\bdata\b/.test(text) && /\bservice_lines?\b/.test(text))
    .flatMap((file) => readCode(repository, file).blocks)
    .filter(({ type, labels }) => type === "data" && /^service_lines?$/.test(labels[0] ?? ""));
  for (const { file, labels, attributes } of sources) {
    const key = /^"([^"\\$%]*)"$/.exec(attributes.get("key") ?? "")?.[1];
    const [type = "", name] = labels;
    if (type === "service_line" && key !== undefined && key !== lineKey) continue;
    const reference = new RegExp(`(?<![\\w-])data\\s*\\.\\s*${type}\\s*\\.\\s*${name}(?![\\w-])`, "g");
    for (const each of files.filter(({ path }) => dirname(path) === dirname(file.path))) {
      const [start] = readersIn(repository, each, reference, type === "service_lines" ? readsList : readsLine);
      if (start !== undefined) return toPlace(each, { start });
    }
  }
  return null;
}

/** Matches the first step after a resource: an attribute, or an index. */
const STEP = /^\s*(?:\.\s*([A-Za-z_][\w-]*)|\[\s*\\?"([\w-]+)\\?"\s*\]|(\[|\.\s*[*\d]))/;
/** Attributes that refer to a resource itself, not to its values. */
const NAMING = /^(depends_on|replace_triggered_by|to|from|target)$/;

/** Whether an expression with a reference to a line reads the line's stations. `rest` is the text after the reference. */
function readsLine(_: string, rest: string): boolean {
  const [, attribute, key] = STEP.exec(rest) ?? [];
  const name = attribute ?? key;
  return name === undefined || name === "stations";
}

/**
 * Whether an expression with a reference to a list of lines reads the lines' stations. False if the expression reads
 * only the list's length, or another attribute of the list's elements.
 */
function readsList(before: string, rest: string): boolean {
  const [whole = "", list, attribute] = ELEMENT.exec(rest) ?? [];
  if (attribute !== undefined || /^(ids?|keys|names|stations)$/.test(list ?? ""))
    return (attribute ?? list) === "stations";
  const [, first, second] = /\bfor\s+(\w+)(?:\s*,\s*(\w+))?\s+in\s+$/.exec(before) ?? [];
  if (first === undefined) return !/\blength\s*\(\s*$/.test(before);
  const uses = new RegExp(`(?<![\\w.-])${second ?? first}(?![\\w-])(?!\\s*\\.\\s*(?!stations\\b)\\w)`);
  return uses.test(rest.slice(whole.length).split(/\n\s*\n/)[0] ?? "");
}

/** Matches the attribute with the elements, an index, and the attribute of an element. */
const ELEMENT = /^(?:\s*\.\s*([A-Za-z_]\w*))?(?:\s*(?:\[[^\]]*\]|\.\s*(?:\*|\d+)))?(?:\s*\.\s*([A-Za-z_]\w*))?/;

/** Returns the offsets in a file of the expressions that read the line's stations. */
function readersIn(
  repository: Repository,
  file: CodeFile,
  line: RegExp,
  reads: (before: string, rest: string) => boolean = readsLine,
): readonly number[] {
  const { text } = file;
  if (text.search(line) < 0) return [];
  const root = repository.parse(file);
  const code =
    root === null ? text : blanked(text, [...nodesIn(root, "comment"), ...nodesIn(root, "template_literal")]);
  const naming =
    root === null ? [] : nodesIn(root, "attribute").filter(({ start }) => NAMING.test(nameAt(text, start)));
  return [...code.matchAll(line)].flatMap(({ index, 0: written }) => {
    const [before, rest] = [code.slice(Math.max(0, index - 100), index), text.slice(index + written.length)];
    if (/\bdata\s*\.\s*$/.test(before) || !reads(before, rest.slice(0, 500))) return [];
    const isWhole = !STEP.test(rest.slice(0, 200));
    // In JSON, a resource's name without an attribute or index is plain text, for example an element of `depends_on`.
    // In a template, the name is a reference.
    if (root === null && isWhole && !isInTemplate(text, index)) return [];
    return naming.some(({ start, end }) => start <= index && index < end) ? [] : [index];
  });
}

function nameAt(text: string, start: number): string {
  return /^[\w-]*/.exec(text.slice(start, start + 100))?.[0] ?? "";
}

/** Maximum number of characters between the start of a template and a reference in it. */
const MAX_BEFORE = 1_000;

function isInTemplate(text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - MAX_BEFORE), index);
  return before.lastIndexOf("$" + "{") > before.lastIndexOf("}");
}

/**
 * Finds the outputs whose value is only a reference to a resource. Returns the outputs' names by the offset of the
 * value.
 */
function outputsIn(repository: Repository, file: CodeFile): ReadonlyMap<number, string> {
  const outputs = readCode(repository, file).blocks.filter(({ type }) => type === "output");
  return new Map(
    outputs.flatMap(({ labels: [name = ""], attributes, nodes }) => {
      const value = nodes.get("value");
      return value !== undefined && /^[\w-]+\s*\.\s*[\w-]+$/.test(attributes.get("value") ?? "")
        ? [[value.start, name]]
        : [];
    }),
  );
}

/** Whether an expression may read the stations of a line through an output of the line's module. */
async function isOutputRead(repository: Repository, output: string, [call]: ModuleInstance["calls"]): Promise<boolean> {
  const code = await repository.code();
  if ("fault" in code) return true;
  const path = call?.block.file.path ?? "";
  // Other root modules, units and stacks read the outputs of a root module through `outputs` or `component`.
  if (!isModuleFile(path)) return code.files.some(({ text }) => /outputs\b|\bcomponent\s*\./.test(text));
  const reference = new RegExp(
    `(?<![\\w-])module\\s*\\.\\s*${call?.block.labels[0]}(?![\\w-])\\s*(?:\\[[^\\]]*\\]\\s*)?((?:\\.\\s*[\\w-]+\\s*)*)`,
    "g",
  );
  return code.files
    .filter((file) => dirname(file.path) === dirname(path))
    .flatMap(({ text }) => [...text.matchAll(reference)])
    .some(([, written = ""]) => {
      const [name, attribute] = written
        .split(".")
        .slice(1)
        .map((step) => step.trim());
      return name === undefined || (name === output && (attribute === undefined || attribute === "stations"));
    });
}
