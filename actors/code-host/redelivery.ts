import type { CodeHost } from "../outbound/code-host/code-host.js";
import type { SentDelivery } from "../outbound/code-host/code-host-deliveries.js";
import { CodeHostRefused } from "../outbound/code-host/code-host-requests.js";

/** How long the code host stores its deliveries, in milliseconds. */
const RETENTION_MS = 3 * 24 * 60 * 60 * 1_000;
/** Maximum number of delivery pages to read. */
const MAX_PAGES = 50;
/** Maximum number of deliveries to request again. */
const MAX_REDELIVERED = 500;

/**
 * Asks the code host to resend deliveries of the last three days that the service did not accept, at most 500. Stops if
 * the code host refuses a request. Resolves with the number of requested deliveries.
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

/**
 * Lists the deliveries of which every attempt failed, oldest first, at most {@link MAX_REDELIVERED}. Returns the latest
 * attempt of each.
 */
async function listFailed(
  { listDeliveries }: CodeHost["pullRequests"],
  nowMs: number,
): Promise<readonly SentDelivery[]> {
  const attempts: SentDelivery[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { ids, next }: Awaited<ReturnType<typeof listDeliveries>> = await listDeliveries(cursor);
    const recent = ids.filter(({ atMs }) => nowMs - atMs < RETENTION_MS);
    attempts.push(...recent);
    if (next === null || recent.length < ids.length) break;
    cursor = next;
  }
  const taken = new Set(attempts.filter(({ hasFailed }) => !hasFailed).map(({ guid }) => guid));
  // Attempts are sorted newest first. In the reversed list the newest attempt of a delivery comes last, so the map has
  // the newest.
  const last = new Map(attempts.toReversed().map((attempt) => [attempt.guid, attempt]));
  const failed = [...last.values()].filter(({ guid }) => !taken.has(guid));
  return failed.sort((left, right) => left.atMs - right.atMs).slice(0, MAX_REDELIVERED);
}
