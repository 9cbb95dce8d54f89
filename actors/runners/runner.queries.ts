import { readPastDamage } from "../../storage/past-damage.js";
import type { Reading } from "../../storage/store.js";
import type { PoolBearer } from "./pool-token.js";
import type { RunnerRow } from "./runner.js";
import { connectedRunners, type OutboxMessage, outbox, runners } from "./runner.table.js";

/** A runner of a workspace, by its id. */
export interface RunnerKey {
  readonly workspaceId: string;
  readonly runnerId: string;
}

/** Lists the workspace's runners, connected or away for less than a lease, ordered by their first connection. */
export function listRunners(
  reading: Reading,
  workspaceId: string,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): RunnerRow[] {
  return runners.list(reading, workspaceId, [], { limit, ...(after === undefined ? {} : { after: [after] }) });
}

/**
 * Lists the runners of all workspaces that are connected according to the directory. Some of these runners may no
 * longer exist. Skips damaged entries.
 */
export function listConnectedRunners(reading: Reading): readonly RunnerKey[] {
  return connectedRunners.list(readPastDamage(reading));
}

const RUNNER_ID = /^runner_[0-9A-Z]{26}$/;

/**
 * Whether a runner of the pool may use the id. The id must have the form of a runner id. No runner of another pool in
 * the workspace may have this id, because the new runner would get the claims of that runner. Runners of other
 * workspaces may have the same id.
 */
export function mayReturnAs(reading: Reading, { workspaceId, poolId }: PoolBearer, runnerId: string): boolean {
  const known = runners.get(reading, workspaceId, runnerId);
  return RUNNER_ID.test(runnerId) && (known === undefined || known.poolId === poolId);
}

/** Whether the pool has this runner now. */
export function isPoolRunner(reading: Reading, { workspaceId, poolId }: PoolBearer, runnerId: string): boolean {
  return RUNNER_ID.test(runnerId) && runners.get(reading, workspaceId, runnerId)?.poolId === poolId;
}

/** A message in a runner's outbox, with the message's number in the outbox. */
export interface OutgoingMessage {
  readonly n: number;
  readonly message: OutboxMessage;
}

/** Lists the messages in a runner's outbox after number `after`, in order. */
export function listOutgoing(
  reading: Reading,
  { workspaceId, runnerId }: RunnerKey,
  { after }: { readonly after: number },
): OutgoingMessage[] {
  const entries = outbox.entries(reading, workspaceId, [runnerId], { after: [runnerId, after] });
  return entries.map(({ key, value }) => ({ n: Number(key.at(-1)), message: value }));
}
