import { z } from "zod";
import { codeHostConnectionSchema } from "../../actors/code-host/connection.js";
import { codeHostConnectionRef } from "../../actors/code-host/connection.messages.js";
import {
  type ConnectionName,
  findConfiguredConnection,
  findConnectionToEnd,
  listCodeHostConnections,
} from "../../actors/code-host/connection.queries.js";
import { codeHostConnectionView } from "../../actors/code-host/connection.view.js";
import { findConfiguredHost, listHostedRepositories } from "../../actors/code-host/hosted-repositories.js";
import type { CodeHost } from "../../actors/outbound/code-host/code-host.js";
import { countAsking, createAskingLimit } from "../limits/asking-limit.js";
import { wholeNumber } from "../wire/paging.js";
import { granted } from "../wire/refused.js";
import type { Route, RouteRequest } from "../wire/route.js";
import { subjectRoute } from "../wire/subject-route.js";
import { workspaceRoute } from "../wire/workspace-route.js";
import { type CodeHostSignInOptions, codeHostSignInRoutes } from "./sign-in.routes.js";

/** The dependencies of the code host routes. */
export type CodeHostRoutesOptions = Omit<CodeHostSignInOptions, "asking">;

type CodeHostParts = Pick<CodeHostSignInOptions, "runtime" | "codeHost" | "asking">;

const repositorySchema = z
  .strictObject({
    name: z.string().describe("The repository's full name, as `owner/name`."),
    isPrivate: z.boolean().describe("Whether only authorized accounts can read the repository on the code host."),
    defaultBranch: z.string().describe("The name of the branch that clones check out, such as `main`."),
  })
  .meta({ title: "hosted-repository" });

/** The routes for the code host installations that a workspace is connected to. */
export function codeHostRoutes(options: CodeHostRoutesOptions): readonly Route[] {
  const parts = { ...options, asking: createAskingLimit(options.runtime.clock) };
  return [listRoute(parts), disconnectRoute(parts), repositoriesRoute(parts), ...codeHostSignInRoutes(parts)];
}

function listRoute({ runtime, codeHost }: CodeHostParts): Route {
  return workspaceRoute(runtime, "sees", {
    method: "GET",
    path: "/api/workspaces/{slug}/code-host",
    operation: "readCodeHost",
    summary: "Read the code host and the workspace's installations",
    description:
      "For members of the workspace and its tokens. Shows the stored state, without a request to the code host.",
    access: "any",
    answers: {
      200: z.strictObject({
        host: z.string().nullable().describe("The code host's name; null if this deployment has no code host."),
        connections: z.array(codeHostConnectionSchema).describe("The connected installations, at most 100."),
      }),
    },
    handle: (_request, { workspaceId }) => {
      const connections = listCodeHostConnections(runtime.reading, workspaceId).map(codeHostConnectionView);
      return { status: 200, body: { host: codeHost?.name ?? null, connections } };
    },
  });
}

function disconnectRoute({ runtime, codeHost }: CodeHostParts): Route {
  const find = ({ caller, params }: Pick<RouteRequest<"any">, "caller" | "params">) =>
    findConnectionToEnd(runtime.reading, caller, toName(params, codeHost));
  return subjectRoute(
    { find },
    {
      method: "DELETE",
      path: "/api/workspaces/{slug}/code-host/connections/{installationId}",
      operation: "disconnectCodeHost",
      summary: "Disconnect an installation, so that another workspace can connect it",
      description: "For owners and admins. The app stays installed on the code host; remove it there if you want that.",
      access: "any",
      answers: { 204: null },
      handle: async (_request, { workspaceId, administrator, connection }) => {
        const message = { type: "installation.disconnect", by: administrator.userId } as const;
        granted(await runtime.ask(codeHostConnectionRef(workspaceId, connection), message));
        return { status: 204 };
      },
    },
  );
}

function repositoriesRoute({ runtime, codeHost, asking }: CodeHostParts): Route {
  const find = ({ caller, params }: Pick<RouteRequest<"any">, "caller" | "params">) =>
    findConfiguredConnection(runtime.reading, caller, toName(params, codeHost));
  return subjectRoute(
    { find },
    {
      method: "GET",
      path: "/api/workspaces/{slug}/code-host/connections/{installationId}/repositories",
      isServedReadOnly: false,
      operation: "listHostedRepositories",
      summary: "List the repositories of an installation, as the code host currently reports them",
      description: "For people who may configure the workspace; other callers get 404.",
      access: "any",
      query: z.strictObject({
        page: wholeNumber
          .max(10_000, "must be at most 10000")
          .default(1)
          .describe("The number of the page, from 1, the default."),
      }),
      answers: {
        200: z.strictObject({
          items: z.array(repositorySchema).describe("The repositories of this page, in the code host's order."),
          next: z.int().nullable().describe("The `page` parameter for the next page; null when there is none."),
        }),
      },
      problems: ["conflict", "refused-upstream"],
      handle: async ({ caller, query }, connection) => {
        const host = granted(findConfiguredHost(connection, codeHost));
        countAsking(asking, caller);
        return { status: 200, body: granted(await listHostedRepositories(host, connection, query.page)) };
      },
    },
  );
}

function toName({ slug = "", installationId = "" }: RouteRequest["params"], codeHost: CodeHost | null): ConnectionName {
  return { slug, number: installationId, host: codeHost?.name ?? null };
}
