import { createHash } from "node:crypto";
import { z } from "zod";
import { beginOAuthState } from "../../actors/access/oauth-state.js";
import { permit } from "../../actors/access/visibility.js";
import type { Caller, PersonCaller } from "../../actors/caller.js";
import {
  authorizationAddress,
  type Destination,
  type PendingAuthorization,
  resolveDestination,
} from "../../actors/integrations/authorization.js";
import {
  type Disconnect,
  integrationConnectionRef,
  type SetAsks,
} from "../../actors/integrations/connection.messages.js";
import { type ConnectionHolder, listIntegrationConnectionPage } from "../../actors/integrations/connection.table.js";
import {
  integrationConnectionSchema,
  integrationConnectionView,
  ownIntegrationConnectionSchema,
  ownIntegrationConnectionView,
} from "../../actors/integrations/connection.view.js";
import {
  findConnectionTarget,
  type IntegrationConnectionKey,
  whyNotLinked,
} from "../../actors/integrations/connection-permissions.js";
import type { IntegrationFields } from "../../actors/integrations/definition.js";
import type { AllowList } from "../../actors/outbound/allow-list.js";
import type { AuthorizationServers } from "../../actors/outbound/oauth-server.js";
import { type FieldError, isRefusal, type Refusal } from "../../actors/refusal.js";
import { distinct } from "../../actors/resources/fields.js";
import { findResource, type ResourceRow } from "../../actors/resources/resource.table.js";
import { locate } from "../../actors/resources/resource-location.table.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { cursor, pageSize } from "../paging.js";
import { type Answer, type Route, route } from "../route.js";
import { CALLBACK_PATH } from "./callback.routes.js";

export interface ConnectionRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly servers: AuthorizationServers;
  readonly allowList: AllowList;
  readonly baseUrl: () => string;
}

const listing = z.strictObject({ after: cursor.optional(), limit: pageSize(200) });

const begun = z.strictObject({
  /** Where the person goes to sign in and consent, in the browser that they are signed in here with. */
  authorizeUrl: z.string(),
  expiresAt: z.string(),
});

const asking = z.strictObject({
  ask: distinct(z.string().max(64, "must be at most 64 characters"), "must name each tool once").max(
    100,
    "must be at most 100 tools",
  ),
});

const at = "/api/integrations/{integrationId}/connections";

/** Who has linked which account to an integration: the team's connection, and people's own. */
export function connectionRoutes(options: ConnectionRoutesOptions): readonly Route[] {
  const { runtime } = options;
  return [
    route({
      method: "GET",
      path: at,
      operation: "listConnections",
      summary: "Who has connected an account, and which",
      description: "For owners and admins; for anyone else it is not there.",
      access: "any",
      query: listing,
      answers: { 200: z.strictObject({ items: z.array(integrationConnectionSchema), next: z.string().nullable() }) },
      handle: ({ caller, params, query }) => list(runtime, caller, params.integrationId, query),
    }),
    route({
      method: "GET",
      path: `${at}/me`,
      operation: "ownConnection",
      summary: "The caller's own connection, whether the team has one, and what is asked before calls",
      access: "person",
      answers: { 200: ownIntegrationConnectionSchema },
      handle: ({ caller, params }) => showOwn(runtime, caller, params.integrationId),
    }),
    ...connecting(options, "team"),
    ...connecting(options, "me"),
    route({
      method: "PUT",
      path: `${at}/me/tools`,
      operation: "askBeforeCalls",
      summary: "Say which tools' calls with the caller's own connection they want to be asked about",
      description: "It can make the team's rule stricter, never laxer.",
      access: "person",
      body: asking,
      example: { ask: ["comment"] },
      answers: { 200: ownIntegrationConnectionSchema },
      handle: ({ caller, params, body }) => setAsks(runtime, caller, params.integrationId, body.ask),
    }),
  ];
}

/** Connecting (or connecting again) and disconnecting: the team, by owners and admins, or the caller's own account. */
function connecting(options: ConnectionRoutesOptions, whose: "team" | "me"): readonly Route[] {
  const isTeams = whose === "team";
  const access = isTeams ? "any" : "person";
  const what = isTeams ? "the team's account" : "the caller's own account";
  const holderOf = (caller: Caller): ConnectionHolder => (isTeams || caller.kind === "token" ? "team" : caller.userId);
  return [
    route({
      method: "POST",
      path: `${at}/${whose}`,
      operation: isTeams ? "connectTeam" : "connectOwn",
      summary: `Connect ${what}, or connect it again: where to go for it`,
      access,
      body: z.strictObject({}),
      answers: { 200: begun },
      problems: ["refused-upstream"],
      handle: ({ caller, params }) => begin(options, caller, params.integrationId, holderOf(caller)),
    }),
    route({
      method: "DELETE",
      path: `${at}/${whose}`,
      operation: isTeams ? "disconnectTeam" : "disconnectOwn",
      summary: `Disconnect ${what}; the host is asked to forget its tokens`,
      access,
      answers: { 204: null },
      handle: ({ caller, params }) => disconnect(options.runtime, caller, params.integrationId, holderOf(caller)),
    }),
  ];
}

