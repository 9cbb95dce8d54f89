import { resourceTopic } from "../access/visibility/resource-topic.view.js";
import { type ActorParts, defineArea } from "../area.js";
import { inboxWalks } from "./inbox.migration.js";
import { memberLeavingSubscriber } from "./member-leaving.js";
import { taskActor } from "./task.machine.js";
import { compositeTaskIndexes } from "./task.migration.js";
import { taskOwned, taskRetention } from "./task.retention.js";
import { taskCauses, taskSource } from "./task.table.js";
import { taskAttachmentsActor } from "./task-attachments.machine.js";
import { taskRunOwner } from "./task-run-owner.js";
import { taskTopicView, teamTopic } from "./task-topic.view.js";
import { teamMarksActor } from "./team-marks.machine.js";
import { taskMarks, taskRaises } from "./team-marks.table.js";
import { taskWithdrawalSubscriber } from "./workspace-closing.js";

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
