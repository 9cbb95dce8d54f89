import { z } from "zod";
import type { PersonCaller } from "../../actors/caller.js";
import { integrationConnectionSchema } from "../../actors/integrations/connection.js";
import {
  type Disconnect,
  integrationConnectionRef,
  type SetAsks,
} from "../../actors/integrations/connection.messages.js";
import {
  findAdministeredIntegration,
  findLinkableConnection,
  findVisibleIntegration,
  type LinkableConnection,
  listConnections,
  refuseAsks,
  type VisibleIntegration,
} from "../../actors/integrations/connection.queries.js";
import {
  integrationConnectionView,
  ownIntegrationConnectionSchema,
  ownIntegrationConnectionView,
} from "../../actors/integrations/connection.view.js";
import { beginLink } from "../../actors/integrations/link-authorization.js";
import type { AllowList } from "../../actors/outbound/http/allow-list.js";
import type { AuthorizationServers } from "../../actors/outbound/oauth/oauth-server.js";
import { distinct } from "../../actors/resources/fields.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { holderCursor, nextPage, pageSize } from "../wire/paging.js";
import { granted } from "../wire/refused.js";
import type { Route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";
import { CALLBACK_PATH } from "./callback.routes.js";

export interface ConnectionRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly servers: AuthorizationServers;
  readonly allowList: AllowList;
  readonly baseUrl: () => string;
}

const listing = z.strictObject({ after: holderCursor, limit: pageSize(200) });

const linkStartedSchema = z.strictObject({
  authorizeUrl: z
    .string()
    .describe(
      "The URL where the person signs in and consents. They must open it in the browser where they are signed in " +
        "to this service.",
    ),
  expiresAt: z.string().describe("Until when the person can finish the sign-in: ten minutes from now."),
});

const asksBody = z.strictObject({
  ask: distinct(z.string().max(64, "must be at most 64 characters"), "must name each tool once")
    .max(100, "must be at most 100 tools")
    .describe("The tools whose calls require the caller's approval; replaces the earlier list."),
});

const at = "/api/integrations/{integrationId}/connections";

/** The routes for the accounts linked to an integration: the team's account and people's own accounts. */
export function connectionRoutes(options: ConnectionRoutesOptions): readonly Route[] {
  return [
    listRoute(options),
    ownRoute(options),
    ...connectingRoutes(options, "team"),
    ...connectingRoutes(options, "own"),
    asksRoute(options),
  ];
}

function listRoute({ runtime }: ConnectionRoutesOptions): Route {
  const { reading } = runtime;
  const integration: Subject<VisibleIntegration> = {
    find: ({ caller, params }) => findAdministeredIntegration(reading, caller, params.integrationId ?? ""),
  };
  return subjectRoute(integration, {
    method: "GET",
    path: at,
    operation: "listConnections",
    summary: "List the connected accounts, and who connected them",
    description: "For owners and admins; other callers get 404.",
    access: "any",
    query: listing,
    answers: {
      200: z.strictObject({
        items: z.array(integrationConnectionSchema).describe("The connections of this page, the team's first."),
        next: nextPage("after"),
      }),
    },
    handle: ({ query: { after, limit } }, found) => {
      const { rows, next } = listConnections(reading, found, { after, limit });
      return { status: 200, body: { items: rows.map((row) => integrationConnectionView(reading, row)), next } };
    },
  });
}

function ownRoute({ runtime }: ConnectionRoutesOptions): Route {
  const integration: Subject<VisibleIntegration> = {
    find: ({ caller, params }) => findVisibleIntegration(runtime.reading, caller, params.integrationId ?? ""),
  };
  return subjectRoute(integration, {
    method: "GET",
    path: `${at}/me`,
    operation: "ownConnection",
    summary: "Read the caller's own connection, whether the team has one, and which calls require approval",
    description: "For signed-in people who can see the integration. Nobody can read the tokens of a connection.",
    access: "person",
    answers: { 200: ownIntegrationConnectionSchema },
    handle: ({ caller }, found) => ({ status: 200, body: ownView(runtime, found, caller) }),
  });
}

/**
 * The routes to connect, reconnect and disconnect the team's account (for owners and admins) or the caller's own
 * account.
 */
function connectingRoutes(options: ConnectionRoutesOptions, whose: "team" | "own"): readonly Route[] {
  const { runtime } = options;
  const isTeams = whose === "team";
  const common = { path: `${at}/${isTeams ? "team" : "me"}`, access: isTeams ? "any" : "person" } as const;
  const what = isTeams ? "the team's account" : "the caller's own account";
  const who = isTeams ? "For owners and admins." : "For people on the integration's team.";
  const linkable: Subject<LinkableConnection> = {
    find: ({ caller, params }) =>
      findLinkableConnection(runtime.reading, caller, { integrationId: params.integrationId ?? "", whose }),
  };
  return [
    subjectRoute(linkable, {
      ...common,
      method: "POST",
      operation: isTeams ? "connectTeam" : "connectOwn",
      summary: `Connect or reconnect ${what}: returns the address to open`,
      description: `${who} An existing connection stays usable until the new one works.`,
      body: z.strictObject({}),
      answers: { 200: linkStartedSchema },
      problems: ["refused-upstream"],
      handle: async (_request, found) => {
        const redirectUri = `${options.baseUrl()}${CALLBACK_PATH}`;
        const { authorizeUrl, expiresAtMs } = granted(await beginLink({ ...options, redirectUri }, found));
        return { status: 200, body: { authorizeUrl, expiresAt: new Date(expiresAtMs).toISOString() } };
      },
    }),
    subjectRoute(linkable, {
      ...common,
      method: "DELETE",
      operation: isTeams ? "disconnectTeam" : "disconnectOwn",
      summary: `Disconnect ${what} and ask the host to revoke its tokens`,
      description: `${who} The service removes the tokens at once, whether or not the host responds.`,
      answers: { 204: null },
      handle: async (_request, { key, person }) => {
        const message: Disconnect = { type: "connection.disconnect", caller: person };
        granted(await runtime.ask(integrationConnectionRef(key), message));
        return { status: 204 };
      },
    }),
  ];
}

function asksRoute({ runtime }: ConnectionRoutesOptions): Route {
  const { reading } = runtime;
  const own: Subject<LinkableConnection> = {
    find: ({ caller, params }) =>
      findLinkableConnection(reading, caller, { integrationId: params.integrationId ?? "", whose: "own" }),
  };
  return subjectRoute(own, {
    method: "PUT",
    path: `${at}/me/tools`,
    operation: "askBeforeCalls",
    summary: "Choose which tool calls with the caller's own connection require the caller's approval",
    description: "This can make the team's rule stricter, but not weaker.",
    access: "person",
    body: asksBody,
    example: { ask: ["comment"] },
    answers: { 200: ownIntegrationConnectionSchema },
    handle: async ({ caller, body: { ask: tools } }, { key, integration }) => {
      granted(refuseAsks(integration, tools));
      const message: SetAsks = { type: "connection.ask", caller, tools };
      granted(await runtime.ask(integrationConnectionRef(key), message));
      const now = granted(findVisibleIntegration(reading, caller, integration.id));
      return { status: 200, body: ownView(runtime, now, caller) };
    },
  });
}

function ownView({ reading, clock }: Runtime, integration: VisibleIntegration, { userId }: PersonCaller) {
  return ownIntegrationConnectionView(reading, integration, { userId, nowMs: clock.now() });
}
