import { z } from "zod";
import type { Caller } from "../../actors/caller.js";
import { codeHostConnectionRef } from "../../actors/code-host/connection.messages.js";
import {
  type ConnectionName,
  findConfiguredConnection,
  findConnectionToEnd,
  listCodeHostConnections,
} from "../../actors/code-host/connection.queries.js";
import { codeHostConnectionSchema, codeHostConnectionView } from "../../actors/code-host/connection.view.js";
import { findHostOf, listHostedRepositories } from "../../actors/code-host/hosted-repositories.js";
import { askedTooOften } from "../../actors/code-host/refusals.js";
import type { CodeHost } from "../../actors/outbound/code-host.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { RateLimit } from "../limits/rate-limit.js";
import { wholeNumber } from "../paging.js";
import { granted, Refused } from "../refused.js";
import type { Route, RouteRequest } from "../route.js";
import { subjectRoute } from "../subject-route.js";
import { workspaceRoute } from "../workspace-route.js";

export interface CodeHostRoutesOptions {
  readonly runtime: Runtime;
  /** Null when none is set up. */
  readonly codeHost: CodeHost | null;
  /** How often a person or token may have the code host asked: it bounds what this service asks of it altogether. */
  readonly asking: RateLimit;
}

const repositorySchema = z
  .strictObject({ name: z.string().describe("owner/name"), isPrivate: z.boolean(), defaultBranch: z.string() })
  .meta({ title: "hosted-repository" });

/** The installations of the code host that a workspace is connected to. */
export function codeHostRoutes(options: CodeHostRoutesOptions): readonly Route[] {
  return [listRoute(options), disconnectRoute(options), repositoriesRoute(options)];
}

function listRoute({ runtime, codeHost }: CodeHostRoutesOptions): Route {
  return workspaceRoute(runtime, "sees", {
    method: "GET",
    path: "/api/workspaces/{slug}/code-host",
    operation: "readCodeHost",
    summary: "The code host, and the installations there that the workspace is connected to",
    access: "any",
    answers: {
      200: z.strictObject({
        host: z.string().nullable().describe("Null when this deployment has no code host."),
        connections: z.array(codeHostConnectionSchema),
      }),
    },
    handle: (_request, { workspaceId }) => {
      const connections = listCodeHostConnections(runtime.reading, workspaceId).map(codeHostConnectionView);
      return { status: 200, body: { host: codeHost?.name ?? null, connections } };
    },
  });
}

function disconnectRoute({ runtime, codeHost }: CodeHostRoutesOptions): Route {
  const find = ({ caller, params }: Pick<RouteRequest<"any">, "caller" | "params">) =>
    findConnectionToEnd(runtime.reading, caller, toName(params, codeHost));
  return subjectRoute(
    { find },
    {
      method: "DELETE",
      path: "/api/workspaces/{slug}/code-host/connections/{installationId}",
      operation: "disconnectCodeHost",
      summary: "Disconnect an installation, which another workspace may connect then",
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

function repositoriesRoute({ runtime, codeHost, asking }: CodeHostRoutesOptions): Route {
  const find = ({ caller, params }: Pick<RouteRequest<"any">, "caller" | "params">) =>
    findConfiguredConnection(runtime.reading, caller, toName(params, codeHost));
  return subjectRoute(
    { find },
    {
      method: "GET",
      path: "/api/workspaces/{slug}/code-host/connections/{installationId}/repositories",
      operation: "listHostedRepositories",
      summary: "The repositories that an installation reaches, as the code host tells them now",
      description: "For those who may configure the workspace; for anyone else it is not there.",
      access: "any",
      query: z.strictObject({ page: wholeNumber.max(10_000, "must be at most 10000").default(1) }),
      answers: {
        200: z.strictObject({
          items: z.array(repositorySchema),
          next: z.int().nullable().describe("The `page` of the next page."),
        }),
      },
      problems: ["conflict", "refused-upstream"],
      handle: async ({ caller, query }, connection) => {
        const host = granted(findHostOf(connection, codeHost));
        countAsking(asking, caller);
        return { status: 200, body: granted(await listHostedRepositories(host, connection, query.page)) };
      },
    },
  );
}

/** Counts a request that has the code host asked. Throws {@link Refused} once there are too many. */
export function countAsking(asking: RateLimit, caller: Caller): void {
  const retryAfterSeconds = asking.take(caller.kind === "person" ? caller.userId : caller.tokenId);
  if (retryAfterSeconds > 0) throw new Refused(askedTooOften(retryAfterSeconds));
}

function toName({ slug = "", installationId = "" }: RouteRequest["params"], codeHost: CodeHost | null): ConnectionName {
  return { slug, number: installationId, host: codeHost?.name ?? null };
}
