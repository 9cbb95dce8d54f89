import { readFile } from "node:fs/promises";
import { z } from "zod";

/** The credential that a runner connects with. */
export interface Credential {
  /** The current token. Rejects with {@link NoCredential} when there is none. */
  token(): Promise<string>;
  /** Call it when the service refuses the last token. */
  refused(): void;
  /** Secret values, to be masked in every output. */
  hidden(): readonly string[];
}

/** There is no token to connect with. The message is for the operator of the runner, without secrets. */
export class NoCredential extends Error {
  override readonly name = "NoCredential";
  /** Whether the service refused, so that retrying soon is useless. */
  readonly isRefusal: boolean;

  constructor(message: string, options: { readonly isRefusal: boolean }) {
    super(message);
    this.isRefusal = options.isRefusal;
  }
}

/** A pool's own token. */
export function poolToken(token: string): Credential {
  return { token: async () => token, refused: () => undefined, hidden: () => [token] };
}

export interface HostCredentialOptions {
  /** The service's base URL. */
  readonly url: string;
  /** The runner trust's id. */
  readonly trust: string;
  /** The file with this host's OIDC token; read for each exchange, since platforms renew it. */
  readonly tokenFile: string;
  /** The key of the pool to join; null if the trust has only one. */
  readonly pool: string | null;
  readonly now: () => number;
}

const EXCHANGE_TIMEOUT_MS = 15_000;
/** A token that expires within this time is not used for a new connection, in milliseconds. */
const SPARE_MS = 60_000;

const exchangeSchema = z.object({
  pools: z.array(z.object({ pool: z.string(), token: z.string() })).min(1),
  expiresAt: z.string(),
});

/** Exchanges the OIDC token of this host's platform for pool tokens, and uses each as long as it is valid. */
export function hostCredential(options: HostCredentialOptions): Credential {
  let held: { readonly token: string; readonly untilMs: number } | null = null;
  let proof = "";
  return {
    async token() {
      if (held !== null && held.untilMs > options.now()) return held.token;
      proof = await readProof(options.tokenFile);
      const { pools, expiresAt } = await exchange(options, proof);
      held = { token: pickPool(pools, options.pool), untilMs: Date.parse(expiresAt) - SPARE_MS };
      return held.token;
    },
    refused() {
      held = null;
    },
    hidden: () => [proof, held?.token ?? ""].filter((value) => value !== ""),
  };
}

async function readProof(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "it failed";
    throw new NoCredential(`this host's token cannot be read from ${file}: ${code}`, { isRefusal: false });
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
    // No redirects: the token must not be sent to another host.
    redirect: "error",
    signal: AbortSignal.timeout(EXCHANGE_TIMEOUT_MS),
  }).catch(() => {
    throw failed(`${url} does not answer`);
  });
  if (answer.status === 401) {
    const message = `the runner trust ${trust} does not admit this host: who manages it reads why under its refusals`;
    throw new NoCredential(message, { isRefusal: true });
  }
  if (answer.status !== 200) throw failed(`the service answered ${answer.status}`);
  const parsed = exchangeSchema.safeParse(await answer.json().catch(() => null));
  if (!parsed.success) throw failed("the service's answer is of another form; is it of another release?");
  return parsed.data;
}

function pickPool(pools: z.output<typeof exchangeSchema>["pools"], wanted: string | null): string {
  const [first, ...others] = pools.filter(({ pool }) => wanted === null || pool === wanted);
  if (first !== undefined && others.length === 0) return first.token;
  const keys = pools.map(({ pool }) => pool).join(", ");
  const why = wanted === null ? "say which to join with --pool" : `${wanted} is none of them`;
  throw new NoCredential(`the runner trust admits to the pools ${keys}: ${why}`, { isRefusal: true });
}
