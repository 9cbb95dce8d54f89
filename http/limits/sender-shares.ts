import { crc32 } from "node:zlib";

/** Number of shares of one address. */
const SHARES = 8;

/**
 * Returns the rate-limit key of a sender: its address, or its address's share for an audience. The same audience always
 * maps to the same share. A code host sends the deliveries of all workspaces from a few addresses. With shares, a flood
 * of deliveries for one workspace delays only one eighth of the others. All shares of an address together never get
 * more than {@link SHARES} times the turns and the rate of one client (stochastic fairness queueing, McKenney 1990).
 */
export function toShare(source: string, audience: string | null): string {
  return audience === null ? source : `${source} ${crc32(audience) % SHARES}`;
}
