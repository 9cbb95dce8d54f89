import type { CodeBlock } from "./code-blocks.js";
import { nodesIn } from "./hcl-syntax.js";
import type { CodeFile, Repository } from "./repository.js";
import { blanked } from "./splice.js";

/**
 * Returns the `workspaces` block in a `terraform` block that gives a root module many workspaces; undefined if there is
 * none.
 */
export function manyWorkspaces(terraform: readonly CodeBlock[]): CodeBlock | undefined {
  return terraform
    .flatMap(({ blocks }) => blocks)
    .find(({ type, attributes }) => type === "workspaces" && !attributes.has("name"));
}

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
