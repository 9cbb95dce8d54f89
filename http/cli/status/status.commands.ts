import type { CommandTree } from "../command/define-command.js";

/** Adds the command `status`. */
export function addStatusCommands(program: CommandTree): void {
  program.add<object, []>({
    usage: "status",
    summary: "show the service's release, queue, runners, failing hooks and last backup",
    details:
      "The queue, the runners and the hooks are those of one workspace: of --team, of this folder, or the only one.\n" +
      "A hook fails if its last firing failed. The exit code is 0 even if something is failing.",
    example: "signalbox status --json",
    load: async () => (await import("./status.js")).status,
  });
}
