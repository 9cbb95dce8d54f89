import { Resolver } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import { Lane } from "../../runtime/lane.js";
import { type Resolve, resolveWithSystem } from "./address-guard.js";

/** Time for one question to a name server, in milliseconds, and questions asked of each. */
const TIMEOUT_MS = 2_500;
const TRIES = 2;
/** How long the addresses of the other kind are waited for once there is one of the kind that is used, in milliseconds. */
const OTHER_KIND_MS = 500;
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
  /** The kind of addresses that connections go to if a name has both; IPv4 without it. */
  readonly usedKind?: () => 4 | 6;
}

/** What name servers say of one kind of a name's addresses. */
interface Answer {
  readonly addresses: readonly string[];
  readonly error: unknown;
}

/**
 * Resolves names so that those whose name servers do not answer hold up nobody else: name servers are asked without a
 * thread, and only names that they do not know, or that have no dot, are asked of the system, a few at once. Addresses of
 * the kind that is used come first, and those of the other kind are not waited for long then.
 */
export function createResolve({ ask, askSystem, usedKind = () => 4 }: NameSources): Resolve {
  const answerOf = async (host: string, family: 4 | 6): Promise<Answer> => {
    try {
      return { addresses: await ask(host, family), error: null };
    } catch (error) {
      return { addresses: [], error };
    }
  };
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
    const used = usedKind();
    const asked = answerOf(host, used);
    const askedOther = answerOf(host, used === 4 ? 6 : 4);
    const answer = await asked;
    const other = answer.addresses.length > 0 ? await soon(askedOther) : await askedOther;
    const addresses = [...answer.addresses, ...other.addresses];
    if (addresses.length > 0) return addresses;
    for (const { error } of [answer, other]) if (error !== null && !isUnknown(error)) throw error;
    return bySystem(host);
  };
}

/** The answer if it comes within {@link OTHER_KIND_MS}. */
async function soon(answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve({ addresses: [], error: null }), OTHER_KIND_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** IPv6 on a machine that has addresses of that kind alone. */
function kindOfMachine(): 4 | 6 {
  try {
    const outward = Object.values(networkInterfaces()).flatMap((all = []) => all.filter(({ internal }) => !internal));
    const has = (family: string) => outward.some((each) => each.family === family);
    return has("IPv6") && !has("IPv4") ? 6 : 4;
  } catch {
    // A confined process may not be told.
    return 4;
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && UNKNOWN.has(error.code);
}

const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });

/** Resolves names over the machine's name servers and, for names that they do not know, as the system does. */
export const resolveNames: Resolve = createResolve({
  ask: (host, family) => (family === 4 ? resolver.resolve4(host) : resolver.resolve6(host)),
  askSystem: resolveWithSystem,
  usedKind: kindOfMachine,
});
