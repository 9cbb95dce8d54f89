import type { CodeBlock } from "./code-blocks.js";
import { nodesIn } from "./hcl-syntax.js";
import type { CodeFile, Repository } from "./repository.js";
import { blanked } from "./splice.js";

/**
 * Returns the block within a `terraform` block that gives a root module many workspaces: `workspaces` without a literal
 * name, or a block with `workspaces` as an attribute. Undefined if there is none.
 */
export function manyWorkspaces(terraform: readonly CodeBlock[]): CodeBlock | undefined {
  const isOne = (name: string | undefined) => name !== undefined && /^"[^"\\$%]*"$/.test(name);
  const blocks = terraform.flatMap((block) => block.blocks).filter(({ type }) => type === "workspaces");
  const isAttribute = ({ attributes, blocks }: CodeBlock) =>
    attributes.has("workspaces") && blocks.every(({ type }) => type !== "workspaces");
  return blocks.find(({ attributes }) => !isOne(attributes.get("name"))) ?? terraform.find(isAttribute);
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
