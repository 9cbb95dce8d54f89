import { crc32 } from "node:zlib";

/** Number of shares of one address. */
const SHARES = 8;

/**
 * Returns the rate-limit key of a request: its address together with the share of its audience. The same audience
 * always maps to the same share.
 *
 * A code host sends the deliveries of all workspaces from a few addresses. With shares, many deliveries for one
 * workspace delay only the eighth of the other workspaces that has the same share. All shares of an address together
 * get at most {@link SHARES} times the turns and the rate of one client (stochastic fairness queueing, McKenney 1990).
 */
export function toShare(source: string, audience: string | null): string {
  return audience === null ? source : `${source} ${crc32(audience) % SHARES}`;
}
