import { generateKeyPairSync, randomBytes } from "node:crypto";
import { jwtVerify } from "jose";
import type { HostedAccount } from "./hosted-account.js";
import type { HostedToken } from "./hosted-api.js";
import { HostedHooks } from "./hosted-hooks.js";
import type { HostedReply } from "./hosted-reply.js";
import { appAccount } from "./hosted-work.js";

/** An installation of the app. */
export interface HostedInstallation {
  readonly id: number;
  readonly account: HostedAccount;
  suspended_at: string | null;
  updated_at: string;
  /** Absent if the installation has all permissions that the service needs. */
  permissions?: Readonly<Record<string, string>>;
}

/** The requested rights of a token; by default all rights of the installation. */
export interface TokenWish {
  /** Names of repositories, without the owner. */
  readonly repositories?: readonly string[];
  /** Numbers of repositories. */
  readonly repository_ids?: readonly number[];
  readonly permissions?: Readonly<Record<string, string>>;
}

/** Records every secret that is issued or received. */
export interface SecretLog {
  /** Creates a new secret with this prefix. */
  draw(prefix: string): string;
  saw(secret: string): void;
}

/** A request by the app itself. */
interface AppRequest {
  readonly method: string;
  /** The path, starting with `/app`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

/** All permissions that the service needs. */
const ALL_PERMISSIONS: Readonly<Record<string, string>> = {
  metadata: "read",
  members: "read",
  contents: "write",
  pull_requests: "write",
  issues: "write",
  workflows: "write",
};
/** The app's key pair. All code hosts of a process share it, because generating a key pair is slow. */
const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const APP_ID = "29310";
const TOKEN_MS = 60 * 60 * 1_000;
const APP_JWT_MS = 10 * 60 * 1_000;

/** The service's app at the code host: its installations, their repositories and tokens, and its webhook. */
export class HostedApp {
  readonly installations = new Map<number, HostedInstallation>();
  /** `owner/name` of the repositories that each installation can access. */
  readonly repositories = new Map<number, readonly string[]>();
  readonly hooks: HostedHooks;
  /** Returns the name of the repository with this number; null if there is none. */
  nameOf: (repositoryId: number) => string | null = () => null;
  readonly #secrets: SecretLog;
  readonly #now: () => number;
  readonly #webhookSecret = `webhook-${randomBytes(16).toString("hex")}`;
  readonly #tokens = new Map<string, HostedToken>();

  constructor(secrets: SecretLog, now: () => number) {
    this.#secrets = secrets;
    this.#now = now;
    this.hooks = new HostedHooks(this.#webhookSecret, now);
  }

  /** The service's settings for the app. */
  get settings(): Readonly<Record<string, string>> {
    return {
      CODE_HOST_APP_ID: APP_ID,
      CODE_HOST_APP_KEY: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
      CODE_HOST_WEBHOOK_SECRET: this.#webhookSecret,
    };
  }

  /** Returns the account with this name that has an installation; undefined if there is none. */
  findAccount(login: string): HostedAccount | undefined {
    return [...this.installations.values()].find(({ account }) => account.login === login)?.account;
  }

  /**
   * Records a repository's new name in installations and tokens. After a transfer, only the installation of the new
   * owner has the repository.
   */
  rename(before: string, after: string): void {
    const [owner] = after.split("/");
    for (const { id, account } of this.installations.values()) {
      const others = (this.repositories.get(id) ?? []).filter((name) => name !== before);
      this.repositories.set(id, account.login === owner ? [...others, after] : others);
    }
    for (const [token, { repositories, ...made }] of this.#tokens)
      this.#tokens.set(token, {
        ...made,
        repositories: repositories?.map((name) => (name === before ? after : name)) ?? null,
      });
  }

  /** Returns the installation that can access a repository; null if there is none. */
  findInstallation(repository: string): number | null {
    return [...this.repositories].find(([, names]) => names.includes(repository))?.[0] ?? null;
  }

  /** Returns the rights of a token; null if it is unknown or expired. */
  findToken(bearer: string): HostedToken | null {
    const token = this.#tokens.get(bearer);
    return token === undefined || token.expiresAtMs <= this.#now() ? null : token;
  }

