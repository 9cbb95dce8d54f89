import { setTimeout } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { Lane } from "../../../runtime/effects/lane.js";
import type { RuntimeLog } from "../../../runtime/runtime.js";
import { codeHostLane } from "../http/lanes.js";
import type { Outbound } from "../http/request.js";
import { createAppSigner } from "./code-host-app.js";
import { type CodeHostPullRequests, createPullRequests } from "./code-host-pull-requests.js";
import { type RepositoryThere, readRepository } from "./code-host-repository.js";
import { CodeHostRefused, createCodeHostRequests, isRefusedWith, readAs } from "./code-host-requests.js";
import { type CodeHostSettings, codeHostName } from "./code-host-settings.js";
import {
  fetchPersonToken,
  type HostAccount,
  isAdministrator,
  type SignInRequest,
  type SignInReturn,
  signInUrl,
} from "./code-host-sign-in.js";
import { type CodeHostSources, createSources } from "./code-host-sources.js";
import { createInstallationTokens } from "./installation-tokens.js";

/** An installation of the app, as the code host returns it. */
export interface Installation {
  readonly id: number;
  readonly account: HostAccount;
  readonly isSuspended: boolean;
  /** The app's permissions in this installation, such as `read` or `write`, by GitHub's permission name. */
  readonly permissions: Readonly<Record<string, string>>;
  /** The time of the installation's last change at the code host. */
  readonly updatedAtMs: number;
}

/** A repository that an installation can reach. */
export interface HostedRepository {
  /** The repository's name, `owner/name`. */
  readonly name: string;
  readonly isPrivate: boolean;
  readonly defaultBranch: string;
}

/** The code host: GitHub's API, or a compatible one. The methods reject with {@link CodeHostRefused}. */
export interface CodeHost {
  /** The name of the code host in messages: the host of its web address. */
  readonly name: string;
  /** Returns the address where a person signs in. The code host then sends the person back to `redirectUri`. */
  signInUrl(way: SignInRequest): string;
  /** Fetches the person's token; null if the code host does not confirm the sign-in. The token is never stored. */
  personToken(back: SignInReturn): Promise<string | null>;
  /** Reads an installation; null if the app has no such installation. */
  installation(id: number): Promise<Installation | null>;
  /** Whether a person administers an installation's account; `unknown` if the code host does not say. */
  administers(personToken: string, account: HostAccount): Promise<"yes" | "no" | "unknown">;
  readonly pullRequests: CodeHostPullRequests;
  readonly sources: CodeHostSources;
  /**
   * Creates a token for one push to one repository. Returns the token and the repository's git address, which does not
   * contain the token. The token is never stored.
   */
  pushToken(push: PushTo): Promise<{ readonly url: string; readonly token: string }>;
  /** Lists the repositories that an installation reaches, 100 per page. The first page is 1. */
  repositories(
    installationId: number,
    page: number,
  ): Promise<{ readonly items: HostedRepository[]; readonly total: number }>;
}

/** The repository to push to. */
export interface PushTo extends RepositoryThere {
  /** Whether the push changes workflows of the code host. */
  readonly workflows: boolean;
}

/** Number of repositories per page. */
export const REPOSITORIES_ON_PAGE = 100;

