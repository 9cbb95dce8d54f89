import { setTimeout as pause } from "node:timers/promises";
import type { Fault } from "./fault.js";
import type { Manner } from "./receiver.js";

const manners: readonly Exclude<Manner, "well">[] = ["hangs", "resets", "trickles", "answers junk"];

/** Faults of hook receivers. */
export const receiverFaults: readonly Fault[] = manners.map((manner) => ({
  name: `receiver ${manner}`,
  target: "receivers",
  play: async ({ tell, ask }, chance) => {
    const receivers = chance.pick([[tell], [ask], [tell, ask]]);
    for (const receiver of receivers) receiver.manner = manner;
    await pause(chance.between(1_000, 3_000));
    for (const receiver of receivers) receiver.manner = "well";
  },
}));
