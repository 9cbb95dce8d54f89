import type { CodeBlock } from "./code-blocks.js";
import { nodesIn } from "./hcl-syntax.js";
import type { CodeFile, Repository } from "./repository.js";
import { blanked } from "./splice.js";

/**
 * Returns the block within a `terraform` block that gives a root module many workspaces; undefined if there is none.
 * Such a block is one of these:
 * - `cloud` or a `remote` backend that does not name its workspace literally;
 * - a backend with a setting for several workspaces.
 */
export function manyWorkspaces(terraform: readonly CodeBlock[]): CodeBlock | undefined {
  for (const block of terraform.filter(({ type }) => type === "backend" || type === "cloud")) {
    if (WORKSPACE_SETTINGS.some((name) => block.attributes.has(name))) return block;
    const workspaces = block.blocks.filter(({ type }) => type === "workspaces");
    const unnamed = workspaces.find(({ attributes }) => !/^"[^"\\$%]+"$/.test(attributes.get("name") ?? ""));
    if (unnamed !== undefined) return unnamed;
    const needsName = block.type === "cloud" || block.labels[0] === "remote" || block.attributes.has("workspaces");
    if (needsName && workspaces.length === 0) return block;
  }
  return undefined;
}

/** Backend arguments that tell where the state is. */
const STATES = ["key", "bucket", "prefix", "path", "container_name"];
/** Maximum number of locals to follow. */
const MAX_LOCALS = 20;

/**
 * Returns a backend if its place for the state depends on a variable that `isKnown` does not accept. The root module
 * may then have several states. Undefined if there is no such backend. `blocks` are the blocks of the root module,
 * whose locals are followed.
 */
export function manyStates(
  terraform: readonly CodeBlock[],
  blocks: readonly CodeBlock[],
  isKnown: (variable: string) => boolean,
): CodeBlock | undefined {
  const locals = blocks.filter(({ type }) => type === "locals");
  return terraform.find((block) => {
    if (block.type !== "backend") return false;
    const names = new Set(STATES.flatMap((name) => namesIn(block.attributes.get(name) ?? "")));
    for (const name of names) {
      if (name.startsWith("var.") ? !isKnown(name.slice(4)) : names.size > MAX_LOCALS) return true;
      const values = name.startsWith("var.") ? [] : locals.map(({ attributes }) => attributes.get(name.slice(6)) ?? "");
      for (const each of values.flatMap(namesIn)) names.add(each);
    }
    return false;
  });
}

/** Returns the variables and locals in an expression, such as `var.env`. The text of a string contains none. */
function namesIn(expression: string): readonly string[] {
  const isText = /^"[^"]*"$/.test(expression);
  const code = isText ? [...expression.matchAll(/[$%]\{[^}]*\}/g)].map(([each]) => each) : [expression];
  return code.flatMap((each) => each.match(/\b(var|local)\.[A-Za-z_][\w-]*/g) ?? []);
}

/** Backend settings that matter only with several workspaces. */
export const WORKSPACE_SETTINGS = ["workspace_key_prefix", "workspace_dir"];

/**
 * Returns the offset at which a file refers to the current workspace, outside comments and strings. Negative if the
 * file does not refer to the workspace.
 */
export function workspaceIn(repository: Repository, file: CodeFile): number {
  if (!WORKSPACE.test(file.text)) return -1;
  const root = repository.parse(file);
  if (root === null) return file.text.search(WORKSPACE);
  const texts = [...nodesIn(root, "comment"), ...nodesIn(root, "template_literal")];
  return blanked(file.text, texts).search(WORKSPACE);
}

const WORKSPACE = /\b(terraform|tofu)\s*\.\s*workspace\b/;
