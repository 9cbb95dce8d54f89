import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, number];

/** The parts of a request that determine its client's address. */
export interface Origin {
  /** The address at the other end of the connection. */
  readonly remoteAddress: string;
  header(name: string): string | undefined;
}

/** The address of the client behind a request. */
export type ClientAddress = (request: Origin) => string;

/** Parses a comma list of addresses and networks (`10.0.0.0/8`). Throws an error that names the first invalid entry. */
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
      throw new Error(`${JSON.stringify(entry)} is no address or network`);
    }
  });
}

/**
 * Determines the client's address: the other end of the connection, unless that is a trusted proxy. Then it is the last
 * address in `X-Forwarded-For` that is no trusted proxy; a client could have written anything before it.
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
 * The key under which an address is counted: itself, or for IPv6 its /64 network, which one client has to itself. Text
 * that is no address is returned unchanged.
 */
export function sourceOf(address: string): string {
  if (!address.includes(":")) return address;
  const parsed = parse(address);
  if (parsed === null || parsed instanceof ipaddr.IPv4) return parsed?.toString() ?? address;
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":");
}

/** Parses an address; an IPv4-mapped IPv6 address as IPv4. Null for any other text. */
function parse(text: string): Address | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null;
}
