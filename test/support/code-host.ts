import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { jwtVerify } from "jose";
import { serveGit } from "./git-backend.js";
import type { HostedAccount } from "./hosted-account.js";
import { answerRepository, type HostedReply, type HostedToken, mayWork } from "./hosted-api.js";
import { HostedHooks } from "./hosted-hooks.js";
import { appAccount, HostedWork } from "./hosted-work.js";
import type { Cleaning } from "./service.js";

/** An installation of the app. */
export interface HostedInstallation {
  readonly id: number;
  readonly account: HostedAccount;
  suspended_at: string | null;
  updated_at: string;
  /** Absent for all that the service asks for. */
  permissions?: Readonly<Record<string, string>>;
}

/** An answer that replaces the code host's own. */
export type HostedFault =
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  /** Answers as it would, when this resolves. */
  | { readonly after: Promise<unknown> }
  | "drop"
  /** Does what it is asked, and drops the connection instead of answering. */
  | "lose"
  /** Never answers. */
  | "hang";

/** All permissions that the service asks for. */
const ALL_PERMISSIONS = {
  ...{ metadata: "read", members: "read", contents: "write", pull_requests: "write", issues: "write" },
  workflows: "write",
};

/**
 * A code host on the loopback interface: the part of GitHub's API that an app and its sign-in use, and its repositories
 * over git, which an app's tokens fetch from and push to.
 */
export interface CodeHostPeer {
  /** Its name in messages. */
  readonly name: string;
  /** Settings of a service that uses it. */
  readonly settings: Readonly<Record<string, string>>;
  readonly installations: Map<number, HostedInstallation>;
  /** `<organisation>/<person>` */
  readonly memberships: Map<string, { readonly state: string; readonly role: string }>;
  /** The repositories of `GET /installation/repositories`, by installation. */
  readonly repositories: Map<number, readonly string[]>;
  /** Replaces the answers to requests with this method and path. */
  readonly faults: Map<RegExp, HostedFault>;
  /** The same for one request each: the first that matches takes it. */
  readonly onceFaults: { readonly on: RegExp; readonly fault: HostedFault }[];
  /** Its repositories and pull requests, and what people do there. */
  readonly work: HostedWork;
  /** The app's webhook: nothing is delivered unless the test does so. */
  readonly hooks: HostedHooks;
  /** Its web address. */
  readonly origin: string;
  /** A token of an installation, as the API gives one. */
  installationToken(installationId: number, wanted?: TokenWish): string;
  /** Method and path of all requests. */
  readonly asked: readonly string[];
  /** Resolves after this many requests with this method and path; one by default. */
  asking(pattern: RegExp, count?: number): Promise<void>;
  /** All secrets that it sent or received: codes, verifiers, tokens, the app's JWTs. */
  readonly secrets: readonly string[];
  /** The account of a browser that names none; nobody at first. */
  readonly browser: { person: HostedAccount | null };
  /** Signs a person in at the address, like their browser; returns the query of the redirect. */
  signIn(url: string, person: HostedAccount): Promise<URLSearchParams>;
  /** The headers of a signed delivery. */
  deliveryHeaders(event: string, body: string, delivery: string): Record<string, string>;
}

/** The app's key; slow to generate, so once for each file. */
const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const APP_ID = "29310";
const CLIENT = { id: "Iv1.8a61f9b3a7aba766", secret: `client-${randomBytes(16).toString("hex")}` };
const WEBHOOK_SECRET = `webhook-${randomBytes(16).toString("hex")}`;
const TOKEN_MS = 60 * 60 * 1_000;

/** What a token is asked for; all that the installation has by default. */
interface TokenWish {
  /** Without their owners. */
  readonly repositories?: readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
}

interface Grant {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly person: HostedAccount;
}

