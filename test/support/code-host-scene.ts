import type { CodeHost } from "../../http/demo/code-host/code-host.js";
import type { HostedAccount } from "../../http/demo/code-host/hosted-account.js";
import type { HostedInstallation } from "../../http/demo/code-host/hosted-app.js";
import type { Reply } from "./service.js";

/** Accounts at the code host: an organisation and two people. */
export const acmeOrg: HostedAccount = { id: 9_001, login: "acme-inc", type: "Organization" };
export const adaThere: HostedAccount = { id: 9_002, login: "ada-there", type: "User" };
export const bobThere: HostedAccount = { id: 9_003, login: "bob-there", type: "User" };

/** Installs the app on an account. If the account is an organisation, Ada becomes an admin of the organisation. */
export function install(codeHost: CodeHost, id: number, account: HostedAccount = acmeOrg): HostedInstallation {
  const installation = { id, account, suspended_at: null, updated_at: "2026-09-01T10:00:00Z" };
  codeHost.installations.set(id, installation);
  codeHost.memberships.set(`${account.login}/${adaThere.login}`, { state: "active", role: "admin" });
  return installation;
}

/** A client of the service, in the test or in another process. */
interface Asking<Answer extends Pick<Reply, "status" | "body">> {
  request(method: "POST", path: string, body: unknown): Promise<Answer>;
}

/** Starts to connect an installation to a workspace; returns the sign-in URL. */
export async function beginConnecting(
  client: Asking<Pick<Reply, "status" | "body">>,
  installationId: number,
  slug = "acme",
): Promise<string> {
  const begun = await client.request("POST", `/api/workspaces/${slug}/code-host/connections`, { installationId });
  if (begun.status !== 200) throw new Error(`beginning answered ${begun.status} ${JSON.stringify(begun.body)}`);
  return String(begun.body?.url);
}

/** Completes the sign-in with the code host's redirect. */
export function comeBack<Answer extends Pick<Reply, "status" | "body">>(
  client: Asking<Answer>,
  query: URLSearchParams,
): Promise<Answer> {
  return client.request("POST", "/api/code-host/confirmations", Object.fromEntries(query));
}

/** Connects an installation: starts, signs in at the code host, and returns to the service. */
export async function connect<Answer extends Pick<Reply, "status" | "body">>(
  codeHost: CodeHost,
  client: Asking<Answer>,
  { installationId, slug = "acme", as = adaThere }: Connecting,
): Promise<Answer> {
  return comeBack(client, await codeHost.signIn(await beginConnecting(client, installationId, slug), as));
}

interface Connecting {
  readonly installationId: number;
  readonly slug?: string;
  /** The person who signs in at the code host. */
  readonly as?: HostedAccount;
}
