import type { Subscriber } from "../../runtime/cells/actor-type.js";
import type { Turn } from "../../runtime/turns/turn.js";
import { listResources } from "../resources/resource.table.js";
import type { MemberLeft } from "../workspaces/membership.transitions.js";
import { openStates } from "./task.js";
import { taskRef, type UnassignTask } from "./task.messages.js";
import { tasks } from "./task.table.js";

/** Unassigns the open tasks of a person who left, so that others can work on them. */
export const memberLeavingSubscriber: Subscriber<MemberLeft> = {
  name: "tasks lose an assignee who left",
  facts: ["member.left"],
  handle({ userId, teamId }, turn) {
    const workspaceId = turn.self.partition;
    const teamIds = teamId === null ? listResources(turn, workspaceId, "team").map(({ id }) => id) : [teamId];
    for (const id of teamIds) unassign(turn, id, { userId, left: teamId === null ? "workspace" : "team" });
  },
};

function unassign(turn: Turn, teamId: string, of: Pick<UnassignTask, "userId" | "left">): void {
  const workspaceId = turn.self.partition;
  const message: UnassignTask = { type: "task.unassign", ...of };
  for (const state of openStates) {
    const open = tasks.all(turn, workspaceId, { teamId, state, assignee: of.userId });
    for (const { id } of open) turn.send(taskRef(workspaceId, id), message);
  }
}
