import type { Test } from "tap";
import type { Clock } from "../../runtime/clock.js";
import { type Claims, type IssuerKey, makeKeys, startIssuer, type TestIssuer } from "./issuer.js";
import { workspaceWithTeam } from "./resources.js";
import { type Client, type Reply, startTestService, type TestService } from "./service.js";

const usualKeys: readonly IssuerKey[] = await makeKeys(["ES256"]);

export interface Shop {
  readonly service: TestService;
  readonly issuer: TestIssuer;
  readonly ada: Client;
  readonly workspaceId: string;
  readonly trust: { readonly id: string };
  readonly body: Readonly<Record<string, unknown>>;
  readonly exchange: (token: string, headers?: Record<string, string>) => Promise<Reply>;
  /** Mints a token; returns a client that uses it. */
  readonly minted: (claims?: Claims) => Promise<Client & { readonly tokenId: string }>;
}

/** Opens a workspace that trusts an issuer. */
export async function openShop(
  t: Test,
  of: { terms?: object; clock?: Clock; keys?: readonly IssuerKey[] } = {},
): Promise<Shop> {
  const issuer = await startIssuer(t, of.keys ?? usualKeys);
  const settings = { OUTBOUND_ALLOW: issuer.url };
  const service = await startTestService(t, { settings, ...(of.clock === undefined ? {} : { clock: of.clock }) });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const body = { key: "ci", issuer: issuer.url, subject: "repo:acme/app:*", scopes: ["configure"], ...of.terms };
  const trust = await ada.create(`/api/resources/workspaces/${workspaceId}/token-trusts`, body);
  const exchange = (token: string, headers = {}) =>
    service.anonymous.request("POST", "/api/workspace-tokens/exchange", { trust: trust.id, token }, headers);
  const nowMs = () => of.clock?.now() ?? Date.now();
  const minted = async (claims: Claims = {}) => {
    const reply = await exchange(await issuer.token(claims, { nowMs: nowMs() }));
    if (reply.status !== 200) throw new Error(reply.text);
    return { ...service.withToken(String(reply.body?.token)), tokenId: String(reply.body?.tokenId) };
  };
  return { service, issuer, ada, workspaceId, trust, body, exchange, minted };
}
