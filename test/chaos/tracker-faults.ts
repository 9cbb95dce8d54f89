import { setTimeout as pause } from "node:timers/promises";
import type { Fault } from "./fault.js";
import type { TrackerManner } from "./outside-tracker.js";

const manners: readonly Exclude<TrackerManner, "well">[] = ["hangs", "resets", "throttles", "answers junk"];

/** Faults of the tracker. */
export const trackerFaults: readonly Fault[] = manners.map((manner) => ({
  name: `tracker ${manner}`,
  target: "receivers",
  play: async ({ tracker }, chance) => {
    tracker.manner = manner;
    await pause(chance.between(1_000, 3_000));
    tracker.manner = "well";
  },
}));
