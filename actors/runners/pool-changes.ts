import type { Hearing } from "../../runtime/actor-type.js";
import { dispatcherOf, type PoolsChanged } from "./dispatcher.machine.js";

/** A pool whose concurrency was raised takes at once what waited for that. */
export const placesAfterPoolChanges: Hearing = {
  name: "runs are placed when a runner pool changes",
  facts: ["runner-pool.changed"],
  hear: (_fact, turn) => {
    const message: PoolsChanged = { type: "pools.changed" };
    turn.send(dispatcherOf(turn.self.partition), message);
  },
};
