import { basename } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import { toPlace } from "./edit-source.js";
import { codeIn, type GeneratedCode, toCode, unescaped } from "./generated-code.js";
import { filesNamed, type WrittenPath } from "./read-paths.js";
import { type CodeFile, isModuleFile, type Repository } from "./repository.js";
import { isTextOf, readPaths } from "./source-copies.js";
import type { WantedStation } from "./station-edit.js";

/** Resources that write files, also into other repositories and into the workspaces of services. */
const WRITERS =
  /\b(local_(sensitive_)?file|\w+_repository_file|azuredevops_git_repository_file|spacelift_mounted_file|aws_s3_(bucket_)?object|google_storage_bucket_object|azurerm_storage_blob|kubernetes_config_map\w*)\b/;
const CODE = /\bmodule[\s\\]*"|\bservice_line\b/;
/** Templates of configuration, such as `main.tf.j2`, and other templates, such as `caller.tftpl`. */
const [CONFIGURATION, TEMPLATE] = [/\.(tf|tofu)\.\w+$/, /\.(tftpl|tpl|tmpl)$/];
/** Matches documents and similar files. They are not read, because they contain examples of calls. */
const DOCUMENT = /\.md\b|readme|\.(json|rst|adoc|html?|ya?ml|sh)\b/i;
/** Maximum number of files to read. Each may need a request to the code host. */
const MAX_TEXTS = 100;

/**
 * Reads the code that resources such as `local_file` may write: the texts in files with such resources or with locals,
 * the files that these resources read, and the templates of configuration in the repository.
 */
export async function readWritten(
  repository: Repository,
  files: readonly CodeFile[],
): Promise<readonly GeneratedCode[]> {
  const modules = files.filter(({ path }) => isModuleFile(path));
  const writers = modules.filter(({ text }) => WRITERS.test(text));
  const found = writers.length === 0 ? [] : modules.flatMap((file) => textsIn(repository, file));
  const reads = writers.flatMap((file) =>
    readPaths(repository, file)
      .filter(isTextOf)
      .map((read) => ({ file, read })),
  );
  // If the path in a call of `templatefile` is unknown, the call may read any template.
  const isAny = reads.some(({ read }) => read.by === "templatefile" && !isNamed(read));
  const templates = repository.entries.flatMap(({ kind, path }) =>
    kind === "file" && (CONFIGURATION.test(path) || (isAny && TEMPLATE.test(path))) ? path : [],
  );
  const read = reads.flatMap((each) => (isNamed(each.read) ? filesNamed(each.read, each.file.path, repository) : []));
  const paths = [...new Set([...read, ...templates])].filter((path) => !DOCUMENT.test(basename(path)));
  for (const path of paths.slice(0, MAX_TEXTS)) {
    const text = await repository.read(path);
    if (typeof text !== "string" || !CODE.test(text)) continue;
    const file = { path, text: asCode(text) };
    found.push(toCode(repository, file, file));
  }
  return found;
}

/** Whether the name of a file is known. */
function isNamed({ parts }: WrittenPath): boolean {
  return /\w/.test(parts.at(-1) ?? "");
}

/**
 * Returns the code in the texts of a file's resources, data sources, locals and module calls. Leaves out the texts of
 * other blocks, such as descriptions and outputs, because they contain examples.
 */
function textsIn(repository: Repository, file: CodeFile): readonly GeneratedCode[] {
  if (!CODE.test(file.text)) return [];
  const whole = readCode(repository, file);
  return codeIn(repository, file).map((code) => {
    const isOwn = ({ start }: CodeBlock) =>
      /^(resource|data|locals|module)$/.test(whole.blocks.findLast((each) => each.start <= start)?.type ?? "");
    return { ...code, whole: { ...code.whole, blocks: code.whole.blocks.filter(isOwn) } };
  });
}

/** Replaces the expressions of template languages by expressions of HCL. Keeps all line ends. */
function asCode(text: string): string {
  const plain = text
    .replace(/\{\{[^{}\n]*\}\}|<%=[^%\n]*%>/g, "$" + "{x}")
    .replace(/\{%[^%\n]*%\}|%\{[^}\n]*\}|<%[^%\n]*%>/g, "");
  return unescaped(plain);
}

/**
 * Returns the place of the line's own resource in code that may be written; null if there is none. A resource whose key
 * or team is computed counts as the line's resource.
 */
export function writtenLine(
  written: readonly GeneratedCode[],
  { lineKey, team }: Pick<WantedStation, "lineKey" | "team">,
): string | null {
  const mayBe = (expression: string | undefined, value: string) =>
    expression === undefined || !/^"[^"\\$%]*"$/.test(expression) || expression === `"${value}"`;
  const isLine = ({ type, labels, attributes }: CodeBlock) =>
    type === "resource" &&
    labels[0] === "service_line" &&
    mayBe(attributes.get("key"), lineKey) &&
    mayBe(attributes.get("team_id"), team.id);
  const found = written.flatMap(({ whole }) => whole.blocks).find(isLine);
  return found === undefined ? null : toPlace(found.file, found);
}
