import type { CodeHost } from "../outbound/code-host.js";
import type { SentDelivery } from "../outbound/code-host-deliveries.js";
import { CodeHostRefused } from "../outbound/code-host-requests.js";

/** How long the code host keeps its deliveries, in milliseconds. */
const KEPT_MS = 3 * 24 * 60 * 60 * 1_000;
/** Most pages of deliveries that are read. */
const MAX_PAGES = 50;
/** Most deliveries that are asked for again. */
const MAX_REDELIVERED = 500;

/**
 * Asks the code host once more for the deliveries of the last three days that this service did not take: it was down, or
 * failed. Resolves with how many; what the code host refuses ends it.
 */
export async function redeliverFailed(
  { pullRequests }: Pick<CodeHost, "pullRequests">,
  nowMs: number,
): Promise<number> {
  let redelivered = 0;
  try {
    for (const { id } of await listFailed(pullRequests, nowMs)) {
      await pullRequests.redeliver(id);
      redelivered += 1;
    }
  } catch (error) {
    if (!(error instanceof CodeHostRefused)) throw error;
  }
  return redelivered;
}

/** The last attempts of deliveries of which none was taken, oldest first. */
async function listFailed(
  { listDeliveries }: CodeHost["pullRequests"],
  nowMs: number,
): Promise<readonly SentDelivery[]> {
  const attempts: SentDelivery[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { ids, next }: Awaited<ReturnType<typeof listDeliveries>> = await listDeliveries(cursor);
    const recent = ids.filter(({ atMs }) => nowMs - atMs < KEPT_MS);
    attempts.push(...recent);
    if (next === null || recent.length < ids.length) break;
    cursor = next;
  }
  const taken = new Set(attempts.filter(({ hasFailed }) => !hasFailed).map(({ guid }) => guid));
  // They come newest first: the first attempt of each is its last.
  const last = new Map(attempts.toReversed().map((attempt) => [attempt.guid, attempt]));
  const failed = [...last.values()].filter(({ guid }) => !taken.has(guid));
  return failed.sort((left, right) => left.atMs - right.atMs).slice(0, MAX_REDELIVERED);
}
