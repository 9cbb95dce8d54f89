import { setTimeout as pause } from "node:timers/promises";
import type { Fault } from "./fault.js";
import type { CodeHostManner } from "./outside-code-host.js";

const manners: readonly Exclude<CodeHostManner, "well">[] = ["hangs", "loses answers", "throttles", "is down"];

/** Faults of the code host that runners push to. */
export const codeHostFaults: readonly Fault[] = manners.map((manner) => ({
  name: `code host ${manner}`,
  target: "code host",
  play: async ({ codeHost }, chance) => {
    codeHost.manner = manner;
    await pause(chance.between(1_000, 3_000));
    codeHost.manner = "well";
  },
}));
