import { GitFailed, type GitOptions, gitOutput } from "./git.js";
import { demandGit, MERGING } from "./git-version.js";

/** The merged files of two commits. */
export interface MergedTrees {
  /** The merged tree, with conflict markers in its files. */
  readonly tree: string;
  /** Paths in conflict; empty for a clean merge. */
  readonly conflicts: readonly string[];
}

/** Git's exit code if the commits conflict. Any other code above 0 is a failure of git. */
const CONFLICT = 1;
const TREE = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Merges two commits in a git directory, without a worktree. Rejects with `GitFailed`, also if git is too old to merge
 * this way.
 */
export async function mergeTrees(
  gitDir: string,
  { ours, theirs, unrelated = false }: { readonly ours: string; readonly theirs: string; readonly unrelated?: boolean },
  options: GitOptions,
): Promise<MergedTrees> {
  await demandGit(MERGING, options);
  const flags = unrelated ? ["--allow-unrelated-histories"] : [];
  const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ...flags, ours, theirs];
  const chunks: Buffer[] = [];
  let failed: GitFailed | null = null;
  await gitOutput(gitDir, args, options, (chunk) => void chunks.push(chunk)).catch((error: unknown) => {
    if (!(error instanceof GitFailed) || error.exitCode !== CONFLICT) throw error;
    failed = error;
  });
  const [tree = "", ...conflicts] = Buffer.concat(chunks).toString("utf8").split("\0");
  if (!TREE.test(tree)) throw failed ?? new GitFailed("git merge-tree: it printed no tree");
  return { tree, conflicts: failed === null ? [] : conflicts.filter((path) => path !== "") };
}
