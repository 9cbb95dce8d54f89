import { readFile } from "node:fs/promises";
import { z } from "zod";

/** The credential that a runner connects with. */
export interface Credential {
  /** Returns the current token. Rejects with {@link NoCredential} if there is none. */
  token(): Promise<string>;
  /** Tells the credential that the service rejected the last token. */
  refused(): void;
  /** Secret values to mask in every output. */
  hidden(): readonly string[];
}

/** The runner has no token to connect with. The message is for the runner's operator, and holds no secrets. */
export class NoCredential extends Error {
  override readonly name = "NoCredential";
  /** True if the service does not admit the runner, so that an early retry is useless. */
  readonly isRefusal: boolean;

  constructor(message: string, options: { readonly isRefusal: boolean }) {
    super(message);
    this.isRefusal = options.isRefusal;
  }
}

/** A credential with a fixed pool token. */
export function poolToken(token: string): Credential {
  return { token: async () => token, refused: () => undefined, hidden: () => [token] };
}

export interface HostCredentialOptions {
  /** The service's base URL. */
  readonly url: string;
  readonly trust: string;
  /** The file with this host's OIDC token. The runner reads it for each exchange, because platforms renew it. */
  readonly tokenFile: string;
  /** The key of the pool to join. Null selects the trust's only pool. */
  readonly pool: string | null;
  readonly now: () => number;
}

const EXCHANGE_TIMEOUT_MS = 15_000;
/** A pool token is replaced when it expires in less than this time, in milliseconds. */
const SPARE_MS = 60_000;

const exchangeSchema = z.object({
  pools: z.array(z.object({ pool: z.string(), token: z.string() })).min(1),
  expiresAt: z.string(),
});

/** Exchanges the host platform's OIDC token for pool tokens, and uses each pool token while it is valid. */
export function hostCredential(options: HostCredentialOptions): Credential {
  let cached: { readonly token: string; readonly untilMs: number } | null = null;
  let proof = "";
  return {
    async token() {
      if (cached !== null && cached.untilMs > options.now()) return cached.token;
      proof = await readProof(options.tokenFile);
      const { pools, expiresAt } = await exchange(options, proof);
      cached = { token: pickPool(pools, options.pool), untilMs: Date.parse(expiresAt) - SPARE_MS };
      return cached.token;
    },
    refused() {
      cached = null;
    },
    hidden: () => [proof, cached?.token ?? ""].filter((value) => value !== ""),
  };
}

async function readProof(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "it failed";
    throw new NoCredential(`cannot read this host's token from ${file}: ${code}`, { isRefusal: false });
  }
}

async function exchange(
  { url, trust }: HostCredentialOptions,
  token: string,
): Promise<z.output<typeof exchangeSchema>> {
  const failed = (why: string) => new NoCredential(`cannot exchange this host's token: ${why}`, { isRefusal: false });
  const answer = await fetch(`${url.replace(/\/$/, "")}/api/runner-trusts/exchange`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ trust, token }),
    // Follow no redirects: they would send the token to another host.
    redirect: "error",
    signal: AbortSignal.timeout(EXCHANGE_TIMEOUT_MS),
  }).catch(() => {
    throw failed(`${url} does not respond`);
  });
  if (answer.status === 401) {
    const message =
      `the runner trust ${trust} does not admit this host: people who manage the trust can read why under its ` +
      "refusals";
    throw new NoCredential(message, { isRefusal: true });
  }
  if (answer.status !== 200) throw failed(`the service responded with status ${answer.status}`);
  const parsed = exchangeSchema.safeParse(await answer.json().catch(() => null));
  if (!parsed.success)
    throw failed("unexpected response from the service. Check that the service and this runner are the same release");
  return parsed.data;
}

function pickPool(pools: z.output<typeof exchangeSchema>["pools"], wanted: string | null): string {
  const [first, ...others] = pools.filter(({ pool }) => wanted === null || pool === wanted);
  if (first !== undefined && others.length === 0) return first.token;
  const keys = pools.map(({ pool }) => pool).join(", ");
  const why = wanted === null ? "choose one with --pool" : `${wanted} is not one of them`;
  throw new NoCredential(`the runner trust admits this host to the pools ${keys}: ${why}`, { isRefusal: true });
}
