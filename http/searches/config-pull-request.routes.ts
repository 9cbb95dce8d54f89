import { configPullRequestSchema } from "../../actors/config-pull-requests/config-pull-request.js";
import { findConfigPullRequest } from "../../actors/config-pull-requests/config-pull-request.queries.js";
import { configPullRequestView } from "../../actors/config-pull-requests/config-pull-request.view.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Route } from "../wire/route.js";
import { subjectRoute } from "../wire/subject-route.js";

/** The route that reads config pull requests, for callers who may read the team's replays. */
export function configPullRequestRoutes({ runtime: { reading } }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    subjectRoute(
      {
        find: ({ caller, params: { teamId = "", pullRequestId = "" } }) =>
          findConfigPullRequest(reading, caller, { teamId, pullRequestId }),
      },
      {
        method: "GET",
        path: "/api/teams/{teamId}/config-pull-requests/{pullRequestId}",
        summary: "Read a config pull request",
        description: "For a search candidate that a person picked.",
        access: "any",
        answers: { 200: configPullRequestSchema },
        handle: (_request, row) => ({ status: 200, body: configPullRequestView(row) }),
      },
    ),
  ];
}
