import type { CommandTree } from "../command/define-command.js";
import type { DevOptions } from "./dev.js";

/** Adds the command that starts everything in a git repository. */
export function addDevCommands(program: CommandTree): void {
  program.add<DevOptions, [readonly string[]]>({
    usage: "dev [program...]",
    summary: "start a service and a runner for this git repository, on this machine alone",
    details:
      "The store is in .signalbox/ of the repository, which git ignores. Agents start from the last commit of the current\n" +
      "branch, in checkouts of their own. They run as you, without a sandbox.\n" +
      "Give the agent's program after --command, or after -- if its arguments begin with a dash. A path with a slash is\n" +
      "taken from this folder. Without a program, a built-in example agent works: it calls no model, and adds a note.\n" +
      "The settings of signalbox serve apply too, except DATA_DIR. Ctrl+C finishes the active runs and stops; a second\n" +
      "one stops the runs. Run it again to continue where it stopped.",
    example: "signalbox dev --stations work,review -- node /opt/agent.js --model large",
    isLocal: true,
    declare: (command) =>
      command
        .option("--command <program...>", "the agent, with its arguments")
        .option("--port <n>", "port of the service (default: the last one, or a free one from 8787)")
        .option(
          "--stations <keys>",
          "stations of the line main, used only when the line is created (default: work,review)",
        )
        .option("--pass-env <name>", "environment variable to pass to agents (repeatable)", gather)
        .option("--reset", "remove the store, with all tasks and runs, and begin again; asks first")
        .option("--yes", "do not ask"),
    load: async () => (await import("./dev.js")).dev,
  });
}

function gather(name: string, before: readonly string[] = []): readonly string[] {
  return [...before, name];
}
