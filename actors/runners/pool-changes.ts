import type { Subscriber } from "../../runtime/cells/actor-type.js";
import { dispatcherRef, type PoolsChanged } from "./dispatcher.messages.js";

/** Places waiting runs at once after a change of a pool or of the workspace's runner settings. */
export const poolChangesSubscriber: Subscriber = {
  name: "runs are placed when a runner pool changes",
  facts: ["runner-pool.changed", "workspace-runners.changed"],
  handle: (_fact, turn) => {
    const message: PoolsChanged = { type: "pools.changed" };
    turn.send(dispatcherRef(turn.self.partition), message);
  },
};
