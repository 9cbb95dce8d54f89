import type { CommandTree } from "../command/define-command.js";
import type { DevOptions } from "./dev.js";

/** Adds the command `dev`. */
export function addDevCommands(program: CommandTree): void {
  program.add<DevOptions, [readonly string[]]>({
    usage: "dev [program...]",
    summary: "start a local service and runner for this git repository",
    details:
      "Keeps everything in .signalbox/, which git ignores. Agents start from the last commit of the current branch, in\n" +
      "separate checkouts, and run with your permissions, without a sandbox.\n" +
      "Pass the agent after --command, or after -- if its arguments begin with a dash. A path with a slash is relative\n" +
      "to this folder. Default: a built-in example agent, which calls no model and adds a note.\n" +
      "The agent starts in the checkout and changes files there; nothing needs to be committed. It reads the task from\n" +
      "the file in $SIGNALBOX_TASK_FILE. It also works the reviews: $SIGNALBOX_STATION is the station's key. Without a\n" +
      "review: --stations work.\n" +
      "All settings of signalbox serve apply, except DATA_DIR. Ctrl+C finishes active runs, then stops; press it again\n" +
      "to stop them. The next start continues with the same data.",
    example: "signalbox dev --stations work,review -- node /opt/agent.js --model large",
    isLocal: true,
    declare: (command) =>
      command
        .option("--command <program...>", "the agent, with its arguments")
        .option("--port <n>", "port of the service (default: the last one, or the first free one from 8787)")
        .option(
          "--stations <keys>",
          "stations of the line main, used only when the line is created (default: work,review)",
        )
        .option("--pass-env <name>", "environment variable to pass to agents (repeatable)", gather)
        .option("--reset", "delete all tasks, runs and settings, and start again (asks first)")
        .option("--yes", "skip the confirmation"),
    load: async () => (await import("./dev.js")).dev,
  });
}

function gather(name: string, before: readonly string[] = []): readonly string[] {
  return [...before, name];
}
