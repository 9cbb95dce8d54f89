import { dirname } from "node:path";
import { readCode } from "./code-blocks.js";
import { refuse, type Source, toPlace } from "./edit-source.js";
import type { FoundStation } from "./find-station.js";
import { nodesIn } from "./hcl-syntax.js";
import type { ModuleInstance } from "./module-instances.js";
import { type CodeFile, isModuleFile, type Repository } from "./repository.js";
import { blanked } from "./splice.js";

/**
 * Refuses a line whose stations another expression of the module reads, because the edit would change the value of that
 * expression too. `service_line.web.stations` reads them, and so does the whole resource `service_line.web`, unless it
 * only orders operations, names the resource, or is an output that no other module reads. References to other
 * attributes, such as `id`, do not count.
 */
export async function refuseLineReaders(
  repository: Repository,
  source: Source,
  { found, calls }: { readonly found: FoundStation; readonly calls: ModuleInstance["calls"] },
): Promise<void> {
  const module = await repository.module(dirname(source.path));
  if ("fault" in module) return;
  const [, type, name] = found.path;
  const line = new RegExp(`(?<![\\w-])(?<!data\\s*\\.\\s*)${type}\\s*\\.\\s*${name}(?![\\w-])`, "g");
  for (const file of module.files) {
    const at = readerIn(repository, file, line);
    if (at === null) continue;
    const output = outputAt(repository, file, at);
    if (output !== null && !(await isOutputRead(repository, output, calls))) continue;
    const message = `At ${toPlace(source, found.resource)}, another expression reads the line's stations: at ${toPlace(file, { start: at })}.`;
    refuse("ambiguous", message);
  }
}

/** Matches the first step after a resource: an attribute, or an index. */
const STEP = /^\s*(?:\.\s*([A-Za-z_][\w-]*)|\[\s*\\?"([\w-]+)\\?"\s*\]|(\[|\.\s*[*\d]))/;
/** Attributes that refer to a resource itself, not to its values. */
const NAMING = /^(depends_on|replace_triggered_by|to|from|target)$/;

/** Returns the offset of the first expression that reads the line's stations; null if there is none. */
function readerIn(repository: Repository, file: CodeFile, line: RegExp): number | null {
  const { text } = file;
  if (text.search(line) < 0) return null;
  const root = repository.parse(file);
  const code =
    root === null ? text : blanked(text, [...nodesIn(root, "comment"), ...nodesIn(root, "template_literal")]);
  const naming =
    root === null ? [] : nodesIn(root, "attribute").filter(({ start }) => NAMING.test(nameAt(text, start)));
  for (const { index, 0: written } of code.matchAll(line)) {
    const [, attribute, key, indexed] =
      STEP.exec(text.slice(index + written.length, index + written.length + 200)) ?? [];
    const name = attribute ?? key;
    if (name !== undefined && name !== "stations") continue;
    // In JSON, a name alone is a text such as those of `depends_on`.
    if (root === null && name === undefined && indexed === undefined && !isInTemplate(text, index)) continue;
    if (!naming.some(({ start, end }) => start <= index && index < end)) return index;
  }
  return null;
}

function nameAt(text: string, start: number): string {
  return /^[\w-]*/.exec(text.slice(start, start + 100))?.[0] ?? "";
}

function isInTemplate(text: string, index: number): boolean {
  const before = text.slice(text.lastIndexOf("\n", index) + 1, index);
  return before.lastIndexOf("$" + "{") > before.lastIndexOf("}");
}

/** Returns the name of the output whose value is the whole line at an offset; null if there is none. */
function outputAt(repository: Repository, file: CodeFile, at: number): string | null {
  const { blocks } = readCode(repository, file);
  const output = blocks.find(({ type, nodes }) => type === "output" && nodes.get("value")?.start === at);
  return /\.\s*stations|\[/.test(output?.attributes.get("value") ?? "") ? null : (output?.labels[0] ?? null);
}

/** Whether an expression may read the stations of a line through an output of the line's module. */
async function isOutputRead(repository: Repository, output: string, [call]: ModuleInstance["calls"]): Promise<boolean> {
  const code = await repository.code();
  if ("fault" in code) return true;
  const path = call?.block.file.path ?? "";
  // Other root modules and Terragrunt units read the outputs of a root module by this name.
  if (!isModuleFile(path)) return code.files.some(({ text }) => /\boutputs\b/.test(text));
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
