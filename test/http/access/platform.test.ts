import { createServer } from "node:http";
import Provider from "oidc-provider";
import * as client from "openid-client";
import t, { type Test } from "tap";
import { type IssuerKey, makeKeys } from "../../support/issuer.js";
import { workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const [key] = (await makeKeys(["RS256"])) as [IssuerKey];
const audience = "https://signalbox.example/ci";

/** Starts a certified OpenID provider on the loopback interface that issues JWTs for an audience to its clients. */
async function startProvider(t: Test): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  const url = `http://localhost:${typeof address === "object" ? address?.port : ""}`;
  const provider = new Provider(url, {
    jwks: { keys: [key] },
    clients: ["deployer", "stranger"].map((id) => ({
      client_id: id,
      client_secret: `${id}-secret`,
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    })),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: "",
          accessTokenFormat: "jwt" as const,
          audience,
          jwt: { sign: { alg: "RS256" as const } },
        }),
      },
    },
  });
  server.on("request", provider.callback());
  return url;
}

async function readToken(url: string, id: string): Promise<string> {
  const execute = [client.allowInsecureRequests];
  const known = await client.discovery(new URL(url), id, `${id}-secret`, undefined, { execute });
  const { access_token } = await client.clientCredentialsGrant(known, { resource: audience });
  return access_token;
}

t.test("a token that a certified provider issued is exchanged by the keys that its discovery names", async (t) => {
  const url = await startProvider(t);
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: url } });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const body = {
    key: "ci",
    issuer: url,
    audience,
    subject: "deployer",
    claims: { client_id: "deploy*" },
    scopes: ["plan"],
  };
  const trust = await ada.create(`/api/resources/workspaces/${workspaceId}/token-trusts`, body);
  t.same(trust.warnings, []);
  const exchange = async (id: string) =>
    service.anonymous.request("POST", "/api/workspace-tokens/exchange", {
      trust: trust.id,
      token: await readToken(url, id),
    });
  const done = await exchange("deployer");
  t.equal(done.status, 200, done.text);
  const bearer = service.withToken(String(done.body?.token));
  t.equal((await bearer.request("GET", `/api/resources/workspaces/${workspaceId}`)).status, 200);
  t.equal((await exchange("stranger")).status, 401);
  const refusals = await ada.request("GET", `/api/resources/token-trusts/${trust.id}/refusals`);
  t.match(refusals.body, { items: [{ check: "sub", wanted: "deployer", came: "stranger", verified: true }] });
});
