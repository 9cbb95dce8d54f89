import type { Test } from "tap";
import { type AuthorizationServerPeer, CLIENT, startAuthorizationServer } from "./authorization-server.js";
import { expr } from "./integration.js";
import { ManualClock } from "./manual-clock.js";
import { join, type Person, personAt } from "./people.js";
import { workspaceWithTeam } from "./resources.js";
import { type Client, type Reply, startTestService, type TestService } from "./service.js";

export interface ConnectionScene {
  readonly service: TestService;
  readonly clock: ManualClock;
  readonly host: AuthorizationServerPeer;
  readonly workspaceId: string;
  readonly teamId: string;
  readonly integrationId: string;
  readonly owner: Person;
  /** A workspace member who is on the team, and a member who is not. */
  readonly mate: Person;
  readonly member: Person;
  /** The path of the integration's connections. */
  readonly at: string;
}

/** Returns the part of a definition that links accounts at the host. */
export function oauth2At(host: AuthorizationServerPeer): Record<string, unknown> {
  return {
    issuer: host.url,
    clientId: CLIENT.id,
    clientSecret: "tracker-client",
    scopes: ["openid", "offline_access"],
    parameters: { prompt: "consent" },
    identityUrl: `${host.url}/me`,
    identity: expr("response.sub"),
  };
}

/** Returns the definition of an integration with the host; by default its tools act as people. */
export function integrationAt(host: AuthorizationServerPeer, more: Record<string, unknown> = {}) {
  return {
    integration: "tracker",
    name: "Tracker",
    hosts: [host.host],
    actions: { comment: { request: { url: `${host.url}/comments` } } },
    tools: { comment: { action: "comment" }, close: { action: "comment", approval: true } },
    connection: { holder: "requester", oauth2: oauth2At(host) },
    ...more,
  };
}

/** No rate limits, because tests poll while the clock stands still. */
export const sceneSettings = { BASE_URL: "https://signalbox.example", RATE_PER_CREDENTIAL: "0", RATE_PER_ADDRESS: "0" };

export interface SceneOptions {
  /** Fields that override the default integration. */
  readonly integration?: Record<string, unknown>;
  readonly alsoAllowed?: readonly string[];
  /** Settings that replace {@link sceneSettings}. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Opens a workspace with an integration whose accounts are linked at a real authorization server. */
export async function openScene(t: Test, options: SceneOptions = {}): Promise<ConnectionScene> {
  const host = await startAuthorizationServer(t);
  const clock = new ManualClock();
  const allowed = [host.url, ...(options.alsoAllowed ?? [])].join(",");
  const settings = { ...(options.settings ?? sceneSettings), OUTBOUND_ALLOW: allowed };
  const service = await startTestService(t, { clock, settings });
  const owner = await personAt(service, "owner@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  await owner.create(`/api/resources/workspaces/${workspaceId}/secrets`, {
    name: "tracker-client",
    value: CLIENT.secret,
    valueVersion: 1,
    hosts: [host.host],
  });
  const made = await owner.create(
    `/api/resources/teams/${teamId}/integrations`,
    integrationAt(host, options.integration),
  );
  const mate = await join(service, owner, "mate@example.com", { teams: [teamId] });
  const member = await join(service, owner, "member@example.com");
  const at = `/api/integrations/${made.id}/connections`;
  return { service, clock, host, workspaceId, teamId, integrationId: made.id, owner, mate, member, at };
}

/** Starts to link an account; returns the address at the host where the person signs in. */
export async function setOut({ at }: Pick<ConnectionScene, "at">, client: Client, whose: "team" | "me") {
  const begun = await client.request("POST", `${at}/${whose}`, {});
  if (begun.status !== 200) throw new Error(`setting out answered ${begun.status} ${begun.text}`);
  return String(begun.body?.authorizeUrl);
}

/** Completes a link with the host's redirect. */
export function comeBack(client: Client, sentTo: URL, more: Record<string, unknown> = {}): Promise<Reply> {
  const { state, code, iss, error } = Object.fromEntries(sentTo.searchParams);
  return client.request("POST", "/api/oauth/callback", { state, code, iss, error, ...more });
}

/** Links an account of a person or of the team, with all steps. */
export async function connect(
  scene: ConnectionScene,
  client: Client,
  of: { readonly whose: "team" | "me"; readonly account: string },
): Promise<Reply> {
  const sentTo = await scene.host.visit(await setOut(scene, client, of.whose), { account: of.account });
  return comeBack(client, sentTo);
}

/** Polls the integration's connections, as `client` sees them, until the connections match; returns the connections. */
export async function ownOnce(
  { at }: Pick<ConnectionScene, "at">,
  client: Client,
  fits: (seen: Readonly<Record<string, unknown>>) => boolean,
): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const { body } = await client.request("GET", `${at}/me`);
    if (body !== null && fits(body)) return body;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Returns the state of the person's own connection. */
export function ownState(seen: Readonly<Record<string, unknown>>): string {
  return String((seen.own as { readonly state?: unknown } | null)?.state ?? "none");
}

/** Waits until the host has received this number of requests to a path. */
export async function askedTimes({ asked }: AuthorizationServerPeer, path: string, times: number): Promise<void> {
  while (asked.filter((each) => each === path).length < times) await new Promise((resolve) => setImmediate(resolve));
}
