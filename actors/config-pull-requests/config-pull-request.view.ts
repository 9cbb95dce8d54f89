import { defineView, type Shown } from "../view.js";
import {
  type ConfigPullRequestRow,
  candidatePullRequestSchema,
  type configPullRequestSchema,
} from "./config-pull-request.js";

/** Shows a candidate's config pull request in its search. */
export const candidatePullRequest = defineView<ConfigPullRequestRow>()(candidatePullRequestSchema, {});

/** Shows a config pull request with its details. */
export function configPullRequestView(row: ConfigPullRequestRow): Shown<typeof configPullRequestSchema> {
  const { source, waitsUntil = null, ...rest } = row;
  return { ...rest, waitsUntil, repository: source?.repository ?? null, path: source?.path ?? null };
}
