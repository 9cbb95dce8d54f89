import type { CommandTree } from "../command/define-command.js";
import { addTaskCommands } from "./task.commands.js";

/** Adds the commands of daily work: tasks, runs, and what waits for a person. */
export function addWorkCommands(program: CommandTree): void {
  addTaskCommands(program.group("task", "open tasks, follow them, and answer their questions"));
}
