import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { getText } from "../tables/text-blobs.js";
import { defineView, type Shown } from "../view.js";
import { type PullRequestRow, pullRequestSchema } from "./pull-request.js";

export type PullRequestView = Shown<typeof pullRequestSchema>;

/** Shows a pull request in lists. */
export const pullRequestView = defineView<PullRequestRow>()(pullRequestSchema, {
  author: ({ author }) => author?.login ?? null,
  rounds: ({ reviewedCommits }) => reviewedCommits.length,
});

/** A pull request with its details. */
export const pullRequestDetailSchema = pullRequestSchema
  .extend({
    changed: z
      .array(z.string())
      .describe(
        "The paths that the pull request changes: after the merge as the code host reports them, before the " +
          "merge as the hooks received them.",
      ),
    comments: z
      .array(
        z.strictObject({
          purpose: z.string().describe("The purpose of the comment; each purpose has one comment."),
          id: z.int().nullable().describe("The number of the comment at the code host; null until it exists."),
          problem: z.string().nullable().describe("Why the comment is out of date; null if it is up to date."),
        }),
      )
      .describe(
        "The comments that the service keeps up to date on the pull request. `id` is null until the comment " +
          "exists. A comment with a `problem` is out of date; the service does not retry it until its text " +
          "changes.",
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
): Shown<typeof pullRequestDetailSchema> {
  const changed = readPaths(reading, workspaceId, row.changed ?? row.vetted);
  const comments = Object.entries(row.comments).map(([purpose, { id, problem = null }]) => ({ purpose, id, problem }));
  return { ...pullRequestView(row), changed, comments };
}
