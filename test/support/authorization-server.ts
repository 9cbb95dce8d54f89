import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import Provider from "oidc-provider";
import { request } from "undici";
import { makeKeys } from "./issuer.js";
import type { Cleaning } from "./service.js";

const [key] = await makeKeys(["RS256"]);

/** The redirect address of the test's service. */
export const REDIRECT_URI = "https://signalbox.example/api/oauth/callback";
export const CLIENT = { id: "signalbox", secret: "client secret: of a canary + more & 0123456789" };

/** The server's answer to an authorization code or a refresh token. */
export interface IssuedTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

/**
 * A certified authorization server on the loopback interface. It rotates refresh tokens; reuse of a refresh token
 * revokes the grant.
 */
export interface AuthorizationServerPeer {
  readonly url: string;
  /** `host:port`: the form in which integrations and secrets list hosts. */
  readonly host: string;
  /** All token answers, in order. */
  readonly issued: readonly IssuedTokens[];
  /** The paths of all requests that did not come from a browser. */
  readonly asked: readonly string[];
  /** The access tokens of the requests to `/me`, in order. */
  readonly bearers: readonly string[];
  /** Visits the address like a browser, signs in as `account`, and gives or denies consent; returns the redirect. */
  visit(authorizeUrl: string, as: { readonly account: string; readonly denies?: boolean }): Promise<URL>;
  /** The account that a real browser signs in as. */
  signInAs(account: string): void;
  /** Revokes the grant to which a refresh token belongs, as a person can do at the host. */
  endGrant(refreshToken: string): Promise<void>;
  /** Whether an access token is valid at the host. */
  admits(accessToken: string): Promise<boolean>;
  /**
   * Makes the token endpoint answer all further requests with this status, or not at all ("silence"). Null restores the
   * normal answers.
   */
  failWith(status: number | "silence" | null): void;
}

export async function startAuthorizationServer(t: Cleaning): Promise<AuthorizationServerPeer> {
  if (key === undefined) throw new Error("there is no key");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const url = `http://${host}`;
  const provider = new Provider(url, {
    jwks: { keys: [key] },
    cookies: { keys: ["only of a test"] },
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ["authorization_code", "refresh_token"],
        // If a native client redirects to a loopback address, any port is valid (RFC 8252). So the redirect can use the
        // service's real port.
        application_type: "native",
        redirect_uris: [REDIRECT_URI, "http://127.0.0.1/api/oauth/callback"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_basic",
      },
    ],
    pkce: { required: () => true },
    ttl: {
      AccessToken: 3_600,
      RefreshToken: 14 * 24 * 3_600,
      Grant: 14 * 24 * 3_600,
      Session: 3_600,
      Interaction: 600,
    },
    issueRefreshToken: () => Promise.resolve(true),
    rotateRefreshToken: () => true,
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  });
  const issued: IssuedTokens[] = [];
  provider.on("grant.success", (ctx) => void issued.push(ctx.body as IssuedTokens));
  const asked: string[] = [];
  const bearers: string[] = [];
  let failing: number | "silence" | null = null;
  let visitor = "";
  const handle = provider.callback();
  server.on("request", (incoming: IncomingMessage, answer: ServerResponse) => {
    const path = (incoming.url ?? "").split("?")[0] ?? "";
    if (incoming.headers["x-browser"] === undefined) asked.push(path);
    const bearer = /^Bearer (.+)$/.exec(incoming.headers.authorization ?? "")?.[1];
    if (path === "/me" && bearer !== undefined) bearers.push(bearer);
    if (path === "/token" && failing !== null) {
      if (failing !== "silence") answer.writeHead(failing).end("{}");
      return;
    }
    if (!path.startsWith("/interaction/")) return handle(incoming, answer);
    interact(provider, { incoming, answer, visitor }).catch((error: unknown) =>
      answer.writeHead(500).end(String(error)),
    );
  });
  return {
    url,
    host,
    issued,
    asked,
    bearers,
    visit: (authorizeUrl, as) => visit(authorizeUrl, as),
    signInAs: (account) => {
      visitor = account;
    },
    endGrant: async (refreshToken) => {
      const token = await provider.RefreshToken.find(refreshToken);
      if (token?.grantId === undefined) throw new Error("there is no such refresh token");
      await provider.RefreshToken.revokeByGrantId(token.grantId);
      await (await provider.Grant.find(token.grantId))?.destroy();
    },
    admits: async (accessToken) => {
      const headers = { authorization: `Bearer ${accessToken}`, "x-browser": "1" };
      const { statusCode, body } = await request(`${url}/me`, { headers });
      await body.dump();
      return statusCode === 200;
    },
    failWith: (status) => {
      failing = status;
    },
  };
}

/** Serves the host's pages: signs the visitor in and asks for consent. */
async function interact(
  provider: Provider,
  { incoming, answer, visitor }: { incoming: IncomingMessage; answer: ServerResponse; visitor: string },
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(incoming, answer);
  const accountId = String(incoming.headers["x-account"] ?? visitor);
  if (incoming.headers["x-denies"] !== undefined) {
    return provider.interactionFinished(incoming, answer, { error: "access_denied", error_description: "no" });
  }
  if (prompt.name === "login") return provider.interactionFinished(incoming, answer, { login: { accountId } });
  const grant = new provider.Grant({ accountId: session?.accountId ?? "", clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  return provider.interactionFinished(incoming, answer, { consent: { grantId: await grant.save() } });
}

async function visit(
  authorizeUrl: string,
  { account, denies = false }: { readonly account: string; readonly denies?: boolean },
): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = new URL(authorizeUrl);
  for (let hop = 0; hop < 12; hop++) {
    const headers = {
      "x-browser": "1",
      "x-account": account,
      ...(denies ? { "x-denies": "1" } : {}),
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
    };
    const { statusCode, headers: answered, body } = await request(at, { headers });
    const text = await body.text();
    for (const cookie of [answered["set-cookie"] ?? []].flat()) {
      const [name = "", value = ""] = cookie.split(";")[0]?.split("=", 2) ?? [];
      cookies.set(name, value);
    }
    const location = answered.location;
    if (typeof location !== "string") throw new Error(`${at.pathname} answered ${statusCode} ${text}`);
    at = new URL(location, at);
    if (at.href.startsWith(REDIRECT_URI)) return at;
  }
  throw new Error("it leads in circles");
}
