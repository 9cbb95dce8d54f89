import { listSetWork } from "../../actors/integration-work/set-work.queries.js";
import { type HoldEntryCommits, replaySetsRef } from "../../actors/replays/sets/replay-set.messages.js";
import { listTeamsToHold } from "../../actors/replays/sets/replay-set.queries.js";
import { LONGEST_REST_MS, PASS, retentionRef } from "../../actors/tables/retention-sweeper.machine.js";
import { isStored, storedWakeUp } from "../../runtime/messages/offline-send.js";
import { isDamage, type Runtime } from "../../runtime/runtime.js";
import { listLaterTimers, wasAhead } from "../../runtime/schedule/timers.js";
import { GLOBAL_PARTITION, metaSpace } from "../../storage/keys.js";
import { FORMAT_KEY } from "../../storage/migrations.js";
import { listPartitions } from "../../storage/partitions.js";
import type { Key, Reading, Store } from "../../storage/store.js";

/** Starts retention in workspaces that an earlier release created. Returns whether all workspaces could be read. */
async function beginRetention(runtime: Runtime): Promise<boolean> {
  const { reading } = runtime;
  const workspaces = listPartitions(reading).filter((partition) => partition !== GLOBAL_PARTITION);
  const begun = workspaces.map((workspaceId) =>
    pastDamage(async () => {
      const to = retentionRef(workspaceId);
      if (!isStored(reading, to)) await runtime.ask(to, { type: "retention.begin" });
    }),
  );
  return (await Promise.all(begun)).every((isRead) => isRead);
}

/**
 * Reschedules retention passes whose time was set while the clock was ahead. Otherwise every new process would wait
 * until that late time. Reads only timers that are set later than the longest possible wait from now. Returns false if
 * a workspace with such a timer has a damaged row.
 */
async function bringPassesForward(runtime: Runtime): Promise<boolean> {
  const { reading, clock } = runtime;
  const latestMs = clock.now() + LONGEST_REST_MS;
  let isWhole = true;
  for (const { to: late, name } of listLaterTimers(reading, latestMs)) {
    const to = retentionRef(late.partition);
    if (name !== PASS || late.kind !== to.kind) continue;
    const isRead = await pastDamage(async () => {
      if ((storedWakeUp(reading, to, PASS) ?? 0) <= latestMs) return;
      await runtime.ask(to, { type: "retention.begin", isAnew: true });
    });
    isWhole &&= isRead;
  }
  return isWhole;
}

/**
 * Runs `work`. Returns true if it succeeds, and false if it reads a damaged row. Damage does not prevent the start of
 * the service, because `signalbox doctor` repairs it.
 */
async function pastDamage(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return false;
  }
}

/**
 * Starts the polls and schedules of integrations that an earlier release stored, because that release had neither.
 * Returns whether all workspaces could be read.
 */
export async function beginIntegrationWork(runtime: Runtime): Promise<boolean> {
  const { reading } = runtime;
  let isWhole = true;
  for (const workspaceId of listPartitions(reading)) {
    if (workspaceId === GLOBAL_PARTITION) continue;
    try {
      for (const { poll, schedules } of listSetWork(reading, workspaceId)) {
        if (poll !== null && !isStored(reading, poll)) await runtime.ask(poll, { type: "poll.check" });
        for (const schedule of schedules)
          if (!isStored(reading, schedule)) await runtime.ask(schedule, { type: "schedule.check" });
      }
    } catch (error) {
      // Start the service despite the damage, which `signalbox doctor` repairs.
      if (!isDamage(error)) throw error;
      isWhole = false;
    }
  }
  return isWhole;
}

/**
 * Makes the replay sets of an earlier release hold the commits from which the runs of the set started. Returns whether
 * all workspaces could be read.
 */
export async function beginHolding(runtime: Runtime): Promise<boolean> {
  const { reading } = runtime;
  const message: HoldEntryCommits = { type: "commits.hold" };
  let isWhole = true;
  for (const workspaceId of listPartitions(reading).filter((partition) => partition !== GLOBAL_PARTITION)) {
    try {
      for (const teamId of listTeamsToHold(reading, workspaceId)) {
        await runtime.ask(replaySetsRef(workspaceId, teamId), message);
      }
    } catch (error) {
      // Start the service despite the damage, which `signalbox doctor` repairs.
      if (!isDamage(error)) throw error;
      isWhole = false;
    }
  }
  return isWhole;
}

/** The key of a stored number: the latest store format for which {@link beginEarlierWork} started all work. */
const STARTED_KEY: Key = [GLOBAL_PARTITION, metaSpace, "begun"];

/**
 * Functions that start work which a workspace of an earlier release may lack. Each function returns whether it could
 * read all workspaces that it needs.
 */
const beginnings = [beginRetention, bringPassesForward, beginIntegrationWork, beginHolding];

/**
 * Starts work that workspaces of an earlier release lack. This reads every workspace, so it runs only once per store
 * format. If a workspace is damaged, it runs again at the next start of the service. If the clock was ahead during an
 * earlier run of the service, every start also reschedules retention passes.
 */
export async function beginEarlierWork(runtime: Runtime, store: Pick<Store, "commit">): Promise<void> {
  const { reading, clock } = runtime;
  const format = readNumber(reading, FORMAT_KEY);
  if (format !== undefined && readNumber(reading, STARTED_KEY) === format) {
    if (wasAhead(reading, clock.now())) await bringPassesForward(runtime);
    return;
  }
  let isWhole = true;
  for (const begin of beginnings) isWhole = (await begin(runtime)) && isWhole;
  if (isWhole) await store.commit([{ op: "put", key: STARTED_KEY, value: format }]);
}

/** Returns the number at a key; undefined if it is absent or damaged. */
function readNumber(reading: Reading, key: Key): number | undefined {
  try {
    return reading.get<number>(key);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
