import type { CodeBlock } from "./code-blocks.js";
import { nodesIn } from "./hcl-syntax.js";
import type { CodeFile, Repository } from "./repository.js";
import { blanked } from "./splice.js";

/**
 * Returns the block within a `terraform` block that gives a root module many workspaces: `cloud`, or a `remote`
 * backend, without the literal name of a workspace, or a backend with a setting for several workspaces. Undefined if
 * there is none.
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

/** Backend settings that matter only with several workspaces. */
export const WORKSPACE_SETTINGS = ["workspace_key_prefix", "workspace_dir"];

/**
 * Returns the offset at which a file refers to the current workspace, outside comments and strings; negative if it does
 * not.
 */
export function workspaceIn(repository: Repository, file: CodeFile): number {
  if (!WORKSPACE.test(file.text)) return -1;
  const root = repository.parse(file);
  if (root === null) return file.text.search(WORKSPACE);
  const texts = [...nodesIn(root, "comment"), ...nodesIn(root, "template_literal")];
  return blanked(file.text, texts).search(WORKSPACE);
}

const WORKSPACE = /\b(terraform|tofu)\s*\.\s*workspace\b/;