/** The integration, if the caller may see it. */
function findIntegration(
  { reading }: Runtime,
  caller: Caller,
  integrationId = "",
): ResourceRow<IntegrationFields> | Refusal {
  const place = locate(reading, integrationId);
  if (place?.kind !== "integration") return { refused: "not-found" };
  const { workspaceId } = place;
  const row = findResource<IntegrationFields>(reading, workspaceId, "integration", integrationId);
  return permit(reading, caller, workspaceId, "read", "integration") ?? row ?? { refused: "not-found" };
}

function list(
  runtime: Runtime,
  caller: Caller,
  integrationId: string | undefined,
  { after, limit }: z.output<typeof listing>,
): Answer | Refusal {
  const { reading } = runtime;
  const found = findIntegration(runtime, caller, integrationId);
  if (isRefusal(found)) return found;
  const { workspaceId, id } = found;
  if (permit(reading, caller, workspaceId, "administer", "integration") !== null) return { refused: "not-found" };
  const rows = listIntegrationConnectionPage(reading, { workspaceId, integrationId: id }, { after, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const next = rows.length > limit ? (page.at(-1)?.holder ?? null) : null;
  const items = page.filter(({ state }) => state !== "none").map((row) => integrationConnectionView(reading, row));
  return { status: 200, body: { items, next } };
}

function showOwn(runtime: Runtime, caller: PersonCaller, integrationId: string | undefined): Answer | Refusal {
  const found = findIntegration(runtime, caller, integrationId);
  if (isRefusal(found)) return found;
  const as = { userId: caller.userId, nowMs: runtime.clock.now() };
  return { status: 200, body: ownIntegrationConnectionView(runtime.reading, found, as) };
}

/** The connection that the caller may link, or why they may not. */
function findPlace(
  runtime: Runtime,
  caller: Caller,
  { integrationId, holder }: { readonly integrationId: string | undefined; readonly holder: ConnectionHolder },
): IntegrationConnectionKey | Refusal {
  const found = findIntegration(runtime, caller, integrationId);
  if (isRefusal(found)) return found;
  const place = { workspaceId: found.workspaceId, integrationId: found.id, holder };
  return whyNotLinked(runtime.reading, caller, place) ?? place;
}

async function begin(
  options: ConnectionRoutesOptions,
  caller: Caller,
  integrationId: string | undefined,
  holder: ConnectionHolder,
): Promise<Answer | Refusal> {
  const { runtime, servers, allowList } = options;
  const place = findPlace(runtime, caller, { integrationId, holder });
  if (isRefusal(place)) return place;
  const standing = findConnectionTarget(runtime.reading, place);
  if (standing === null || caller.kind !== "person") return { refused: "not-found" };
  const destination = await resolveDestination({ reading: runtime.reading, servers, allowList }, standing);
  if (isRefusal(destination)) return destination;
  const away = awayFor(options, standing.oauth2, destination);
  const { workspaceId, integrationId: id } = place;
  const { state, expiresAtMs } = await beginOAuthState(runtime, caller, {
    purpose: "integration",
    subject: { workspaceId, integrationId: id, holder },
    sealed: options.sealer.seal(JSON.stringify(away)),
  });
  const challenge = createHash("sha256").update(away.verifier).digest("base64url");
  const { redirectUri } = away;
  const authorizeUrl = authorizationAddress(standing.oauth2, destination, { state, challenge, redirectUri });
  return { status: 200, body: { authorizeUrl, expiresAt: new Date(expiresAtMs).toISOString() } };
}

function awayFor(
  { runtime, baseUrl }: ConnectionRoutesOptions,
  { issuer, tokenUrl, clientId }: Pick<PendingAuthorization, "issuer" | "tokenUrl" | "clientId">,
  { authorizeUrl, namesItself }: Destination,
): PendingAuthorization {
  return {
    verifier: Buffer.from(runtime.randomBytes(32)).toString("base64url"),
    redirectUri: `${baseUrl()}${CALLBACK_PATH}`,
    ...{ issuer, tokenUrl, clientId, authorizeOrigin: new URL(authorizeUrl).origin, namesItself },
  };
}

async function disconnect(
  runtime: Runtime,
  caller: Caller,
  integrationId: string | undefined,
  holder: ConnectionHolder,
): Promise<Answer | Refusal> {
  const place = findPlace(runtime, caller, { integrationId, holder });
  if (isRefusal(place)) return place;
  if (caller.kind !== "person") return { refused: "not-found" };
  const message: Disconnect = { type: "connection.disconnect", caller };
  const answer = await runtime.ask(integrationConnectionRef(place), message);
  return isRefusal(answer) ? answer : { status: 204 };
}

async function setAsks(
  runtime: Runtime,
  caller: PersonCaller,
  integrationId: string | undefined,
  tools: readonly string[],
): Promise<Answer | Refusal> {
  const place = findPlace(runtime, caller, { integrationId, holder: caller.userId });
  if (isRefusal(place)) return place;
  const found = findIntegration(runtime, caller, integrationId);
  if (isRefusal(found)) return found;
  const errors = tools.flatMap((tool, index): FieldError[] =>
    Object.hasOwn(found.fields.tools, tool) ? [] : [{ path: `ask[${index}]`, message: `there is no tool ${tool}` }],
  );
  if (errors.length > 0) return { refused: "invalid", errors };
  const message: SetAsks = { type: "connection.ask", caller, tools };
  const answer = await runtime.ask(integrationConnectionRef(place), message);
  return isRefusal(answer) ? answer : showOwn(runtime, caller, integrationId);
}
