import type { CommandTree } from "../command/define-command.js";
import { listOption } from "../command/list-option.js";
import { DECISIONS } from "./decisions.js";
import type { McpOptions } from "./mcp.js";

/** Adds the command that serves assistants. */
export function addAssistantCommands(program: CommandTree): void {
  program.add<McpOptions, []>({
    usage: "mcp",
    summary: "serve an assistant over MCP, on standard input and output, with your own rights",
    details:
      "An assistant starts this command. Add it to the assistant's configuration:\n" +
      '  {"mcpServers": {"signalbox": {"command": "signalbox", "args": ["mcp"]}}}\n' +
      "The assistant can read tasks, runs and the inbox, open tasks, and add notes. It decides nothing for you, unless\n" +
      "--allow names the decision: the other tools are not offered to it.\n" +
      `Decisions: ${DECISIONS.join(", ")}.\n` +
      "Logs go to standard error.",
    example: "signalbox mcp --allow answer,approve",
    declare: (command) =>
      command
        .addOption(
          listOption("--allow <decisions>", "what it may decide, separated by commas (default: nothing)", DECISIONS),
        )
        .option("--list-tools", "list the tools that the assistant gets, and exit"),
    load: async () => (await import("./mcp.js")).mcp,
  });
}
