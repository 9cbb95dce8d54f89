import type { Command } from "commander";
import type { CommandTree } from "../command/define-command.js";

/**
 * The settings of a command on a store. The command needs no service. A signal may end the command at once, because a
 * store survives a kill at any time.
 */
const onStore = { isLocal: true, handlesSignals: true } as const;

const STOPPED = "the data folder of a service that is stopped";

/** Adds the commands that work on a store. */
export function addStoreCommands(tree: CommandTree): void {
  addCopies(tree);
  addDeadLetters(tree);
  addRepairs(tree);
}

function addCopies(tree: CommandTree): void {
  tree.add({
    ...onStore,
    usage: "backup",
    summary: "back up a store, also while the service runs",
    example: "signalbox backup --data ./data --to ./backup",
    declare: (command) =>
      command
        .requiredOption("--data <folder>", "the service's data folder")
        .requiredOption("--to <folder>", "where the copy goes; absent or empty"),
    load: async () => (await import("./backup.js")).backup,
  });
  tree.add({
    ...onStore,
    usage: "restore",
    summary: "restore a backup into an empty folder, on which a service can start",
    example: "signalbox restore --from ./backup --data ./data",
    declare: (command) =>
      command
        .requiredOption("--from <folder>", "the backup")
        .requiredOption("--data <folder>", "the data folder to fill; absent or empty"),
    load: async () => (await import("./restore.js")).restore,
  });
}

function addDeadLetters(tree: CommandTree): void {
  tree.add({
    ...onStore,
    usage: "dead-letters",
    summary: "list dead letters, also while the service runs, or retry one",
    example: "signalbox dead-letters --data ./data",
    declare: (command) =>
      command
        .requiredOption("--data <folder>", "the service's data folder")
        .option("--retry <id>", "retry this one; the service must be stopped"),
    load: async () => (await import("./dead-letters.js")).deadLetters,
  });
}

function addRepairs(tree: CommandTree): void {
  tree.add({
    ...onStore,
    usage: "doctor",
    summary: "check a stopped service's store or a backup for damage, and repair it",
    details: "Exits with 1 if damage remains. Prints keys, never values.",
    example: "signalbox doctor --data ./data --repair",
    declare: (command) =>
      command
        .requiredOption("--data <folder>", `${STOPPED}, or a backup`)
        .option(
          "--repair",
          "rewrite rows that can be derived from others, and remove damaged rows that are not needed",
        ),
    load: async () => (await import("./doctor.js")).doctor,
  });
  tree.add({
    ...onStore,
    usage: "compact",
    summary: "shrink a stopped service's store file",
    example: "signalbox compact --data ./data",
    declare: takeStopped,
    load: async () => (await import("./compact.js")).compact,
  });
  tree.add({
    ...onStore,
    usage: "rebuild-directory",
    summary: "rebuild the index of ids, tokens and members in a stopped service's store",
    example: "signalbox rebuild-directory --data ./data",
    declare: takeStopped,
    load: async () => (await import("./rebuild-directory.js")).rebuildDirectory,
  });
  tree.add({
    ...onStore,
    usage: "recount-bodies",
    summary: "recount references to large bodies in a stopped service's store",
    details: "Corrects the counts. Exits with 1 if a body is missing.",
    example: "signalbox recount-bodies --data ./data",
    declare: takeStopped,
    load: async () => (await import("./recount-bodies.js")).recountBodies,
  });
}

function takeStopped(command: Command): void {
  command.requiredOption("--data <folder>", STOPPED);
}
