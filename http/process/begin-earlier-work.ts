import { isDamage, type Runtime } from "../../runtime/runtime.js";
import { wasAhead } from "../../runtime/schedule/timers.js";
import { GLOBAL_PARTITION, metaSpace } from "../../storage/keys.js";
import { FORMAT_KEY } from "../../storage/migrations.js";
import type { Key, Reading, Store } from "../../storage/store.js";
import { beginHolding } from "./begin-holding.js";
import { beginIntegrationWork } from "./begin-integration-work.js";
import { beginRetention, bringPassesForward } from "./begin-retention.js";

/** Holds the store format for which all earlier work was started. */
const BEGUN_KEY: Key = [GLOBAL_PARTITION, metaSpace, "begun"];

/** Work that workspaces of an earlier release may lack. Each function returns whether it could read all workspaces. */
const beginnings = [beginRetention, bringPassesForward, beginIntegrationWork, beginHolding];

/**
 * Starts the work that workspaces of an earlier release lack. This reads every workspace, so it runs only once per
 * store format, and again at the next start if a workspace is damaged. Retention passes that a clock ahead of time
 * scheduled are rescheduled whenever there may be some.
 */
export async function beginEarlierWork(runtime: Runtime, store: Pick<Store, "commit">): Promise<void> {
  const { reading, clock } = runtime;
  const format = readNumber(reading, FORMAT_KEY);
  if (format !== undefined && readNumber(reading, BEGUN_KEY) === format) {
    if (wasAhead(reading, clock.now())) await bringPassesForward(runtime);
    return;
  }
  let isWhole = true;
  for (const begin of beginnings) isWhole = (await begin(runtime)) && isWhole;
  if (isWhole) await store.commit([{ op: "put", key: BEGUN_KEY, value: format }]);
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
