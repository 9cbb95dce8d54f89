import { Option } from "commander";
import type { CommandTree } from "../command/define-command.js";
import { type LimitOption, limitOption } from "../command/list-limit.js";
import { TASK_STATES, type TaskFilter } from "./task-list.js";
import type { TaskOpening } from "./task-open.js";

/** Adds the commands `task …`. */
export function addTaskCommands(tasks: CommandTree): void {
  addReads(tasks);
}

function addReads(tasks: CommandTree): void {
  tasks.add<TaskOpening, [string]>({
    usage: "open <title>",
    summary: "open a task on a line",
    details: "The task starts at the line's first station, assigned to you. Later commands use it by default.",
    example: 'signalbox task open "The tests fail"',
    declare: (command) =>
      command
        .option("--line <line>", "line: its key, or <team>/<line>; default: the last or only one")
        .option("--station <station>", "key of the station to start at")
        .option("--description <text>", "what to do; - reads standard input")
        .option("--assign <person>", "mail address, name or id of a person; me or none")
        .option("--link <url>", "address of what the task is about, such as an issue")
        .option("--review-branch <branch>", "review this branch, and never change it")
        .option("--review-pull-request <url>", "review this pull request, and never change it"),
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
  tasks.add<object, [string | undefined]>({
    usage: "show [task]",
    summary: "show a task with its notes and runs",
    example: "signalbox task show",
    load: async () => (await import("./task-show.js")).showTask,
  });
}
