import { LRUCache } from "lru-cache";
import { z } from "zod";
import { whyRefused } from "./code-host-repository.js";
import {
  type CodeHostAnswer,
  CodeHostRefused,
  type CodeHostRequest,
  isRefusedWith,
  readAs,
} from "./code-host-requests.js";

/**
 * The access tokens of installations.
 *
 * 1. Tokens are in memory only. A cached token is returned only if it stays valid for at least {@link
 *   MIN_REMAINING_MS}.
 * 2. For each installation, `read` sends one request at a time. Callers that arrive during a request wait for its
 *   answer.
 */
export interface InstallationTokens {
  /** Returns a token of an installation. Rejects with {@link CodeHostRefused}. */
  read(installationId: number): Promise<string>;
  /**
   * Requests a new token with these permissions for one repository, by name or number. `name` is the code host's name
   * for the repository, or null if the host does not say. The token is not cached. Rejects with
   * {@link CodeHostRefused}.
   */
  forRepository(
    installationId: number,
    repository: string | number,
    permissions: Readonly<Record<string, string>>,
  ): Promise<{ readonly token: string; readonly name: string | null }>;
  /** Drops a token that the code host rejected. The next call of `read` fetches a new token. */
  forget(installationId: number): void;
}

export interface InstallationTokensOptions {
  readonly ask: (request: CodeHostRequest) => Promise<Pick<CodeHostAnswer, "status" | "json">>;
  readonly apiUrl: string;
  /** Name of the code host in messages. */
  readonly name: string;
  readonly appToken: () => Promise<string>;
  readonly now: () => number;
}

/** Minimum remaining lifetime of a cached token in milliseconds, because clocks differ and requests take time. */
const MIN_REMAINING_MS = 5 * 60 * 1_000;
/** Maximum number of cached installations; the least recently used one is evicted. */
const MAX_REMEMBERED = 1_000;

/** Maximum length of a token, in characters. */
const MAX_TOKEN_LENGTH = 4_096;

const tokenSchema = z.object({
  token: z.string().min(1).max(MAX_TOKEN_LENGTH),
  expires_at: z.iso.datetime({ offset: true }),
  /** The repository that the token is limited to; absent if the token is not limited to one repository. */
  repositories: z
    .tuple([z.object({ full_name: z.string().regex(/^[\w.-]+\/[\w.-]+$/) })])
    .optional()
    .catch(undefined),
});

interface CachedToken {
  readonly token: string;
  /** The name of the single repository that the token is limited to; otherwise null. */
  readonly name: string | null;
  readonly expiresAtMs: number;
}

/** Creates a cache that fetches access tokens. */
export function createInstallationTokens(options: InstallationTokensOptions): InstallationTokens {
  const cache = new LRUCache<number, CachedToken>({ max: MAX_REMEMBERED });
  const asking = new Map<number, Promise<CachedToken>>();

  const fetchToken = async (installationId: number, wanted: object = {}): Promise<CachedToken> => {
    const { ask, apiUrl, name } = options;
    const url = `${apiUrl}/app/installations/${installationId}/access_tokens`;
    const body = { type: "application/json", text: JSON.stringify(wanted) } as const;
    const { status, json } = await ask({
      what: "a token of an installation",
      url,
      authorization: `Bearer ${await options.appToken()}`,
      body,
    });
    if (status === 401) throw new CodeHostRefused(`${name} rejected this service's app credentials.`);
    if (status >= 300) throw isRefusedWith(name, status, whyRefused(json));
    const { token, expires_at, repositories } = readAs(name, tokenSchema, json);
    return { token, name: repositories?.[0].full_name ?? null, expiresAtMs: Date.parse(expires_at) };
  };
  const renew = async (installationId: number): Promise<CachedToken> => {
    try {
      const fetched = await fetchToken(installationId);
      cache.set(installationId, fetched);
      return fetched;
    } finally {
      asking.delete(installationId);
    }
  };

  return {
    async read(installationId) {
      const known = cache.get(installationId);
      if (known !== undefined && known.expiresAtMs - options.now() >= MIN_REMAINING_MS) return known.token;
      cache.delete(installationId);
      const pending = asking.get(installationId) ?? renew(installationId);
      asking.set(installationId, pending);
      return (await pending).token;
    },
    async forRepository(installationId, repository, permissions) {
      const named =
        typeof repository === "number"
          ? { repository_ids: [repository] }
          : { repositories: [repository.split("/").at(-1) ?? ""] };
      const { token, name } = await fetchToken(installationId, { ...named, permissions });
      return { token, name };
    },
    forget: (installationId) => void cache.delete(installationId),
  };
}
