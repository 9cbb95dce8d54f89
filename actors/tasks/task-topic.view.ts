import { locateWorkspace, type StreamTopic } from "../access/visibility/stream-topic.js";
import { tasks } from "./task.table.js";
import { taskView } from "./task.view.js";
import { streamedTaskView } from "./task-item.view.js";

/** Number of tasks in the first view of a team's stream. The API returns earlier tasks. */
const TASKS_SHOWN = 100;

/** The topic of a task, for callers who may read its workspace. */
export const taskTopicView: StreamTopic = {
  workspaceOf: locateWorkspace,
  audience: (reading, { workspaceId, id }) =>
    tasks.get(reading, workspaceId, id) === undefined ? undefined : "readers",
  view: (reading, { workspaceId, id }) => {
    const task = tasks.get(reading, workspaceId, id);
    return task === undefined ? undefined : taskView(reading, workspaceId, task);
  },
};

/** The topic of a team as a resource, with its newest tasks. */
export function teamTopic(team: StreamTopic): StreamTopic {
  return {
    ...team,
    view: (reading, subject) => {
      const { workspaceId, id } = subject;
      const work = tasks.all(reading, workspaceId, { teamId: id }, { limit: TASKS_SHOWN });
      return {
        team: team.view(reading, subject),
        tasks: work.map((task) => streamedTaskView(reading, workspaceId, task)),
      };
    },
  };
}
