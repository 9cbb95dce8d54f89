import type { Hearing } from "../../runtime/actor-type.js";
import { address } from "../../runtime/address.js";
import type { WithdrawTask } from "./task-messages.js";
import { tasks } from "./task-rows.js";

/** Ends what goes on in a workspace that was closed. */
export const withdrawsWork: Hearing = {
  name: "tasks withdraw when their workspace closes",
  facts: ["workspace.closed"],
  hear: (_fact, turn) => {
    const message: WithdrawTask = { type: "task.withdraw" };
    for (const task of tasks.list(turn, turn.self.partition)) {
      const isOpen = task.state !== "done" && task.state !== "closed";
      if (isOpen) turn.send(address(turn.self.partition, "task", task.id), message);
    }
  },
};
