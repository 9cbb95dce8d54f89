import { createExaminations, createKinds } from "../../actors/catalogue.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import type { Reading } from "../../storage/store.js";

/**
 * Verifies that a filled store looks like a store that a service wrote. Throws with the first faults that the doctor
 * finds.
 */
export function checkStore(reading: Reading): void {
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const found = createExaminations(kinds, Date.now()).flatMap((examine) => [...examine(reading)]);
  if (found.length === 0) return;
  const first = found.slice(0, 10).map(({ what, key }) => `${what}: ${JSON.stringify(key)}`);
  throw new Error([`the doctor finds ${found.length} faults in the filled store`, ...first].join("\n"));
}
