import { Option } from "commander";
import type { CommandTree } from "../command/define-command.js";
import { type LimitOption, limitOption } from "../command/list-limit.js";
import { ASSIGNEES } from "./filters.js";
import type { InboxFilter } from "./inbox.js";
import { addRunCommands } from "./run.commands.js";
import { addTaskCommands } from "./task.commands.js";

/** Adds the commands of daily work: tasks, runs, and what waits for a person. */
export function addWorkCommands(program: CommandTree): void {
  addTaskCommands(program.group("task", "open tasks, follow them, and answer their questions"));
  addRunCommands(program.group("run", "read the runs of tasks, apply their changes, and answer their agents"));
  program.add<InboxFilter & LimitOption, []>({
    usage: "inbox",
    summary: "list open questions, failures and approvals of all teams, oldest first",
    details: "Answer questions and failures with signalbox task, and approvals with signalbox run.",
    example: "signalbox inbox",
    declare: (command) =>
      command
        .addOption(
          new Option("--assignee <who>", "me, none (unassigned) or all (default: me; all for a token)").choices(
            ASSIGNEES,
          ),
        )
        .option("--workspace <slug>", "only of this workspace")
        .addOption(limitOption()),
    load: async () => (await import("./inbox.js")).showInbox,
  });
}
