import { isDamage, type Runtime } from "../../runtime/runtime.js";
import { wasAhead } from "../../runtime/schedule/timers.js";
import { GLOBAL_PARTITION, metaSpace } from "../../storage/keys.js";
import { FORMAT_KEY } from "../../storage/migrations.js";
import type { Key, Reading, Store } from "../../storage/store.js";
import { beginHolding } from "./begin-holding.js";
import { beginIntegrationWork } from "./begin-integration-work.js";
import { beginRetention, bringPassesForward } from "./begin-retention.js";

/** The format that the store had when all of it was begun. */
const BEGUN_KEY: Key = [GLOBAL_PARTITION, metaSpace, "begun"];

/** What workspaces may lack that an earlier release made; each says whether it could read all of them. */
const beginnings = [beginRetention, bringPassesForward, beginIntegrationWork, beginHolding];

/**
 * Begins what workspaces of an earlier release lack, which takes a look at each of them: once for each format of the
 * store, and again at the next start where one of them is damaged. Passes of retention that were set by a clock that was
 * ahead are set anew whenever there may be some.
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

/** The number at a key; undefined where there is none, or a damaged one. */
function readNumber(reading: Reading, key: Key): number | undefined {
  try {
    return reading.get<number>(key);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