  /** Issues an installation token. Returns null if the installation is unknown or lacks the requested rights. */
  makeToken(installationId: number, { repositories, repository_ids, permissions }: TokenWish): string | null {
    const installation = this.installations.get(installationId);
    if (installation === undefined) return null;
    const reached = this.repositories.get(installationId) ?? [];
    const numbered = repository_ids?.map((id) => this.nameOf(id) ?? "");
    const named =
      repositories?.map((name) => reached.find((one) => one.endsWith(`/${name}`)) ?? "") ?? numbered ?? null;
    const granted = installation.permissions ?? ALL_PERMISSIONS;
    const wanted = permissions === undefined ? granted : { metadata: "read", ...permissions };
    const isGranted = ([name, level]: [string, string]) => granted[name] === "write" || granted[name] === level;
    if (named?.some((name) => !reached.includes(name)) || !Object.entries(wanted).every(isGranted)) return null;
    const token = this.#secrets.draw("ghs");
    const expiresAtMs = this.#now() + TOKEN_MS;
    this.#tokens.set(token, { installationId, expiresAtMs, repositories: named ?? reached, permissions: wanted });
    return token;
  }

  /** Answers a request to `/app` or below. */
  async answer(bearer: string, { method, path, query, body }: AppRequest): Promise<HostedReply> {
    if (!(await this.#isApp(bearer)))
      return { status: 401, json: { message: "A JSON web token could not be decoded" } };
    if (path === "/app") return { status: 200, json: { slug: appAccount.login.replace("[bot]", "") } };
    if (path.startsWith("/app/hook/deliveries")) return this.hooks.answer(method, path, query);
    const [, number, rest = ""] = /^\/app\/installations\/(\d+)(\/access_tokens)?$/.exec(path) ?? [];
    const installation = this.installations.get(Number(number));
    if (installation === undefined) return { status: 404, json: { message: "Not Found" } };
    const permissions = installation.permissions ?? ALL_PERMISSIONS;
    if (rest === "") return { status: 200, json: { ...installation, permissions, app_id: Number(APP_ID) } };
    if (method !== "POST") return { status: 404, json: {} };
    const wish = JSON.parse(body || "{}") as TokenWish;
    const token = this.makeToken(installation.id, wish);
    if (token === null) {
      const message = "The permissions or repositories requested are not granted to this installation.";
      return { status: 422, json: { message } };
    }
    const made = this.#tokens.get(token);
    const expires_at = new Date(made?.expiresAtMs ?? 0).toISOString();
    const isOfSome = wish.repositories !== undefined || wish.repository_ids !== undefined;
    const repositories = isOfSome ? made?.repositories?.map((full_name) => ({ full_name })) : undefined;
    return { status: 201, json: { token, expires_at, permissions: made?.permissions, repositories } };
  }

  /** Answers with the repositories that a token's installation can access. */
  answerRepositories(bearer: string, query: URLSearchParams): HostedReply {
    const token = this.findToken(bearer);
    if (token === null) return { status: 401, json: { message: "Bad credentials" } };
    const all = this.repositories.get(token.installationId) ?? [];
    const size = Number(query.get("per_page") ?? 30);
    const from = (Number(query.get("page") ?? 1) - 1) * size;
    const repositories = all
      .slice(from, from + size)
      .map((full_name) => ({ full_name, private: true, default_branch: "main" }));
    return { status: 200, json: { total_count: all.length, repositories } };
  }

  /** Whether the bearer is a JWT that is signed with the app's key and valid for at most ten more minutes. */
  async #isApp(bearer: string): Promise<boolean> {
    const now = this.#now();
    this.#secrets.saw(bearer);
    try {
      const wanted = { algorithms: ["RS256"], issuer: APP_ID, currentDate: new Date(now) };
      const { payload } = await jwtVerify(bearer, publicKey, wanted);
      const { iat = 0, exp = 0 } = payload;
      return iat * 1_000 <= now && exp * 1_000 - now <= APP_JWT_MS;
    } catch {
      return false;
    }
  }
}
