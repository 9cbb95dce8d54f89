import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { HostedAccount } from "./hosted-account.js";
import { answerRepository, type HostedToken, mayWork } from "./hosted-api.js";
import { HostedApp, type HostedInstallation, type TokenWish } from "./hosted-app.js";
import type { HostedHooks } from "./hosted-hooks.js";
import type { HostedReply } from "./hosted-reply.js";
import type { HostedRepository } from "./hosted-repository.js";
import { HostedSignIn } from "./hosted-sign-in.js";
import { appAccount, HostedWork } from "./hosted-work.js";

/** A fault of the code host: it sends another answer than usual, a late answer, or none. */
export type HostedFault =
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  /** Sends the usual answer, but only after the promise `after` resolves. */
  | { readonly after: Promise<unknown> }
  | "drop"
  /** Performs the request, and drops the connection instead of answering. */
  | "lose"
  /** Never answers. */
  | "hang";

/**
 * A code host on the loopback interface. It has the part of GitHub's API that an app and its sign-in use. It also
 * serves git repositories, from which the app's tokens can fetch and to which they can push.
 */
export class CodeHost {
  readonly installations: Map<number, HostedInstallation>;
  /** Memberships in organizations, by `<organization>/<login>`. */
  readonly memberships: HostedSignIn["memberships"];
  /** The repositories of `GET /installation/repositories`, by installation. */
  readonly repositories: Map<number, readonly string[]>;
  /** Faults by a pattern for `<method> <path>`. A fault applies to every request that the pattern matches. */
  readonly faults = new Map<RegExp, HostedFault>();
  /**
   * Faults that apply to one request each. They take precedence over {@link faults}. If several match, the first one is
   * used.
   */
  readonly onceFaults: { readonly on: RegExp; readonly fault: HostedFault }[] = [];
  /** The code host's repositories and pull requests, and the actions of its users. */
  readonly work: HostedWork;
  /** The app's webhook. It delivers only the events that are passed to its `send`. */
  readonly hooks: HostedHooks;
  /** Methods and paths of all requests. */
  readonly asked: string[] = [];
  /** All secrets that the code host sent or received: codes, verifiers, tokens, the app's JWTs. */
  readonly secrets: string[] = [];
  /** The account that signs in if the browser does not name one; null at first. */
  readonly browser: { person: HostedAccount | null };
  readonly #app: HostedApp;
  readonly #signIn: HostedSignIn;
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor(now: () => number, folder: string | null) {
    const { secrets } = this;
    const draw = (prefix: string): string => {
      const value = `${prefix}_${randomBytes(24).toString("hex")}`;
      secrets.push(value);
      return value;
    };
    const log = { draw, saw: (secret: string) => void secrets.push(secret) };
    this.#app = new HostedApp(log, now);
    this.#signIn = new HostedSignIn(log, (login) => this.#app.findAccount(login));
    this.installations = this.#app.installations;
    this.repositories = this.#app.repositories;
    this.hooks = this.#app.hooks;
    this.memberships = this.#signIn.memberships;
    this.browser = this.#signIn.browser;
    this.work = new HostedWork(now, (repository) => this.#app.findInstallation(repository), folder);
    this.#app.nameOf = (id) => [...this.work.repositories.values()].find((one) => one.id === id)?.name ?? null;
    this.#server = createServer((request, response) => {
      this.#take(request, response).catch((error: unknown) => fail(response, error));
    });
  }

  /**
   * Starts a code host. `now` is the service's clock. `folder` is the folder of the repositories; null for a temporary
   * folder.
   */
  static async start(now: () => number = Date.now, folder: string | null = null): Promise<CodeHost> {
    const host = new CodeHost(now, folder);
    host.#server.listen(0, "127.0.0.1");
    await once(host.#server, "listening");
    const { port } = host.#server.address() as AddressInfo;
    host.work.origin = `http://127.0.0.1:${port}`;
    return host;
  }

  get origin(): string {
    return this.work.origin;
  }

  /** The code host's name in messages. */
  get name(): string {
    return new URL(this.origin).host;
  }

  /** Settings of a service that uses this code host. */
  get settings(): Readonly<Record<string, string>> {
    return { CODE_HOST_URL: `${this.origin}/api/v3`, ...this.#app.settings, ...this.#signIn.settings };
  }

  /** Issues an installation token, like the API. */
  installationToken(installationId: number, wanted: TokenWish = {}): string {
    const token = this.#app.makeToken(installationId, wanted);
    if (token === null) throw new Error(`installation ${installationId} does not have that`);
    return token;
  }

  /** Resolves once the method and path of at least `count` requests match `pattern`. Earlier requests count too. */
  asking(pattern: RegExp, count = 1): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.asked.filter((name) => pattern.test(name)).length < count) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Signs a person in at `url`, as the person's browser would. Returns the query of the redirect that follows. */
  async signIn(url: string, person: HostedAccount): Promise<URLSearchParams> {
    const headers = { "x-person": JSON.stringify(person) };
    const sent = await fetch(url, { redirect: "manual", headers });
    const back = sent.headers.get("location");
    if (sent.status !== 302 || back === null) throw new Error(`signing in answered ${sent.status}`);
    return new URL(back).searchParams;
  }

  /** Returns the headers of a signed delivery. */
  deliveryHeaders(event: string, body: string, delivery: string): Record<string, string> {
    return this.hooks.headers(event, body, delivery);
  }

  /** Renames or transfers a repository. */
  async rename(repository: HostedRepository, name: string, by: HostedAccount): Promise<void> {
    this.#app.rename(repository.name, name);
    await this.work.rename(repository, name, by);
  }

  /**
   * Closes the code host. Removes the folder of its repositories, unless {@link start} got this folder from the caller.
   */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
    await this.work.remove();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = `${request.method} ${request.url?.split("?")[0]}`;
    this.asked.push(name);
    for (const look of [...this.#waiting]) look();
    const fault = this.#takeFault(name);
    if (fault === "hang") return;
    if (fault === "drop") return void request.socket.destroy();
    if (typeof fault === "object" && "after" in fault) await fault.after;
    else if (typeof fault === "object") {
      return send(response, { text: "", ...fault, ...(fault.body && { text: fault.body }) });
    }
    const [, repository] = /^\w+ \/([^/]+\/[^/]+)\.git\//.exec(name) ?? [];
    if (repository !== undefined) return this.#git({ request, response, repository, isLost: fault === "lose" });
    const { status, json, headers } = await this.#answer(request, await readBody(request));
    if (fault === "lose") return void request.socket.destroy();
    send(response, { status, text: json === "" ? "" : JSON.stringify(json), ...(headers && { headers }) });
  }

  #takeFault(name: string): HostedFault | undefined {
    const once = this.onceFaults.findIndex(({ on }) => on.test(name));
    if (once !== -1) return this.onceFaults.splice(once, 1)[0]?.fault;
    return [...this.faults].find(([pattern]) => pattern.test(name))?.[1];
  }

  async #answer(request: IncomingMessage, body: string): Promise<HostedReply> {
    const { method = "", url = "", headers } = request;
    const { pathname, searchParams: query } = new URL(url, "http://code.host");
    const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
    const visitor = JSON.parse(String(headers["x-person"] ?? "null")) as HostedAccount | null;
    if (pathname === "/login/oauth/authorize") return this.#signIn.authorize(query, visitor);
    if (pathname === "/login/oauth/access_token") return this.#signIn.exchange(new URLSearchParams(body));
    const path = pathname.replace(/^\/api\/v3/, "");
    if (path === "/app" || path.startsWith("/app/")) return this.#app.answer(bearer, { method, path, query, body });
    if (path.startsWith("/repos/") || path.startsWith("/repositories/")) {
      const token = this.#app.findToken(bearer);
      if (token === null) return { status: 401, json: { message: "Bad credentials" } };
      const moved = this.#redirect(method, path, query);
      if (moved !== null) return moved;
      return answerRepository(this.work, { method, path, query, body, etag: headers["if-none-match"], token });
    }
    if (path === "/installation/repositories") return this.#app.answerRepositories(bearer, query);
    if (path === "/user" || path.startsWith("/user/memberships/orgs/")) return this.#signIn.answer(bearer, path);
    return { status: 404, json: { message: "Not Found" } };
  }

  /**
   * Redirects a request that uses a repository's former name to the address with the repository's number. Returns null
   * if the name is in use again or was never used.
   */
  #redirect(method: string, path: string, query: URLSearchParams): HostedReply | null {
    const [, owner = "", name = "", ...rest] = path.slice(1).split("/");
    const former = path.startsWith("/repos/") ? this.work.formerNames.get(`${owner}/${name}`) : undefined;
    if (former === undefined || this.work.repositories.has(`${owner}/${name}`)) return null;
    const below = [former.id, ...rest].join("/");
    const location = `${this.origin}/api/v3/repositories/${below}${query.size > 0 ? `?${query}` : ""}`;
    const json = { message: "Moved Permanently", url: location };
    return { status: method === "GET" ? 301 : 307, json, headers: { location } };
  }

  /**
   * Serves fetches and pushes. Responds with 401 if the request has no token that allows this access to the repository.
   */
  async #git({ request, response, repository: name, isLost }: GitRequest): Promise<void> {
    const repository = this.work.repositories.get(name);
    const isPush = /git-receive-pack/.test(request.url ?? "");
    const token = this.#gitToken(request, name, isPush ? "write" : "read");
    if (repository === undefined || token === null) {
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="code"' }).end("no token for this");
    }
    const before = isPush ? await repository.heads() : null;
    const env = { WORKFLOWS: token.permissions.workflows ?? "" };
    await serveGit({ folder: await this.work.folder, user: appAccount.login, env, isLost }, request, response);
    if (before !== null && request.method === "POST") await this.work.pushed(repository, before, appAccount);
  }

  /**
   * Returns the token in git's basic authentication. Returns null if there is none, or if the token does not allow this
   * access to the repository.
   */
  #gitToken(request: IncomingMessage, repository: string, level: "read" | "write"): HostedToken | null {
    const [, encoded = ""] = /^Basic (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    const [user, password = ""] = Buffer.from(encoded, "base64").toString("utf8").split(":");
    const token = this.#app.findToken(password);
    if (user !== "x-access-token" || token === null) return null;
    return mayWork(token, repository, "contents", level) ? token : null;
  }
}

