import { crc32 } from "node:zlib";

/** Shares of one address. */
const SHARES = 8;

/**
 * What counts as one party of what an address sends: the address itself, or its share for an audience, which is the same
 * each time. A code host sends the deliveries of all workspaces from a few addresses; so a flood for one of them holds up
 * an eighth of the others, and an address has never more than {@link SHARES} times the turns and the rate of one,
 * whatever it sends and to whom (stochastic fairness queueing, McKenney 1990).
 */
export function shareOf(source: string, audience: string | null): string {
  return audience === null ? source : `${source} ${crc32(audience) % SHARES}`;
}
