import type { Test } from "tap";
import type { Scope } from "../../actors/caller.js";
import { createKinds } from "../../actors/catalogue.js";
import { actionRunRef } from "../../actors/integration-work/actions/action-run.messages.js";
import { findActionRun } from "../../actors/integration-work/actions/action-run.table.js";
import type { NewDelivery } from "../../actors/integration-work/deliveries/delivery.js";
import { deliveryIntakeRef } from "../../actors/integration-work/deliveries/delivery.messages.js";
import { deliveries } from "../../actors/integration-work/deliveries/delivery.table.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { isRefusal } from "../../actors/refusal.js";
import type { CodeHost } from "../../http/demo/code-host/code-host.js";
import { findExampleBody } from "../../http/resources/kind-examples.js";
import type { Route } from "../../http/wire/route.js";
import { createMemoryStore } from "../../storage/memory-store.js";
import { storeCheck } from "../support/check-rows.js";
import { startCodeHost } from "../support/code-host.js";
import { connect, install } from "../support/code-host-scene.js";
import { storeConfigPullRequest } from "../support/config-pull-request-rows.js";
import { type IssuerKey, makeKeys, startIssuer } from "../support/issuer.js";
import { ManualClock } from "../support/manual-clock.js";
import { join, loggedInvite, personAt } from "../support/people.js";
import { storePullRequest } from "../support/pull-request-rows.js";
import { storeReplay } from "../support/replay-rows.js";
import { bearer, createUnder, listItems, remove, workspaceWithTeam } from "../support/resources.js";
import { storeSearch } from "../support/search-rows.js";
import { type Client, type Reply, startTestService, type TestService } from "../support/service.js";
import { until } from "../support/until.js";
import type { CallerKind } from "./caller-rows.js";
import { exampleSettings } from "./kind-examples.js";

const kinds = createKinds({ allowList: parseAllowList(exampleSettings.OUTBOUND_ALLOW), signsTokens: false });
const keys: readonly IssuerKey[] = await makeKeys(["ES256"]);

/** A caller that sends requests. */
export interface Asker {
  readonly name: string;
  readonly kind: CallerKind;
  readonly client: Client;
}

/** A service that all callers can send requests to. Its workspace has a resource of every kind. */
export interface World {
  readonly service: TestService;
  readonly workspaceId: string;
  /** The ids in the workspace, by path parameter or by collection. */
  readonly ids: Readonly<Record<string, string>>;
  readonly askers: readonly Asker[];
  /** The token of a runner pool in the workspace. */
  readonly poolToken: string;
  /** Sends a valid request for the route, about an existing or a missing resource. */
  send(client: Client, route: Route, about?: "what is there" | "what is not"): Promise<Reply>;
  /** Closes the workspace, which then accepts no caller. */
  close(): Promise<void>;
}

/** Callers that may do almost nothing. They can share a world. */
export const outsiders = [
  ...["no credential", "a wrong token", "a wrong session", "a revoked token", "an expired token"],
  ...["a minted token whose time is up", "a token of elsewhere", "a stranger"],
] as const;

/** Callers with access to the workspace. Each has its own world, because accepted requests change it. */
export const insiders = [
  ...["the owner", "an admin", "a member on the team", "a member", "a minted token"],
  ...["a token to read", "a token to plan", "a token to configure", "a token for secrets", "a token for runners"],
  ...["a token for trusts", "a token to work"],
] as const;

const scopesOf: Readonly<Record<string, readonly Scope[]>> = {
  "a token to read": ["read"],
  "a token to plan": ["plan"],
  "a token to configure": ["configure"],
  // A token with the scope `secrets`, `runners` or `trusts` requires a second scope. The tokens below have `read` for
  // that, because it permits least.
  "a token for secrets": ["read", "secrets"],
  "a token for runners": ["read", "runners"],
  "a token for trusts": ["read", "trusts"],
  "a token to work": ["work"],
};

const ABSENT = "none_01J0000000000000000000000";
const MINUTE_MS = 60_000;

