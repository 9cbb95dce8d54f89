import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { Lane } from "../../runtime/lane.js";
import { type Resolve, resolveWithSystem } from "./address-guard.js";
import { type NameConfiguration, readNameConfiguration } from "./name-configuration.js";

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
  readonly configuration: Pick<NameConfiguration, "hosted" | "candidates">;
  /** Asks name servers, without a thread. Rejects with a code of `node:dns`. */
  readonly ask: (host: string, family: 4 | 6) => Promise<readonly string[]>;
  /** Asks the system, which may know names of the local network, on a thread. */
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
 * Resolves names so that those whose name servers do not answer hold up nobody else, in the system's usual order: the
 * hosts file, then name servers, which are asked without a thread. Only names that cannot be anybody's on the internet
 * ({@link isLocalName}) are asked of the system when neither knows them, a few at once and each name in turn. Whoever
 * waits for a name that is being looked up gets that answer. Addresses of the kind that is used come first, and those
 * of the other kind are not waited for long then.
 */
export function createResolve({ configuration, ask, askSystem, usedKind = () => 4 }: NameSources): Resolve {
  const answerOf = async (host: string, family: 4 | 6): Promise<Answer> => {
    try {
      return { addresses: await ask(host, family), error: null };
    } catch (error) {
      return { addresses: [], error };
    }
  };
  const lane = new Lane({ name: "names", places: SYSTEM_AT_ONCE, kept: 0, perParty: 1, perTarget: 1 });
  const bySystem = async (host: string): Promise<readonly string[]> => {
    const place = { party: host, target: host };
    if (!lane.take(place))
      await new Promise<void>((resolve) => lane.wait({ ...place, isWaiting: false, granted: resolve }));
    try {
      return await askSystem(host);
    } finally {
      lane.release(place);
    }
  };
  const byServers = async (host: string): Promise<Answer> => {
    const used = usedKind();
    const asked = answerOf(host, used);
    const askedOther = answerOf(host, used === 4 ? 6 : 4);
    const answer = await asked;
    const other = answer.addresses.length > 0 ? await soon(askedOther) : await askedOther;
    const addresses = [...answer.addresses, ...other.addresses];
    if (addresses.length > 0) return { addresses, error: null };
    for (const { error } of [answer, other]) if (error !== null && !isUnknown(error)) throw error;
    return { addresses, error: answer.error ?? other.error };
  };
  const find = async (host: string): Promise<readonly string[]> => {
    const hosted = configuration.hosted(host);
    if (hosted.length > 0) {
      const used = usedKind();
      return [...hosted.filter((each) => isIP(each) === used), ...hosted.filter((each) => isIP(each) !== used)];
    }
    let unknown: unknown = null;
    for (const candidate of configuration.candidates(host)) {
      const { addresses, error } = await byServers(candidate);
      if (addresses.length > 0) return addresses;
      unknown = error;
    }
    if (isLocalName(host)) return bySystem(host);
    throw unknown ?? new Error(`${host} has no address`);
  };
  const underWay = new Map<string, Promise<readonly string[]>>();
  return (host) => {
    const known = underWay.get(host);
    if (known !== undefined) return known;
    const found = find(host).finally(() => underWay.delete(host));
    underWay.set(host, found);
    return found;
  };
}

/**
 * Whether a name is of this machine or its network alone: one without a dot, or below `local` (RFC 6762) or
 * `localhost`. Who names others may also decide how long their name servers take, and with them the system's threads.
 */
function isLocalName(host: string): boolean {
  return !host.includes(".") || /\.(local|localhost)$/i.test(host);
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

/** Asks name servers over those that the configuration has at that time. */
export function createAsk(configuration: Pick<NameConfiguration, "servers">): NameSources["ask"] {
  let servers: readonly string[] | null = null;
  let resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  return (host, family) => {
    const current = configuration.servers();
    if (current !== servers) {
      servers = current;
      resolver = createResolver(current);
    }
    return family === 4 ? resolver.resolve4(host) : resolver.resolve6(host);
  };
}

function createResolver(servers: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  try {
    if (servers.length > 0) resolver.setServers(servers);
  } catch {
    // An address that it does not take; the library has read the file by its own rules.
  }
  return resolver;
}

const configuration = readNameConfiguration({ hosts: "/etc/hosts", resolver: "/etc/resolv.conf" });

/** Resolves names by the machine's hosts file and name servers and, for names of its network, as the system does. */
export const resolveNames: Resolve = createResolve({
  ...{ configuration, ask: createAsk(configuration) },
  askSystem: resolveWithSystem,
  usedKind: kindOfMachine,
});
