import type { Subscriber } from "../../runtime/actor-type.js";
import { dispatcherRef, type PoolsChanged } from "./dispatcher.messages.js";

/** Places waiting runs at once when a pool or workspace allows more than before. */
export const poolChangesSubscriber: Subscriber = {
  name: "runs are placed when a runner pool changes",
  facts: ["runner-pool.changed", "workspace-runners.changed"],
  handle: (_fact, turn) => {
    const message: PoolsChanged = { type: "pools.changed" };
    turn.send(dispatcherRef(turn.self.partition), message);
  },
};
