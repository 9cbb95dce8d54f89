import { Tracker } from "../../http/demo/tracker.js";
import type { Cleaning } from "./service.js";

/** Starts a tracker that closes with the test. */
export async function startTracker(t: Cleaning, now?: () => number): Promise<Tracker> {
  const tracker = await Tracker.start(now);
  t.teardown(() => tracker.api.close());
  return tracker;
}
