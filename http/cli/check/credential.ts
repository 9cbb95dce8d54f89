import { readFile } from "node:fs/promises";
import { z } from "zod";
import { CouldNotAsk } from "./could-not-ask.js";
import type { Requests } from "./requests.js";

/** How the command authenticates its requests. */
export interface Credential {
  /**
   * Returns the headers of a request; gets a new token first if necessary. Throws {@link CouldNotAsk} if that fails.
   */
  headers(): Promise<Readonly<Record<string, string>>>;
  /**
   * Tells the credential that the service rejected the headers that it returned last. Returns true if `headers` may now
   * return other headers, so that a retry can succeed. Throws {@link CouldNotAsk} if the person must sign in again.
   */
  refused(): boolean;
  /** Secret values, which no output may contain. */
  hidden(): readonly string[];
}

/** Returns the credential for a fixed workspace token. */
export function fixedToken(token: string): Credential {
  return { headers: async () => toBearer(token), refused: () => false, hidden: () => [token] };
}

/** Returns the credential for the session of a person who is signed in. The cookie is `<name>=<value>`. */
export function sessionCookie(cookie: string, url: string): Credential {
  const value = cookie.slice(cookie.indexOf("=") + 1);
  return {
    headers: async () => ({ cookie }),
    refused: () => {
      throw new CouldNotAsk(`Your sign-in to ${url} has ended: run signalbox login ${url}.`);
    },
    hidden: () => [value],
  };
}

function toBearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/**
 * The source of the CI platform's OIDC token. `get` reads the token again each time; `hidden` returns the secrets that
 * `get` uses.
 */
export interface Proof {
  get(): Promise<string>;
  hidden(): readonly string[];
}

export interface TrustOptions {
  readonly requests: Requests;
  /** The base address of the service. */
  readonly url: string;
  /** The id of the token trust. */
  readonly trust: string;
  readonly proof: Proof;
}

/** A token is replaced when it expires in less than this time, in milliseconds. */
const SPARE_MS = 20_000;

const exchanged = z.looseObject({ token: z.string().min(1), expiresAt: z.string() });

/**
 * Returns a credential that exchanges the CI platform's OIDC token for a workspace token through a token trust. When
 * the workspace token expires, the credential exchanges a new OIDC token.
 */
export function trustedToken({ requests, url, trust, proof }: TrustOptions): Credential {
  const seen = new Set<string>();
  let cached: { readonly token: string; readonly untilMs: number } | null = null;
  return {
    async headers() {
      if (cached !== null && requests.nowMs() < cached.untilMs) return toBearer(cached.token);
      const token = await proof.get();
      seen.add(token);
      const answer = await requests.send({
        url: `${url}/api/workspace-tokens/exchange`,
        what: "the token exchange",
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ trust, token }),
      });
      if (answer.status === 401) {
        throw new CouldNotAsk(
          `The service did not exchange this job's OIDC token with the trust ${trust}: people who manage the ` +
            `trust can read why at /api/resources/token-trusts/${trust}/refusals.`,
        );
      }
      const given = exchanged.safeParse(answer.body).data;
      if (answer.status !== 200 || given === undefined) {
        throw new CouldNotAsk(`The token exchange returned an unexpected response with status ${answer.status}.`);
      }
      seen.add(given.token);
      const untilMs = Date.parse(given.expiresAt) - SPARE_MS;
      // If a new token already seems expired, this machine's clock is wrong. In that case, use the token until the
      // service rejects it with 401.
      cached = { token: given.token, untilMs: untilMs > requests.nowMs() ? untilMs : Number.POSITIVE_INFINITY };
      return toBearer(cached.token);
    },
    refused() {
      cached = null;
      return true;
    },
    hidden: () => [...seen, ...proof.hidden()],
  };
}

/**
 * Returns a {@link Proof} that reads the job's OIDC token from a file, which the CI platform creates and renews. `get`
 * throws {@link CouldNotAsk} if the file cannot be read.
 */
export function fileProof(file: string): Proof {
  return {
    hidden: () => [],
    async get() {
      try {
        return (await readFile(file, "utf8")).trim();
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : "it failed";
        throw new CouldNotAsk(`Cannot read the job's OIDC token from ${file}: ${code}.`);
      }
    },
  };
}

export interface GithubProofOptions {
  readonly requests: Requests;
  readonly audience: string;
  /**
   * `ACTIONS_ID_TOKEN_REQUEST_URL` of a job with `id-token: write`; `requestToken` is `ACTIONS_ID_TOKEN_REQUEST_TOKEN`.
   */
  readonly requestUrl: string;
  readonly requestToken: string;
}

const issued = z.looseObject({ value: z.string().min(1) });

/**
 * Returns a {@link Proof} that requests an OIDC token for the audience from GitHub Actions. `get` throws {@link
 * CouldNotAsk} if that fails.
 */
export function githubProof({ requests, audience, requestUrl, requestToken }: GithubProofOptions): Proof {
  return {
    hidden: () => [requestToken],
    async get() {
      const url = new URL(requestUrl);
      url.searchParams.set("audience", audience);
      const headers = { authorization: `Bearer ${requestToken}`, accept: "application/json" };
      const answer = await requests.send({ url: url.href, what: "GitHub's OIDC tokens", method: "GET", headers });
      const given = issued.safeParse(answer.body).data;
      if (answer.status !== 200 || given === undefined) {
        throw new CouldNotAsk(
          `GitHub did not return an OIDC token for this job: it responded with status ${answer.status}.`,
        );
      }
      return given.value;
    },
  };
}
