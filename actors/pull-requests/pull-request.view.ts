import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { getText } from "../tables/text-blobs.js";
import { type PullRequestRow, pullRequestRoles, pullRequestStates } from "./pull-request.js";

/** A pull request in lists. */
export const pullRequestSchema = z
  .strictObject({
    id: z.string(),
    teamId: z.string(),
    role: z
      .enum(pullRequestRoles)
      .describe("`own`: opened for a task. `review`: of a person, reviewed by a task. `people`: the others of people."),
    taskId: z.string().nullable(),
    repository: z.string().describe("`owner/name`"),
    number: z.int().nullable().describe("Null while it is not at the code host."),
    url: z.string().nullable(),
    title: z.string(),
    author: z.string().nullable().describe("The login of who opened it at the code host."),
    branch: z.string(),
    base: z.string().nullable().describe("The branch to merge into; null for the default branch."),
    head: z.string().nullable().describe("The commit that the branch is at."),
    state: z
      .enum(pullRequestStates)
      .describe(
        "`vetting`: hooks are asked. `pushing`: a runner pushes. `opening`: the code host is asked. `failed`: it is not " +
          "there; `problem` says why.",
      ),
    draft: z.boolean(),
    openedAt: z.string().nullable(),
    firstReviewAt: z.string().nullable().describe("When a person first reviewed it."),
    rounds: z.int().describe("Groups of people's reviews that pushes part."),
    mergedAt: z.string().nullable(),
    mergeCommit: z.string().nullable(),
    closedAt: z.string().nullable(),
    revertedBy: z.string().nullable().describe("The address of the merged pull request that reverts it."),
    isDirty: z.boolean().describe("Whether it conflicts with its base."),
    hostUpdatedAt: z.string().nullable().describe("The code host's time of what is known of it."),
    problem: z.string().nullable(),
    waitsUntil: z.string().nullable().describe("Until when the code host takes no more."),
  })
  .meta({ title: "pull-request" });

export type PullRequestView = z.output<typeof pullRequestSchema>;

export function pullRequestView(row: PullRequestRow): PullRequestView {
  const { id, teamId, role, taskId, repository, number, url, title, author, branch, base, head, state, draft } = row;
  const { openedAt, firstReviewAt, reviewedCommits, mergedAt, mergeCommit, closedAt, revertedBy, isDirty } = row;
  const { hostUpdatedAt, problem, waitsUntil } = row;
  return {
    id,
    teamId,
    role,
    taskId,
    repository,
    number,
    url,
    title,
    author: author?.login ?? null,
    branch,
    base,
    head,
    state,
    draft,
    openedAt,
    firstReviewAt,
    rounds: reviewedCommits.length,
    mergedAt,
    mergeCommit,
    closedAt,
    revertedBy,
    isDirty,
    hostUpdatedAt,
    problem,
    waitsUntil,
  };
}

/** A pull request with its details. */
export const pullRequestDetailSchema = pullRequestSchema
  .extend({
    changed: z
      .array(z.string())
      .describe(
        "The paths that it changes: once it is merged as the code host tells them, before as hooks were asked.",
      ),
    comments: z
      .array(z.strictObject({ purpose: z.string(), id: z.int().nullable(), problem: z.string().nullable() }))
      .describe(
        "The comments that the service keeps up to date there; `id` is null until one is written. One with a `problem` is " +
          "not as it should be, and is not tried again until its text changes.",
      ),
  })
  .meta({ title: "pull-request with its paths" });

const pathsSchema = z.array(z.string());

/** Reads a list of paths by its digest; empty for null. */
export function readPaths(reading: Reading, workspaceId: string, digest: string | null): readonly string[] {
  return digest === null ? [] : pathsSchema.parse(JSON.parse(getText(reading, workspaceId, digest)));
}

export function pullRequestDetailView(
  reading: Reading,
  workspaceId: string,
  row: PullRequestRow,
): z.output<typeof pullRequestDetailSchema> {
  const changed = [...readPaths(reading, workspaceId, row.changed ?? row.vetted)];
  const comments = Object.entries(row.comments).map(([purpose, { id, problem = null }]) => ({ purpose, id, problem }));
  return { ...pullRequestView(row), changed, comments };
}
