import { readFile } from "node:fs/promises";
import { z } from "zod";

/** What a runner connects with. */
export interface Credential {
  /** The token to connect with now. Rejects with {@link NoCredential} when there is none. */
  token(): Promise<string>;
  /** Told that the service takes the last one no more. */
  refused(): void;
  /** Values that are never said. */
  hidden(): readonly string[];
}

/** There is nothing to connect with; the message is for the person who runs this, and holds no secret. */
export class NoCredential extends Error {
  override readonly name = "NoCredential";
  /** Whether the service refused, so that trying again soon is of no use. */
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
  /** Where the platform puts this host's OIDC token; read anew for each exchange, since platforms renew it. */
  readonly tokenFile: string;
  /** The pool to join; null where the trust has but one. */
  readonly pool: string | null;
  readonly now: () => number;
}

const EXCHANGE_TIMEOUT_MS = 15_000;
/** A token is not used for a new connection when it ends within this, in milliseconds. */
const SPARE_MS = 60_000;

const exchangeSchema = z.object({
  pools: z.array(z.object({ pool: z.string(), token: z.string() })).min(1),
  expiresAt: z.string(),
});

/** The tokens that a runner trust gives this host for the OIDC token of its platform, each for as long as it lasts. */
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
    // The token goes to the service that was named, and to no other.
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
