import { Resolver } from "node:dns/promises";
import { Lane } from "../../runtime/lane.js";
import { type Resolve, resolveWithSystem } from "./address-guard.js";

/** Time for one question to a name server, in milliseconds, and questions asked of each. */
const TIMEOUT_MS = 2_500;
const TRIES = 2;
/**
 * Names asked of the system at once. Each holds one of the four threads that the process has for such work, and that the
 * store needs too.
 */
const SYSTEM_AT_ONCE = 2;
/** Error codes when name servers do not know a name, or there are none; others are a failure. */
const UNKNOWN: ReadonlySet<string> = new Set(["ENOTFOUND", "ENODATA", "ECONNREFUSED"]);

/** What names are asked of. */
export interface NameSources {
  /** Asks name servers, without a thread. Rejects with a code of `node:dns`. */
  readonly ask: (host: string, family: 4 | 6) => Promise<readonly string[]>;
  /** Asks the system, which knows its own names too (its hosts file, search domains), on a thread. */
  readonly askSystem: Resolve;
}

/**
 * Resolves names so that those whose name servers do not answer hold up nobody else: name servers are asked without a
 * thread, and only names that they do not know, or that have no dot, are asked of the system, a few at once. IPv4
 * addresses come first.
 */
export function createResolve({ ask, askSystem }: NameSources): Resolve {
  const lane = new Lane({ name: "names", places: SYSTEM_AT_ONCE, kept: 0, perParty: SYSTEM_AT_ONCE, perTarget: 1 });
  const bySystem = async (host: string): Promise<readonly string[]> => {
    const place = { party: "", target: host };
    if (!lane.take(place)) await new Promise<void>((resolve) => lane.wait({ ...place, granted: resolve }));
    try {
      return await askSystem(host);
    } finally {
      lane.release(place);
    }
  };
  return async (host) => {
    if (!host.includes(".")) return bySystem(host);
    const answers = await Promise.allSettled([ask(host, 4), ask(host, 6)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const failed = answers.find((answer) => answer.status === "rejected" && !isUnknown(answer.reason));
    if (failed?.status === "rejected") throw failed.reason;
    return bySystem(host);
  };
}

function isUnknown(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && UNKNOWN.has(error.code);
}

const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });

/** Resolves names over the machine's name servers and, for names that they do not know, as the system does. */
export const resolveNames: Resolve = createResolve({
  ask: (host, family) => (family === 4 ? resolver.resolve4(host) : resolver.resolve6(host)),
  askSystem: resolveWithSystem,
});
