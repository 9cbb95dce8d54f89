import { readFile } from "node:fs/promises";
import { z } from "zod";
import { CouldNotAsk } from "./could-not-ask.js";
import type { Requests } from "./requests.js";

/** The workspace token that the command acts with. */
export interface Credential {
  /** The current token; a new one where the last has run out. Throws {@link CouldNotAsk} where there is none. */
  token(): Promise<string>;
  /** Call it when the service refuses the last token; whether another may be had. */
  refused(): boolean;
  /** Values that no output may have. */
  hidden(): readonly string[];
}

/** A workspace token that was issued to keep. */
export function keptToken(token: string): Credential {
  return { token: async () => token, refused: () => false, hidden: () => [token] };
}

/** Where the platform's OIDC token comes from: a new one each time, and what is secret about it. */
export interface Proof {
  get(): Promise<string>;
  hidden(): readonly string[];
}

export interface TrustOptions {
  readonly requests: Requests;
  /** The service's base address. */
  readonly url: string;
  /** The token trust's id. */
  readonly trust: string;
  readonly proof: Proof;
}

/** A token that has less than this left is exchanged anew, in milliseconds. */
const SPARE_MS = 20_000;

const exchanged = z.looseObject({ token: z.string().min(1), expiresAt: z.string() });

/** Exchanges the platform's OIDC token for a workspace token by a token trust, anew when one runs out. */
export function trustedToken({ requests, url, trust, proof }: TrustOptions): Credential {
  const seen = new Set<string>();
  let held: { readonly token: string; readonly untilMs: number } | null = null;
  return {
    async token() {
      if (held !== null && requests.nowMs() < held.untilMs) return held.token;
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
          `The service did not exchange this job's OIDC token by the trust ${trust}: who manages the trust reads why ` +
            `at /api/resources/token-trusts/${trust}/refusals.`,
        );
      }
      const given = exchanged.safeParse(answer.body).data;
      if (answer.status !== 200 || given === undefined) {
        throw new CouldNotAsk(`The token exchange answered ${answer.status}, which is not understood.`);
      }
      seen.add(given.token);
      const untilMs = Date.parse(given.expiresAt) - SPARE_MS;
      // A clock that is behind the service's, or ahead of it, is put right by the 401 that follows.
      held = { token: given.token, untilMs: untilMs > requests.nowMs() ? untilMs : Number.POSITIVE_INFINITY };
      return held.token;
    },
    refused() {
      held = null;
      return true;
    },
    hidden: () => [...seen, ...proof.hidden()],
  };
}

/** A file in which the platform puts the job's OIDC token, and renews it. */
export function fileProof(file: string): Proof {
  return {
    hidden: () => [],
    async get() {
      try {
        return (await readFile(file, "utf8")).trim();
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : "it failed";
        throw new CouldNotAsk(`The job's OIDC token cannot be read from ${file}: ${code}.`);
      }
    },
  };
}

/** What GitHub Actions gives a job with `id-token: write`. */
export interface GithubProofOptions {
  readonly requests: Requests;
  readonly audience: string;
  /** `ACTIONS_ID_TOKEN_REQUEST_URL` and `ACTIONS_ID_TOKEN_REQUEST_TOKEN`. */
  readonly requestUrl: string;
  readonly requestToken: string;
}

const issued = z.looseObject({ value: z.string().min(1) });

/** Asks GitHub Actions for an OIDC token of the audience. */
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
        throw new CouldNotAsk(`GitHub gave this job no OIDC token: it answered ${answer.status}.`);
      }
      return given.value;
    },
  };
}