interface GitRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** `owner/name` */
  readonly repository: string;
  /** Whether to drop the connection instead of answering, after performing the request. */
  readonly isLost: boolean;
}

function send(
  response: ServerResponse,
  { status, text, headers }: { status: number; text: string; headers?: Readonly<Record<string, string>> },
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text);
}

/** Answers with an internal error; drops the connection if an answer has already started. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  send(response, { status: 500, text: JSON.stringify({ message: `the code host failed: ${String(error)}` }) });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

/** How to serve a repository's folder. */
interface GitBackend {
  /** The folder that request paths are relative to. */
  readonly folder: string;
  /** The authenticated user's name. With an empty name, git refuses pushes. */
  readonly user: string;
  /** Additional environment variables, for example for hooks. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether to drop the connection instead of answering, after performing the request. */
  readonly isLost?: boolean;
}

/** Answers one request with `git http-backend`, a CGI program. */
export async function serveGit(
  { folder, user, env = {}, isLost = false }: GitBackend,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, search } = new URL(request.url ?? "", "http://localhost");
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: user,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"],
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      ...env,
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  backend.stdin.on("error", () => undefined);
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(backend, "close");
  if (isLost) return void request.socket.destroy();
  const answer = Buffer.concat(chunks);
  const end = answer.indexOf("\r\n\r\n");
  for (const header of answer.subarray(0, end).toString().split("\r\n")) {
    const [name = "", value = ""] = header.split(": ");
    if (name === "Status") response.statusCode = Number.parseInt(value, 10);
    else if (name !== "") response.setHeader(name, value);
  }
  response.end(answer.subarray(end + 4));
}
