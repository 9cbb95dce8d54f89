import type { CommandTree } from "../command/define-command.js";

/** Adds the command `status`. */
export function addStatusCommands(program: CommandTree): void {
  program.add<object, []>({
    usage: "status",
    summary: "show the service's release, queue, runners, failing hooks and last backup",
    details:
      "Shows the queue, runners and hooks of one workspace: that of --team, of this folder, or the only one.\n" +
      "A hook is failing if its last firing failed. The exit code is 0 even then.",
    example: "signalbox status --json",
    load: async () => (await import("./status.js")).status,
  });
}
