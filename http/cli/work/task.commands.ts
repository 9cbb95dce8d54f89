import { type Command, Option } from "commander";
import type { CommandTree } from "../command/define-command.js";
import { type LimitOption, limitOption } from "../command/list-limit.js";
import type { FollowOption, TaskOption } from "./change-task.js";
import { TASK_STATES } from "./filters.js";
import type { TaskFilter } from "./task-list.js";
import type { TaskOpening } from "./task-open.js";

/** Adds the commands `task …`. */
export function addTaskCommands(tasks: CommandTree): void {
  addReads(tasks);
  addSpeech(tasks);
  addChanges(tasks);
}

const addFollow = (command: Command): Command =>
  command.option("--follow", "show steps, questions and reviews as they happen, until the task is done");
const addTask = (command: Command): Command =>
  command.option("--task <task>", "task id, or a unique prefix of it (default: the task that a command named last)");

const FOLLOWING =
  "With --follow, shows progress until the task is done. When the agent asks a question, type the answer. Without a\n" +
  "terminal, the command prints the question and keeps following. Exits with 1 if the task is closed, or fails and is\n" +
  "not retried.";

const TASK =
  "[task] takes a task id or a unique prefix of it.\n" +
  "Default: the task that a command named last, by its id or by a run of it.";

function addReads(tasks: CommandTree): void {
  tasks.add<TaskOpening, [string]>({
    usage: "open <title>",
    summary: "open a task on a line",
    details: `The task starts at the line's first station, assigned to you. It is the default of later commands.\n${FOLLOWING}`,
    example: 'signalbox task open "The tests fail" --follow',
    declare: (command) =>
      addFollow(command)
        .option("--line <line>", "line: its key, or <team>/<line> (default: the last or only one)")
        .option("--station <station>", "key of the station to start at")
        .option("--description <text>", "what to do; - reads standard input")
        .option("--assign <person>", "mail address, name or id of a person; me or none")
        .option("--link <url>", "address of what the task is about, such as an issue")
        .option("--review-branch <branch>", "review this branch without changing it")
        .option("--review-pull-request <url>", "review this pull request without changing it"),
    load: async () => (await import("./task-open.js")).openTask,
  });
  tasks.add<TaskFilter & LimitOption, []>({
    usage: "list",
    summary: "list the tasks of the team, newest first",
    example: "signalbox task list --state inbox",
    declare: (command) =>
      command
        .addOption(new Option("--state <state>", "only in this state").choices(TASK_STATES))
        .option("--line <line>", "only of this line")
        .option("--station <station>", "only at this station")
        .option("--assignee <person>", "only of a person: mail address, name or id; me or none")
        .addOption(limitOption()),
    load: async () => (await import("./task-list.js")).listTasks,
  });
  tasks.add<FollowOption, [string | undefined]>({
    usage: "show [task]",
    summary: "show a task with its notes and runs, or follow it",
    details: `${TASK}\n${FOLLOWING}`,
    example: "signalbox task show",
    declare: addFollow,
    load: async () => (await import("./task-show.js")).showTask,
  });
}

function addSpeech(tasks: CommandTree): void {
  tasks.add<FollowOption & TaskOption, [string]>({
    usage: "answer <text>",
    summary: "answer the question of a task that is assigned to you",
    details: `Use - to read the text from standard input.\n${FOLLOWING}`,
    example: 'signalbox task answer "The second one"',
    declare: (command) => addFollow(addTask(command)),
    load: async () => (await import("./change-task.js")).answerTask,
  });
  tasks.add<TaskOption, [string]>({
    usage: "note <text>",
    summary: "add a note, which later runs of the task read",
    details: "Use - to read the text from standard input.",
    example: 'signalbox task note "The flaky test is known"',
    declare: addTask,
    load: async () => (await import("./change-task.js")).addNote,
  });
  tasks.add<FollowOption & TaskOption, [string]>({
    usage: "move <station>",
    summary: "move a task to a station of its line, where it runs",
    example: "signalbox task move review",
    declare: (command) => addFollow(addTask(command)),
    load: async () => (await import("./change-task.js")).moveTask,
  });
  tasks.add<TaskOption, [string]>({
    usage: "assign <person>",
    summary: "assign a task to a person (mail address, name, id or me), or to none",
    example: "signalbox task assign ada@example.com",
    declare: addTask,
    load: async () => (await import("./change-task.js")).assignTask,
  });
}

function addChanges(tasks: CommandTree): void {
  tasks.add<object, [string | undefined]>({
    usage: "stop [task]",
    summary: "stop the run of a task that is assigned to you",
    details: TASK,
    example: "signalbox task stop",
    load: async () => (await import("./change-task.js")).stopTask,
  });
  tasks.add<FollowOption, [string | undefined]>({
    usage: "retry [task]",
    summary: "run the station of a task again",
    details: TASK,
    example: "signalbox task retry --follow",
    declare: addFollow,
    load: async () => (await import("./change-task.js")).retryTask,
  });
  tasks.add<object, [string | undefined]>({
    usage: "close [task]",
    summary: "close a task and cancel its run",
    details: TASK,
    example: "signalbox task close",
    load: async () => (await import("./change-task.js")).closeTask,
  });
}