export async function openWorld(t: Test): Promise<World> {
  const clock = new ManualClock();
  const issuer = await startIssuer(t, keys);
  const allowed = `${exampleSettings.OUTBOUND_ALLOW},${issuer.url}`;
  const codeHost = await startCodeHost(t, () => clock.now());
  const settings = { ...exampleSettings, ...codeHost.settings, OUTBOUND_ALLOW: allowed };
  const store = createMemoryStore();
  const service = await startTestService(t, { clock, settings, store });
  const owner = await personAt(service, "owner@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  const admin = await join(service, owner, "admin@example.com", { role: "admin" });
  const teammate = await join(service, owner, "teammate@example.com", { teams: [teamId] });
  const member = await join(service, owner, "member@example.com");
  const spare = await join(service, owner, "spare@example.com", { teams: [teamId] });
  const stranger = await personAt(service, "stranger@example.com");
  const elsewhere = await workspaceWithTeam(stranger, "elsewhere");

  const token = (of: { readonly name: string; readonly scopes: readonly Scope[]; readonly expiresAt?: string }) =>
    bearer(service, owner, { workspaceId, ...of });
  const tokens: Asker[] = [];
  for (const [name, scopes] of Object.entries(scopesOf)) {
    tokens.push({ name, kind: { scopes }, client: await token({ name: name.replaceAll(" ", "-"), scopes }) });
  }
  const foreign = await bearer(service, stranger, {
    workspaceId: elsewhere.workspaceId,
    name: "all",
    scopes: ["configure", "secrets", "runners", "trusts", "work"],
  });
  const revoked = await token({ name: "revoked", scopes: ["configure"] });
  await remove(owner, `/api/resources/tokens/${revoked.tokenId}`, 1);
  const expiresAt = new Date(clock.now() + 5 * MINUTE_MS).toISOString();
  const expired = await token({ name: "expired", scopes: ["configure"], expiresAt });
  const trust = await owner.create(`/api/resources/workspaces/${workspaceId}/token-trusts`, {
    key: "ci",
    issuer: issuer.url,
    subject: "repo:acme/*",
    scopes: ["configure"],
    lifetimeMinutes: 5,
  });
  const minted = async () => {
    const body = { trust: trust.id, token: await issuer.token({}, { nowMs: clock.now() }) };
    const reply = await service.anonymous.request("POST", "/api/workspace-tokens/exchange", body);
    if (reply.status !== 200) throw new Error(`the exchange answered ${reply.status} ${reply.text}`);
    return service.withToken(String(reply.body?.token));
  };
  const mintedBefore = await minted();
  clock.advance(10 * MINUTE_MS);

  const nobodies = [
    { name: "no credential", client: service.anonymous },
    { name: "a wrong token", client: service.withToken("nonsense") },
    { name: "a wrong session", client: service.withSession("n".repeat(43)) },
    { name: "a revoked token", client: revoked },
    { name: "an expired token", client: expired },
    { name: "a minted token whose time is up", client: mintedBefore },
  ].map((each) => ({ ...each, kind: "nobody" as const }));
  const askers: Asker[] = [
    ...nobodies,
    { name: "the owner", kind: "owner", client: owner },
    { name: "an admin", kind: "admin", client: admin },
    { name: "a member on the team", kind: "teammate", client: teammate },
    { name: "a member", kind: "member", client: member },
    { name: "a stranger", kind: "stranger", client: stranger },
    { name: "a token of elsewhere", kind: "token of elsewhere", client: foreign },
    ...tokens,
    { name: "a minted token", kind: { scopes: ["configure"] }, client: await minted() },
  ];
  const pool = await createUnder(owner, `/api/resources/workspaces/${workspaceId}/runner-pools`, { key: "own" }, "own");
  const filled = await fillWorkspace(service, owner, { workspaceId, teamId });
  const ids: Ids = {
    ...filled,
    installationId: await connectInstallation(codeHost, owner),
    replayId: await storeReplay(store, { workspaceId, teamId, setId: filled.setId ?? "" }),
    ...(await storeSearch(store, { workspaceId, teamId })),
    checkId: await storeCheck(store, { workspaceId, teamId, setId: filled.setId ?? "" }),
    pullRequestId: await storeConfigPullRequest(store, { workspaceId, teamId }),
    "pull-requests": await storePullRequest(store, workspaceId, { teamId }),
    find: filled.runId ?? "",
  };
  examples ??= requestExamples(service);
  const exampleBodies = await examples;
  return {
    service,
    workspaceId,
    ids,
    askers,
    poolToken: pool.headers["service-pool-token"] ?? "",
    send: (client, route, about = "what is there") => {
      const known = about === "what is there" ? { ...ids, userId: spare.userId } : {};
      const { runId = "", setId = "", lineId = "" } = ids;
      const body = readBody(route, exampleBodies, { userId: spare.userId, runId, setId, lineId });
      return client.request(route.method, readPath(route, known), body);
    },
    close: async () => {
      const closed = await remove(owner, `/api/resources/workspaces/${workspaceId}`, 1);
      if (closed.status !== 204) throw new Error(`closing answered ${closed.status} ${closed.text}`);
    },
  };
}

type Ids = Readonly<Record<string, string>>;

/**
 * Creates a resource of every kind, a task with its run, a hook occurrence and an invite. Returns the values for path
 * parameters.
 */
async function fillWorkspace(
  service: TestService,
  owner: Client,
  { workspaceId, teamId }: { readonly workspaceId: string; readonly teamId: string },
): Promise<Ids> {
  const ids: Record<string, string> = { workspaceId, teamId, slug: "acme", workspaces: workspaceId, teams: teamId };
  const within = `/api/resources/workspaces/${workspaceId}`;
  await owner.create(`${within}/runner-pools`, { key: "trusted" });
  for (const { name, plural, heldBy } of kinds) {
    if (name === "team" || (heldBy !== "workspace" && heldBy !== "team")) continue;
    const path = heldBy === "team" ? `/api/resources/teams/${teamId}/${plural}` : `${within}/${plural}`;
    const body = name === "hook" ? { ...findExampleBody(name)?.(1), on: "task.opened" } : findExampleBody(name)?.(1);
    const made = await owner.create(path, body);
    ids[plural] = made.id;
    ids[`address of ${plural}`] = String(made.address);
  }
  ids.lineId = ids.lines ?? "";
  ids.integrationId = ids.integrations ?? "";
  ids.actionRunId = await runAction(service, { workspaceId, teamId, integrationId: ids.integrationId });
  ids.deliveryId = await takeDelivery(service, { workspaceId, teamId, integrationId: ids.integrationId });
  ids.stationKey = "work";
  const candidates = `/api/resources/lines/${ids.lineId}/stations/work/replay-candidates`;
  const candidate = await owner.create(candidates, findExampleBody("replay-candidate")?.(1));
  ids["replay-candidates"] = candidate.id;
  ids["address of replay-candidates"] = String(candidate.address);
  const line = await owner.request("GET", `/api/resources/lines/${ids.lineId}`);
  const [station] = (line.body?.stations ?? []) as readonly { readonly id: string }[];
  ids.stationId = station?.id ?? "";
  const sets = `/api/teams/${teamId}/lines/${ids.lineId}/stations/${ids.stationId}/replay-sets`;
  ids.setId = String((await owner.request("POST", sets, { name: "Hard ones" })).body?.id);
  const task = await owner.request("POST", `/api/teams/${teamId}/tasks`, { title: "Mend", line: "line-1" });
  ids.taskId = String(task.body?.id);
  ids.runId = String(task.body?.runId);
  const firings = await until("a firing", async () => {
    const found = listItems(await owner.request("GET", `/api/teams/${teamId}/hook-occurrences`));
    return found.length > 0 ? found : null;
  });
  ids["hook-occurrences"] = String(firings[0]?.id);
  ids.hookId = ids.hooks ?? "";
  ids.occurrence = String(firings[0]?.occurrence);
  const invited = await owner.request("POST", "/api/workspaces/acme/invites", { emails: ["invited@example.com"] });
  ids.inviteId = String(listItems(invited)[0]?.inviteId);
  ids.token = loggedInvite(service, "invited@example.com");
  return ids;
}

async function connectInstallation(codeHost: CodeHost, owner: Client): Promise<string> {
  const { id } = install(codeHost, 7);
  const connected = await connect(codeHost, owner, { installationId: id });
  if (connected.status !== 200) throw new Error(`connecting answered ${connected.status} ${connected.text}`);
  return String(id);
}

/** Runs an action that the integration does not have. Waits until the run has failed, and returns the run's id. */
async function runAction(
  { runtime }: TestService,
  { workspaceId, teamId, integrationId }: { workspaceId: string; teamId: string; integrationId: string },
): Promise<string> {
  const id = runtime.newId("act");
  const due = { type: "action.due", integrationId, teamId, action: "none" } as const;
  await runtime.ask(actionRunRef(workspaceId, id), due);
  const find = () => findActionRun(runtime.reading, workspaceId, integrationId, id)?.state === "failed";
  await until("the run is over", find);
  return id;
}

/**
 * Sends a delivery to an integration without a webhook. Waits until the delivery has failed, and returns the delivery's
 * id.
 */
async function takeDelivery(
  { runtime }: TestService,
  { workspaceId, teamId, integrationId }: { workspaceId: string; teamId: string; integrationId: string },
): Promise<string> {
  const delivery: NewDelivery = {
    integrationId,
    teamId,
    source: "webhook",
    block: "webhook",
    key: null,
    headers: {},
    cursor: null,
    causes: [],
    redeliveryOf: null,
    body: Buffer.from("{}"),
  };
  const intake = deliveryIntakeRef(workspaceId, integrationId);
  const [taken] = await runtime.ask(intake, { type: "deliveries.take", deliveries: [delivery] });
  if (taken === undefined || isRefusal(taken)) throw new Error(taken?.refused);
  const find = () => deliveries.get(runtime.reading, workspaceId, integrationId, taken.id)?.state === "failed";
  await until("the delivery is over", find);
  return taken.id;
}

function readPath(route: Route, ids: Ids): string {
  const path = route.path.replace(/([^/]+)\/\{(\w+)\}/g, (_, before: string, name: string) => {
    const value = name === "id" ? ids[before] : ids[name];
    return `${before}/${value ?? ABSENT}`;
  });
  if (!route.path.endsWith("/import")) return path;
  const collection = route.path.split("/").at(-2) ?? "";
  const usual = { workspaces: "acme", teams: "core" }[collection];
  const known = ids.workspaceId === undefined ? undefined : (usual ?? ids[`address of ${collection}`]);
  const absent = collection === "replay-candidates" ? "core/line-1/work/nothing here" : "nothing-here";
  return `${path}?address=${encodeURIComponent(known ?? absent)}`;
}

/** Cached for all worlds, because the OpenAPI document is the same in each of them. */
let examples: Promise<ReadonlyMap<string, unknown>> | null = null;

/** Returns the example bodies of the OpenAPI document, by operation. */
async function requestExamples(service: TestService): Promise<ReadonlyMap<string, unknown>> {
  const { text } = await service.anonymous.request("GET", "/api/openapi.json");
  const { paths } = JSON.parse(text) as { readonly paths: Record<string, Record<string, unknown>> };
  return new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => {
        const { requestBody } = operation as {
          readonly requestBody?: { readonly content: Record<string, { readonly example: unknown }> };
        };
        return [`${method.toUpperCase()} ${path}`, requestBody?.content["application/json"]?.example] as const;
      }),
    ),
  );
}

/** Returns a body that refers to resources that exist. If the body assigns a task, it assigns the task to nobody. */
function readBody(
  route: Route,
  examples: ReadonlyMap<string, unknown>,
  { userId, runId, setId, lineId }: Readonly<Record<"userId" | "runId" | "setId" | "lineId", string>>,
): unknown {
  const name = `${route.method} ${route.path}`;
  if (name === "POST /api/teams/{teamId}/members") return { userId };
  if (name === "PATCH /api/workspaces/{slug}/members/{userId}") return { role: "member" };
  if (name === "POST /api/teams/{teamId}/replay-sets/{setId}/entries") return { runId };
  if (name === "POST /api/teams/{teamId}/replay-checks") return { lineId, stationKey: "work", station: {} };
  if (name === "POST /api/tasks/{taskId}/assign") return { assignee: null };
  const example = examples.get(name);
  return /\/searches(\/estimate)?$/.test(name) ? { ...Object(example), setId } : example;
}