export interface CodeHostOptions {
  readonly settings: CodeHostSettings;
  /** Must have the allow-list of `codeHostAddresses`. */
  readonly outbound: Pick<Outbound, "send">;
  readonly now: () => number;
  readonly log: Pick<RuntimeLog, "warn">;
  /** Resolves after this many milliseconds; the default is a timer. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** Creates a client of the code host. */
export function createCodeHost({ settings, outbound, now, log, pause = setTimeout }: CodeHostOptions): CodeHost {
  const { apiUrl, webUrl } = settings;
  const name = codeHostName(webUrl);
  const ask = createCodeHostRequests({ outbound, apiUrl, name, now, log });
  const lane = new Lane(codeHostLane);
  const app = createAppSigner(settings.appId, settings.appKey);
  const appToken = () => app.token(now());
  const tokens = createInstallationTokens({ ask, apiUrl, name, appToken, now });
  const listRepositories: CodeHost["repositories"] = async (installationId, page) => {
    const url = `${apiUrl}/installation/repositories?per_page=${REPOSITORIES_ON_PAGE}&page=${page}`;
    const authorization = `Bearer ${await tokens.read(installationId)}`;
    const { status, json } = await ask({ what: "repositories", url, authorization });
    if (status === 401) tokens.forget(installationId);
    if (status !== 200) throw isRefusedWith(name, status);
    const { repositories, total_count } = readAs(name, repositoriesSchema, json);
    return { items: repositories, total: total_count };
  };
  const parts = { ask, apiUrl, name, tokens, appToken, paced: createPace({ now, pause }) };
  return {
    name,
    pullRequests: createPullRequests(parts),
    sources: createSources(parts),
    async pushToken({ workflows, ...there }) {
      const { installationId, repository } = there;
      const contents = { contents: "write", ...(workflows && { workflows: "write" }) };
      const make = async (named: string | number, called: string) => {
        const { token, name: told } = await tokens.forRepository(installationId, named, contents);
        return { url: `${webUrl}/${told ?? called}.git`, token };
      };
      try {
        return await make(repository, repository);
      } catch (error) {
        // The request for a token must use the repository's current name: the code host does not redirect this request
        // from an earlier name.
        if (!(error instanceof CodeHostRefused) || (error.status !== 422 && error.status !== 404)) throw error;
        const now = await readRepository(parts, there).catch(() => null);
        if (now === null || now.name.toLowerCase() === repository.toLowerCase()) throw error;
        return make(now.id ?? now.name, now.name);
      }
    },
    signInUrl: (way) => signInUrl(settings, way),
    personToken: (back) => fetchPersonToken({ ask, settings, name, log }, back),
    async installation(id) {
      const { status, json } = await ask({
        what: "an installation",
        url: `${apiUrl}/app/installations/${id}`,
        authorization: `Bearer ${await appToken()}`,
      });
      if (status === 404) return null;
      if (status === 401) throw new CodeHostRefused(`${name} rejected this service's app credentials.`);
      if (status !== 200) throw isRefusedWith(name, status);
      const installation = readAs(name, installationSchema, json);
      if (installation.id !== id) throw new CodeHostRefused(`${name} answered for a different installation.`);
      return installation;
    },
    administers: (token, account) => isAdministrator({ ask, settings, name, log }, token, account),
    async repositories(installationId, page) {
      const place = { client: String(installationId), target: name };
      if (!lane.take(place))
        throw new CodeHostRefused(`Too many requests to ${name} are in progress. Try again later.`);
      try {
        return await listRepositories(installationId, page);
      } finally {
        lane.release(place);
      }
    },
  };
}

const hostId = z.int().positive();
const accountSchema = z
  .object({ id: hostId, login: z.string().max(255).default(""), type: z.string().default("") })
  .transform(({ id, login: named, type }) => ({ id, login: named, kind: toKind(type) }));

const installationSchema = z
  .object({
    id: hostId,
    account: accountSchema,
    suspended_at: z.string().nullish(),
    updated_at: z.iso.datetime({ offset: true }),
    permissions: z.record(z.string(), z.string()).catch({}),
  })
  .transform(({ id, account, suspended_at, updated_at, permissions }) => ({
    id,
    account,
    permissions,
    isSuspended: (suspended_at ?? null) !== null,
    updatedAtMs: Date.parse(updated_at),
  }));

const repositoriesSchema = z.object({
  total_count: z.int().nonnegative(),
  repositories: z
    .array(
      z
        .object({ full_name: z.string().min(1).max(500), private: z.boolean(), default_branch: z.string().max(500) })
        .transform(({ full_name, private: isPrivate, default_branch }) => ({
          name: full_name,
          isPrivate,
          defaultBranch: default_branch,
        })),
    )
    .max(REPOSITORIES_ON_PAGE),
});

function toKind(type: string): HostAccount["kind"] {
  if (type === "Organization") return "organization";
  return type === "User" ? "user" : "other";
}

/**
 * Minimum time between two writes for one installation, in milliseconds, as GitHub recommends. This allows 60 writes
 * per minute.
 */
const PACE_MS = 1_000;
/** Maximum number of installations whose next write time is in memory. */
const MAX_REMEMBERED = 1_000;

/**
 * Creates a function that resolves when the service may write for an installation. For each installation, its calls
 * resolve at least {@link PACE_MS} apart.
 */
function createPace({
  now,
  pause,
}: {
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
}): (installationId: number) => Promise<void> {
  const next = new LRUCache<number, number>({ max: MAX_REMEMBERED });
  return async (installationId) => {
    const nowMs = now();
    const atMs = Math.max(nowMs, next.get(installationId) ?? 0);
    next.set(installationId, atMs + PACE_MS);
    if (atMs > nowMs) await pause(atMs - nowMs);
  };
}
