import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { Lane } from "../../../runtime/effects/lane.js";
import { type Resolve, resolveWithSystem } from "./address-guard.js";
import { type NameConfiguration, readNameConfiguration } from "./name-configuration.js";

/** Timeout of one query to a name server in milliseconds. {@link TRIES} is the number of queries per server. */
const TIMEOUT_MS = 2_500;
const TRIES = 2;
/**
 * How long to wait for addresses of the other family, in milliseconds, after an address of the preferred family is
 * known.
 */
const OTHER_KIND_MS = 500;
/**
 * Maximum number of names to resolve with the operating system at once. Each lookup takes one of the process's four
 * threads for blocking work. Reads and writes of stored data also need these threads.
 */
const SYSTEM_AT_ONCE = 2;
/** Error codes that mean an unknown name or no name server. Other codes are failures. */
const UNKNOWN: ReadonlySet<string> = new Set(["ENOTFOUND", "ENODATA", "ECONNREFUSED"]);

/** The sources of name resolution. */
export interface NameSources {
  readonly configuration: Pick<NameConfiguration, "hosted" | "candidates">;
  /** Queries name servers without using a thread. Rejects with an error code of `node:dns`. */
  readonly ask: (host: string, family: 4 | 6) => Promise<readonly string[]>;
  /** Asks the operating system, which may know names of the local network. Uses a thread. */
  readonly askSystem: Resolve;
  /** The preferred address family if a name has both; the default is IPv4. */
  readonly usedKind?: () => 4 | 6;
}

/** The answer of name servers for one address family. */
interface Answer {
  readonly addresses: readonly string[];
  readonly error: unknown;
}

/**
 * Creates a resolver in which a name with unresponsive name servers cannot delay other names. It uses the system's
 * usual order: the hosts file, then name servers, which need no thread. If neither knows a name of the local network
 * ({@link isLocalName}), the resolver asks the operating system, but only for a few names at a time. Concurrent lookups
 * of one name share the result. Addresses of the preferred family come first. Once such an address is known, the
 * resolver waits only briefly for the other family.
 *
 * undici's `interceptors.dns` replaces none of this, because it only caches the results of a `lookup` function. The
 * interceptor does not serve as a cache here either, for two reasons. If its cache is full, it passes on names
 * unresolved and unchecked. After `ETIMEDOUT`, it sends a POST again to an address of the other family.
 */
export function createResolve({ configuration, ask, askSystem, usedKind = () => 4 }: NameSources): Resolve {
  const readAnswer = async (host: string, family: 4 | 6): Promise<Answer> => {
    try {
      return { addresses: await ask(host, family), error: null };
    } catch (error) {
      return { addresses: [], error };
    }
  };
  const lane = new Lane({ name: "names", places: SYSTEM_AT_ONCE, kept: 0, perClient: 1, perTarget: 1 });
  const bySystem = async (host: string): Promise<readonly string[]> => {
    const place = { client: host, target: host };
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
    const asked = readAnswer(host, used);
    const askedOther = readAnswer(host, used === 4 ? 6 : 4);
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
 * Whether a name belongs to this machine or its local network: a name without a dot, or below `local` (RFC 6762) or
 * `localhost`. The owner of any other name may control how long its name servers take, and so could block the system's
 * threads.
 */
function isLocalName(host: string): boolean {
  return !host.includes(".") || /\.(local|localhost)$/i.test(host);
}

/** Returns the answer if it arrives within {@link OTHER_KIND_MS}; otherwise an empty answer. */
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

/** Returns IPv6 if the machine has only IPv6 addresses; otherwise IPv4. */
function kindOfMachine(): 4 | 6 {
  try {
    const outward = Object.values(networkInterfaces()).flatMap((all = []) => all.filter(({ internal }) => !internal));
    const has = (family: string) => outward.some((each) => each.family === family);
    return has("IPv6") && !has("IPv4") ? 6 : 4;
  } catch {
    // A sandboxed process may not be allowed to list addresses.
    return 4;
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && UNKNOWN.has(error.code);
}

/** Creates a function that queries the name servers in the current configuration. */
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
    // An invalid server address. The library keeps the servers that it read from the file itself.
  }
  return resolver;
}

const configuration = readNameConfiguration({ hosts: "/etc/hosts", resolver: "/etc/resolv.conf" });

/**
 * Resolves names with the machine's hosts file and name servers. Names of the local network may also use the system's
 * resolver.
 */
export const resolveNames: Resolve = createResolve({
  configuration,
  ask: createAsk(configuration),
  askSystem: resolveWithSystem,
  usedKind: kindOfMachine,
});
