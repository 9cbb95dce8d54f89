import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, number];

/** The parts of a request that determine the client address. */
export interface Origin {
  /** The address of the connection's peer. */
  readonly remoteAddress: string;
  header(name: string): string | undefined;
}

/** Returns the address of the client that sent a request. */
export type ClientAddress = (request: Origin) => string;

/**
 * Parses a comma-separated list of addresses and networks (`10.0.0.0/8`). Throws an error that names the first invalid
 * entry.
 */
export function parseNetworks(text: string): readonly Network[] {
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  return entries.map((entry) => {
    try {
      if (entry.includes("/")) return ipaddr.parseCIDR(entry);
      const address = ipaddr.parse(entry);
      return [address, address.kind() === "ipv4" ? 32 : 128];
    } catch {
      throw new Error(`${JSON.stringify(entry)} is not an address or a network`);
    }
  });
}

/**
 * Creates a function that determines the client address of a request:
 *
 * - If the connection's peer is not a trusted proxy, the client is the peer.
 * - Otherwise the client is the last address in `X-Forwarded-For` that is not a trusted proxy. Earlier entries are
 *   ignored, because the client controls them.
 * - If the entry before a trusted proxy is missing or is not an address, the client is that proxy.
 */
export function createClientAddress(trusted: readonly Network[]): ClientAddress {
  if (trusted.length === 0) return ({ remoteAddress }) => remoteAddress;
  const isTrusted = (address: Address) =>
    trusted.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits));
  return (request) => {
    let client = parse(request.remoteAddress);
    if (client === null) return request.remoteAddress;
    const hops = (request.header("x-forwarded-for") ?? "").split(",");
    while (isTrusted(client)) {
      const next = parse((hops.pop() ?? "").trim().replace(/^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/, "$1$2"));
      if (next === null) break;
      client = next;
    }
    return client.toString();
  };
}

/**
 * Returns the key under which requests from an address are counted. For an IPv4 address, this is the address. For an
 * IPv6 address, it is the /64 network, because one client owns the whole network. Returns any other text unchanged.
 */
export function toSource(address: string): string {
  if (!address.includes(":")) return address;
  const parsed = parse(address);
  if (parsed === null || parsed instanceof ipaddr.IPv4) return parsed?.toString() ?? address;
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":");
}

/** Parses an address. An IPv4-mapped IPv6 address becomes IPv4. Null for any other text. */
function parse(text: string): Address | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null;
}
