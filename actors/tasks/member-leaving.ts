import type { Subscriber } from "../../runtime/actor-type.js";
import { address } from "../../runtime/address.js";
import type { Fact, Turn } from "../../runtime/turn.js";
import { listResources } from "../resources/resource.table.js";
import type { MemberLeft } from "../workspaces/membership.transitions.js";
import type { UnassignTask } from "./task.messages.js";
import { openStates } from "./task.table.js";
import { listTeamTasks } from "./task-index.table.js";

/** Open tasks of whoever left become nobody's, so that others can take them over. */
export const unassignsWhoLeft: Subscriber = {
  name: "tasks lose an assignee who left",
  facts: ["member.left"],
  handle: (fact, turn) => {
    if (!isLeft(fact)) return;
    const { userId, teamId } = fact;
    const workspaceId = turn.self.partition;
    const teamIds = teamId === null ? listResources(turn, workspaceId, "team").map(({ id }) => id) : [teamId];
    for (const id of teamIds) unassign(turn, id, { userId, left: teamId === null ? "workspace" : "team" });
  },
};

function unassign(turn: Turn, teamId: string, of: Pick<UnassignTask, "userId" | "left">): void {
  const workspaceId = turn.self.partition;
  const message: UnassignTask = { type: "task.unassign", ...of };
  for (const state of openStates) {
    const theirs = listTeamTasks(turn, { workspaceId, teamId }, { state, assignee: of.userId }, {});
    for (const { id } of theirs) turn.send(address(workspaceId, "task", id), message);
  }
}

function isLeft(fact: Fact): fact is MemberLeft {
  return fact.name === "member.left";
}
