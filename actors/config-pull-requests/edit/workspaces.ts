import type { CodeBlock } from "./code-blocks.js";
import { nodesIn } from "./hcl-syntax.js";
import type { CodeFile, Repository } from "./repository.js";
import { blanked } from "./splice.js";

/** The block of a `terraform` block that gives a root module many workspaces; undefined for none. */
export function manyWorkspaces(terraform: readonly CodeBlock[]): CodeBlock | undefined {
  return terraform
    .flatMap(({ blocks }) => blocks)
    .find(({ type, attributes }) => type === "workspaces" && !attributes.has("name"));
}

/** Where a file asks which workspace it is run in, outside of comments and texts; below 0 for nowhere. */
export function workspaceIn(repository: Repository, file: CodeFile): number {
  if (!WORKSPACE.test(file.text)) return -1;
  const root = repository.parse(file);
  if (root === null) return file.text.search(WORKSPACE);
  const texts = [...nodesIn(root, "comment"), ...nodesIn(root, "template_literal")];
  return blanked(file.text, texts).search(WORKSPACE);
}

const WORKSPACE = /\b(terraform|tofu)\s*\.\s*workspace\b/;
