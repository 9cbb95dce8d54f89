import type { Subscriber } from "../../runtime/cells/actor-type.js";
import type { Turn } from "../../runtime/turns/turn.js";
import { eachRow, putRow, removeTable } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";
import { resourceTopic } from "../access/visibility/resource-topic.view.js";
import { type ActorParts, defineArea } from "../area.js";
import { openTaskIds } from "../lines/station-use.table.js";
import { listResources } from "../resources/resource.table.js";
import type { MemberLeft } from "../workspaces/membership.transitions.js";
import { inboxWalks } from "./inbox.migration.js";
import { openStates } from "./task.js";
import { taskActor } from "./task.machine.js";
import { taskRef, type UnassignTask, type WithdrawTask } from "./task.messages.js";
import { taskOwned, taskRetention } from "./task.retention.js";
import { taskCauses, taskSource, tasks } from "./task.table.js";
import { taskAttachmentsActor } from "./task-attachments.machine.js";
import { taskRunOwner } from "./task-run-owner.js";
import { taskTopicView, teamTopic } from "./task-topic.view.js";
import { teamMarksActor } from "./team-marks.machine.js";
import { taskMarks, taskRaises } from "./team-marks.table.js";

/** Withdraws the open tasks of a workspace that has closed. */
const taskWithdrawalSubscriber: Subscriber = {
  name: "tasks withdraw when their workspace closes",
  facts: ["workspace.closed"],
  handle: (_fact, turn) => {
    const message: WithdrawTask = { type: "task.withdraw" };
    for (const taskId of openTaskIds(turn, turn.self.partition)) {
      turn.send(taskRef(turn.self.partition, taskId), message);
    }
  },
};

/** Unassigns the open tasks of a person who left, so that others can work on them. */
const memberLeavingSubscriber: Subscriber<MemberLeft> = {
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

/** The fields of a task that its indexes use. */
interface IndexedTask {
  readonly id: string;
  readonly teamId: string;
  readonly state: string;
  readonly lineId: string;
  readonly station: string;
  readonly assignee: string | null;
}

/**
 * Replaces the old task indexes. Tasks had an index row for every combination of state, line, station and assignee. Now
 * a task has one row in each of six indexes. For every two of these four fields, an index begins with the team and the
 * two fields.
 */
const compositeTaskIndexes: readonly Walk[] = [
  eachRow<IndexedTask>("task", ({ id, teamId, state, lineId, station, assignee }, place) => {
    // In a key, 0 means that the task has no assignee.
    const of = assignee ?? 0;
    return [
      putRow(place, "team-task-by-station", [teamId, station, state, id], true),
      putRow(place, "team-task-by-line", [teamId, lineId, station, id], true),
      putRow(place, "team-task-by-state", [teamId, state, lineId, station, id], true),
      putRow(place, "team-task-by-assignee-state", [teamId, of, state, id], true),
      putRow(place, "team-task-by-assignee-line", [teamId, of, lineId, id], true),
      putRow(place, "team-task-by-assignee-station", [teamId, of, station, id], true),
    ];
  }),
  removeTable("team-task-by"),
];

/** Tasks with their notes, attachments and marks. */
export const tasksArea = defineArea({
  name: "tasks",
  actors: () => [taskActor, taskAttachmentsActor, teamMarksActor],
  tables: [taskRetention, ...taskOwned, taskCauses, taskMarks, taskRaises],
  directorySources: () => [taskSource],
  subscribers: [taskWithdrawalSubscriber, memberLeavingSubscriber],
  runOwners: [taskRunOwner],
  topics: ({ kinds }: Pick<ActorParts, "kinds">) => ({
    team: teamTopic(resourceTopic(kinds, "team")),
    task: taskTopicView,
  }),
  migrations: [
    { to: 2, title: "tasks have composite indexes", walks: compositeTaskIndexes },
    { to: 16, title: "what waits for a person is indexed by team and person", walks: inboxWalks },
  ],
});
