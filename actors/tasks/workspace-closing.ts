import type { Subscriber } from "../../runtime/cells/actor-type.js";
import { openTaskIds } from "../lines/station-use.table.js";
import { taskRef, type WithdrawTask } from "./task.messages.js";

/** Withdraws the open tasks of a workspace that has closed. */
export const taskWithdrawalSubscriber: Subscriber = {
  name: "tasks withdraw when their workspace closes",
  facts: ["workspace.closed"],
  handle: (_fact, turn) => {
    const message: WithdrawTask = { type: "task.withdraw" };
    for (const taskId of openTaskIds(turn, turn.self.partition)) {
      turn.send(taskRef(turn.self.partition, taskId), message);
    }
  },
};
