import { lookup as systemLookup } from "node:dns";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Resolves a host name to all of its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** A request to this address is not allowed. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
}

/**
 * Whether a text is a public address. These addresses are not public:
 * - private, loopback, link-local, shared, multicast, reserved and documentation addresses;
 * - {@link CLOUD_SERVICES};
 * - IPv6 addresses that embed a non-public IPv4 address.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return isPublicIPv4(address);
  const carried = carriedIPv4(address);
  if (carried !== null) return isPublicIPv4(carried) && !isLocalTranslation(address);
  return address.range() === "unicast" && isGlobal(address);
}

/**
 * Addresses of cloud metadata services that are not link-local: Azure's wire server (in a public range), Alibaba Cloud
 * and Oracle Cloud, and Amazon and Google over IPv6. Written in the normal form of ipaddr.js.
 */
const CLOUD_SERVICES: ReadonlySet<string> = new Set([
  ...["168.63.129.16", "100.100.100.200", "192.0.0.192"],
  ...["fd00:ec2:0:0:0:0:0:254", "fd20:ce:0:0:0:0:0:254"],
]);

/**
 * Whether a cloud metadata service, which returns a host's credentials, may be at the address. True for link-local
 * addresses and {@link CLOUD_SERVICES}. The address can be in any notation.
 */
export function isCloudService(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  const meant = address instanceof ipaddr.IPv4 ? address : (carriedIPv4(address) ?? address);
  return meant.range() === "linkLocal" || CLOUD_SERVICES.has(meant.toNormalizedString());
}

function isPublicIPv4(address: ipaddr.IPv4): boolean {
  return address.range() === "unicast" && !CLOUD_SERVICES.has(address.toNormalizedString());
}

/** Returns the IPv4 address that an IPv4-mapped, NAT64 (RFC 6052) or 6to4 (RFC 3056) address embeds; otherwise null. */
function carriedIPv4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  const [first, second, , , , , high, low] = address.parts;
  if (first === 0x64 && second === 0xff9b) return fromParts(high, low);
  if (first === 0x2002) return fromParts(second, address.parts[2]);
  return null;
}

function fromParts(high = 0, low = 0): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}

/**
 * Whether an address is in 2000::/3, the range that is assigned to the internet. All other ranges are reserved or
 * local.
 */
function isGlobal({ parts: [first = 0] }: ipaddr.IPv6): boolean {
  return (first & 0xe000) === 0x2000;
}

/**
 * Whether a NAT64 address (`64:ff9b:…`) is outside the well-known prefix. Each network translates such an address in
 * its own way (RFC 8215).
 */
function isLocalTranslation({ parts }: ipaddr.IPv6): boolean {
  return parts[0] === 0x64 && parts.slice(2, 6).some((part) => part !== 0);
}

/**
 * Returns the address to connect to: the host itself if it is an address, otherwise the first address of its name.
 * Rejects with {@link AddressRefused} if any of the host's addresses is not public, unless `admitsPrivate` is true.
 * Connect only to the returned address, because a second lookup may return another address.
 */
export async function guardedAddress(host: string, admitsPrivate: boolean, resolve: Resolve): Promise<string> {
  const literal = host.replace(/^\[|\]$/g, "");
  const addresses = isIP(literal) === 0 ? await resolve(host) : [literal];
  const [first] = addresses;
  if (first === undefined) throw new Error(`${host} has no address`);
  const refused = admitsPrivate ? undefined : addresses.find((address) => !isPublicAddress(address));
  if (refused !== undefined) throw new AddressRefused(`${host} resolves to ${refused}, which is not a public address`);
  return first;
}

/** Resolves names with the operating system's resolver. */
export const resolveWithSystem: Resolve = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true, verbatim: true }, (error, addresses) => {
      if (error === null) resolve(addresses.map(({ address }) => address));
      else reject(error);
    });
  });