/** Starts a code host; `now` is the service's clock. It ends with the test. */
export async function startCodeHost(t: Cleaning, now: () => number = Date.now): Promise<CodeHostPeer> {
  const codes = new Map<string, Grant>();
  const people = new Map<string, HostedAccount>();
  const tokens = new Map<string, HostedToken>();
  const secrets: string[] = [];
  const asked: string[] = [];
  const draw = (prefix: string): string => {
    const value = `${prefix}_${randomBytes(24).toString("hex")}`;
    secrets.push(value);
    return value;
  };
  const peer = {
    installations: new Map<number, HostedInstallation>(),
    memberships: new Map<string, { readonly state: string; readonly role: string }>(),
    repositories: new Map<number, readonly string[]>(),
    faults: new Map<RegExp, HostedFault>(),
    onceFaults: [] as { readonly on: RegExp; readonly fault: HostedFault }[],
    browser: { person: null as HostedAccount | null },
  };
  const waiting = new Set<() => void>();
  const ownerOf = (repository: string) =>
    [...peer.repositories].find(([, names]) => names.includes(repository))?.[0] ?? null;
  const work = new HostedWork(t, now, ownerOf);
  const hooks = new HostedHooks(WEBHOOK_SECRET, now);
  const makeToken = (installation: HostedInstallation, { repositories, permissions }: TokenWish): string | null => {
    const reached = peer.repositories.get(installation.id) ?? [];
    const named = repositories?.map((name) => reached.find((one) => one.endsWith(`/${name}`)) ?? "") ?? null;
    const granted: Readonly<Record<string, string>> = installation.permissions ?? ALL_PERMISSIONS;
    const wanted = permissions === undefined ? granted : { metadata: "read", ...permissions };
    const isGranted = ([name, level]: [string, string]) => granted[name] === "write" || granted[name] === level;
    if (named?.some((name) => !reached.includes(name)) || !Object.entries(wanted).every(isGranted)) return null;
    const token = draw("ghs");
    const expiresAtMs = now() + TOKEN_MS;
    const of = { installationId: installation.id, expiresAtMs, repositories: named ?? reached, permissions: wanted };
    tokens.set(token, of);
    return token;
  };

  /** Whether the request is the app's: it has a JWT of the app's key, valid for ten minutes at most. */
  const isApp = async (bearer: string): Promise<boolean> => {
    secrets.push(bearer);
    try {
      const currentDate = new Date(now());
      const { payload } = await jwtVerify(bearer, publicKey, { algorithms: ["RS256"], issuer: APP_ID, currentDate });
      const { iat = 0, exp = 0 } = payload;
      return iat * 1_000 <= now() && exp * 1_000 - now() <= 10 * 60 * 1_000;
    } catch {
      return false;
    }
  };
  const authorize = (query: URLSearchParams, person: HostedAccount | null): HostedReply => {
    const { client_id, redirect_uri = "", state = "", code_challenge = "" } = Object.fromEntries(query);
    if (client_id !== CLIENT.id || person === null) return { status: 404, json: {} };
    if (query.get("code_challenge_method") !== "S256") return { status: 422, json: {} };
    const code = draw("code");
    codes.set(code, { challenge: code_challenge, redirectUri: redirect_uri, person });
    const back = new URL(redirect_uri);
    back.search = new URLSearchParams({ code, state }).toString();
    return { status: 302, json: {}, headers: { location: back.href } };
  };
  const exchange = (form: URLSearchParams): HostedReply => {
    const { client_id, client_secret, code = "", redirect_uri, code_verifier = "" } = Object.fromEntries(form);
    const grant = codes.get(code);
    codes.delete(code);
    secrets.push(code_verifier);
    if (client_id !== CLIENT.id || client_secret !== CLIENT.secret) {
      return { status: 200, json: { error: "incorrect_client_credentials", error_description: code } };
    }
    const challenge = createHash("sha256").update(code_verifier).digest("base64url");
    if (grant?.challenge !== challenge || grant.redirectUri !== redirect_uri) {
      return { status: 200, json: { error: "bad_verification_code", error_description: code } };
    }
    const token = draw("ghu");
    people.set(token, grant.person);
    return { status: 200, json: { access_token: token, token_type: "bearer", scope: "" } };
  };
  const ofApp = async (bearer: string, method: string, url: URL, body: string): Promise<HostedReply> => {
    if (!(await isApp(bearer))) return { status: 401, json: { message: "A JSON web token could not be decoded" } };
    const path = url.pathname.replace(/^\/api\/v3/, "");
    if (path === "/app") return { status: 200, json: { slug: appAccount.login.replace("[bot]", "") } };
    if (path.startsWith("/app/hook/deliveries")) return hooks.answer(method, path, url.searchParams);
    const [, number, rest = ""] = /^\/app\/installations\/(\d+)(\/access_tokens)?$/.exec(path) ?? [];
    const installation = peer.installations.get(Number(number));
    if (installation === undefined) return { status: 404, json: { message: "Not Found" } };
    const permissions = installation.permissions ?? ALL_PERMISSIONS;
    if (rest === "") return { status: 200, json: { ...installation, permissions, app_id: Number(APP_ID) } };
    if (method !== "POST") return { status: 404, json: {} };
    const token = makeToken(installation, JSON.parse(body || "{}") as TokenWish);
    if (token === null) {
      const message = "The permissions or repositories requested are not granted to this installation.";
      return { status: 422, json: { message } };
    }
    const made = tokens.get(token);
    const expires_at = new Date(made?.expiresAtMs ?? 0).toISOString();
    return { status: 201, json: { token, expires_at, permissions: made?.permissions } };
  };
  const ofInstallation = (bearer: string, query: URLSearchParams): HostedReply => {
    const token = tokens.get(bearer);
    if (token === undefined || token.expiresAtMs <= now()) return { status: 401, json: { message: "Bad credentials" } };
    const all = peer.repositories.get(token.installationId) ?? [];
    const size = Number(query.get("per_page") ?? 30);
    const from = (Number(query.get("page") ?? 1) - 1) * size;
    const repositories = all
      .slice(from, from + size)
      .map((full_name) => ({ full_name, private: true, default_branch: "main" }));
    return { status: 200, json: { total_count: all.length, repositories } };
  };
  const ofPerson = (bearer: string, path: string): HostedReply => {
    const person = people.get(bearer);
    if (person === undefined) return { status: 401, json: { message: "Bad credentials" } };
    if (path === "/user") return { status: 200, json: person };
    const organization = decodeURIComponent(path.split("/").at(-1) ?? "");
    const membership = peer.memberships.get(`${organization}/${person.login}`);
    const account = [...peer.installations.values()].find((one) => one.account.login === organization)?.account;
    if (membership === undefined) return { status: 404, json: { message: "Not Found" } };
    return { status: 200, json: { ...membership, organization: account, user: person } };
  };
  /** The token of git's basic authentication, if it may do this in the repository. */
  const gitToken = (request: IncomingMessage, repository: string, level: "read" | "write"): HostedToken | null => {
    const [, encoded = ""] = /^Basic (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    const [user, password = ""] = Buffer.from(encoded, "base64").toString("utf8").split(":");
    const token = tokens.get(password);
    if (user !== "x-access-token" || token === undefined || token.expiresAtMs <= now()) return null;
    return mayWork(token, repository, "contents", level) ? token : null;
  };
  /** Fetching and pushing. Answers 401 to who has no token for the repository. */
  const git = async (request: IncomingMessage, response: ServerResponse, name: string, isLost: boolean) => {
    const repository = work.repositories.get(name);
    const isPush = /git-receive-pack/.test(request.url ?? "");
    const token = gitToken(request, name, isPush ? "write" : "read");
    if (repository === undefined || token === null) {
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="code"' }).end("no token for this");
    }
    const before = isPush ? await repository.heads() : null;
    const env = { WORKFLOWS: token.permissions.workflows ?? "" };
    await serveGit({ folder: await work.folder, user: appAccount.login, env, isLost }, request, response);
    if (before !== null && request.method === "POST") await work.pushed(repository, before, appAccount);
  };
  const answer = async (request: IncomingMessage, body: string): Promise<HostedReply> => {
    const url = new URL(request.url ?? "", "http://code.host");
    const { pathname, searchParams } = url;
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const visitor = JSON.parse(String(request.headers["x-person"] ?? "null")) as HostedAccount | null;
    if (pathname === "/login/oauth/authorize") return authorize(searchParams, visitor ?? peer.browser.person);
    if (pathname === "/login/oauth/access_token") return exchange(new URLSearchParams(body));
    const path = pathname.replace(/^\/api\/v3/, "");
    if (path === "/app" || path.startsWith("/app/")) return ofApp(bearer, request.method ?? "", url, body);
    if (path.startsWith("/repos/")) {
      const token = tokens.get(bearer);
      if (token === undefined || token.expiresAtMs <= now()) {
        return { status: 401, json: { message: "Bad credentials" } };
      }
      const etag = request.headers["if-none-match"];
      return answerRepository(work, { method: request.method ?? "", path, query: searchParams, body, etag, token });
    }
    if (path === "/installation/repositories") return ofInstallation(bearer, searchParams);
    if (path === "/user" || path.startsWith("/user/memberships/orgs/")) return ofPerson(bearer, path);
    return { status: 404, json: { message: "Not Found" } };
  };
  const takeFault = (name: string): HostedFault | undefined => {
    const once = peer.onceFaults.findIndex(({ on }) => on.test(name));
    if (once !== -1) return peer.onceFaults.splice(once, 1)[0]?.fault;
    return [...peer.faults].find(([pattern]) => pattern.test(name))?.[1];
  };
  const server = createServer(async (request, response) => {
    const name = `${request.method} ${request.url?.split("?")[0]}`;
    asked.push(name);
    for (const look of [...waiting]) look();
    const fault = takeFault(name);
    if (fault === "hang") return;
    if (fault === "drop") return void request.socket.destroy();
    if (typeof fault === "object" && "after" in fault) await fault.after;
    else if (typeof fault === "object") {
      return send(response, { text: "", ...fault, ...(fault.body && { text: fault.body }) });
    }
    const [, repository] = /^\w+ \/([^/]+\/[^/]+)\.git\//.exec(name) ?? [];
    if (repository !== undefined) return git(request, response, repository, fault === "lose");
    const { status, json, headers } = await answer(request, await readBody(request));
    if (fault === "lose") return void request.socket.destroy();
    send(response, { status, text: json === "" ? "" : JSON.stringify(json), ...(headers && { headers }) });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  work.origin = origin;
  return {
    ...peer,
    ...{ name: new URL(origin).host, origin, asked, secrets, work, hooks },
    installationToken: (installationId, wanted = {}) => {
      const installation = peer.installations.get(installationId);
      const token = installation === undefined ? null : makeToken(installation, wanted);
      if (token === null) throw new Error(`installation ${installationId} does not have that`);
      return token;
    },
    settings: {
      CODE_HOST_URL: `${origin}/api/v3`,
      CODE_HOST_APP_ID: APP_ID,
      CODE_HOST_APP_KEY: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
      CODE_HOST_CLIENT_ID: CLIENT.id,
      CODE_HOST_CLIENT_SECRET: CLIENT.secret,
      CODE_HOST_WEBHOOK_SECRET: WEBHOOK_SECRET,
    },
    asking: (pattern, count = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (asked.filter((name) => pattern.test(name)).length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    signIn: async (url, person) => {
      const headers = { "x-person": JSON.stringify(person) };
      const sent = await fetch(url, { redirect: "manual", headers });
      const back = sent.headers.get("location");
      if (sent.status !== 302 || back === null) throw new Error(`signing in answered ${sent.status}`);
      return new URL(back).searchParams;
    },
    deliveryHeaders: (event, body, delivery) => hooks.headers(event, body, delivery),
  };
}

function send(
  response: ServerResponse,
  { status, text, headers }: { status: number; text: string; headers?: Readonly<Record<string, string>> },
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
