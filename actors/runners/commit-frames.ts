import { z } from "zod";

/** The protocol for commits that runs started from; see `protocol.ts`. */

/** A commit: 40 or 64 hex digits. */
export const commitId = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);

/** Maximum number of commits in one frame. */
export const MAX_COMMITS = 500;

/** A commit of a repository. */
const repositoryCommit = z.object({ repository: z.string().max(200), commit: commitId });
export type RepositoryCommit = z.infer<typeof repositoryCommit>;

/** A stored pack of one commit and its tree. */
export const archiveSchema = z.object({
  id: z.string().max(100),
  bytes: z.int().min(1),
  /** The chained digest of the pack's chunks (`actors/archives/pack.ts`). */
  digest: z.string().max(100),
});
export type JobArchive = z.infer<typeof archiveSchema>;

/** Commits that the runner stores although none of its own runs needs them now. The service answers with `released`. */
export const keptFrame = z.object({
  frame: z.literal("kept"),
  commits: z.array(repositoryCommit).max(MAX_COMMITS),
});

/** The commits in the runner's last `kept` frame that no run needs any more. */
export const releasedFrame = z.object({ frame: z.literal("released"), commits: z.array(repositoryCommit) });

/**
 * Commits that replays and replay sets need. If `mayFetch` is set, the runner fetches a commit that it does not have.
 */
export const wantedFrame = z.object({
  frame: z.literal("wanted"),
  commits: z.array(repositoryCommit.extend({ archiveId: z.string().max(100), mayFetch: z.boolean() })),
});
