import { readFileSync } from "node:fs";
import { Command } from "commander";

/**
 * The command `signalbox`: runs one of the programs below. Each program parses its own arguments and is loaded only
 * when it runs.
 */

interface Program {
  readonly says: string;
  readonly load: () => Promise<unknown>;
}

const programs: Readonly<Record<string, Program>> = {
  runner: { says: "works the runs of a service", load: () => import("../runner/main.js") },
  check: {
    says: "replays what a planned change would do to past runs, and says whether it does worse",
    load: () => import("./check/main.js"),
  },
  backup: { says: "copies a store, also while the service runs", load: () => import("./store/backup.js") },
  restore: { says: "puts a backup into an empty folder", load: () => import("./store/restore.js") },
  "dead-letters": {
    says: "lists messages that were set aside, and sends one again",
    load: () => import("./store/dead-letters.js"),
  },
  doctor: {
    says: "looks for damage in a stopped service's folder or a backup, and repairs it where it can",
    load: () => import("./store/doctor.js"),
  },
  compact: {
    says: "gives the free room in a stopped service's file back to the disk",
    load: () => import("./store/compact.js"),
  },
  "rebuild-directory": {
    says: "makes anew by which ids, tokens and members are found, in a stopped service's folder",
    load: () => import("./store/rebuild-directory.js"),
  },
  "recount-bodies": {
    says: "counts again which rows refer to large bodies, in a stopped service's folder",
    load: () => import("./store/recount-bodies.js"),
  },
};

const signalbox = new Command("signalbox")
  .description("A self-hosted control plane for agent work.")
  .version(version(), "--version", "says which release this is")
  .helpOption("--help", "says this, and after a command what that takes")
  .helpCommand(false)
  .enablePositionalOptions()
  .configureOutput({ outputError: (text, write) => write(`${text.trimEnd().replaceAll("\n", " ")}\n`) });

signalbox
  .command("serve")
  // A separate option, so that the table of settings is loaded only for `--help`.
  .helpOption(false)
  .option("--help", "says this")
  .option(
    "--read-only",
    "serves a restored copy for looking: reads and sign-in, with the link in the log; nothing is sent",
  )
  .summary("starts the service")
  .description("Starts the service. Its settings are environment variables.")
  .action(async ({ help }: { readonly help?: true }, serve: Command) => {
    if (help !== true) return void (await import("../process/main.js"));
    const { settingsHelp } = await import("../process/settings-help.js");
    serve.addHelpText("after", `\n${settingsHelp()}`).help();
  });

for (const [name, { says, load }] of Object.entries(programs)) {
  signalbox
    .command(`${name} [arguments...]`)
    .summary(says)
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async () => {
      // Remove the command's name, so that the program finds its arguments in the usual place.
      process.argv.splice(process.argv.indexOf(name, 2), 1);
      await load();
    });
}

await signalbox.parseAsync();

function version(): string {
  const { version }: { readonly version: string } = JSON.parse(
    readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
  );
  return version;
}
