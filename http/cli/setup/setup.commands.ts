import type { Command } from "commander";
import type { CommandTree } from "../command/define-command.js";
import { listOption } from "../command/list-option.js";
import { laterOption } from "../command/time-option.js";
import type { InitOptions } from "./init.js";
import type { RotateOptions } from "./pools.js";
import { SCOPES } from "./scopes.js";
import type { SecretOptions } from "./secret-set.js";
import type { TokenOptions } from "./token-create.js";
import type { RevokeOptions, WorkspaceOption } from "./tokens.js";

/** Adds the commands that set up a workspace: `init`, `secret set`, `token …` and `pool …`. */
export function addSetupCommands(program: CommandTree): void {
  program.add<InitOptions, []>({
    usage: "init",
    summary: "set up a workspace, a team, a runner pool and a line on a service",
    details:
      "Creates what is missing, and leaves existing objects as they are, so it can be repeated. In a terminal, asks for\n" +
      "what the options do not give. Without a terminal, --team <workspace>/<team> and --repository are required.",
    example: "signalbox init --team acme/core --repository acme/app",
    declare: (command) =>
      command
        .option("--repository <name>", "repository of the line, as owner/name (repeatable)", gather)
        .option("--line <line>", "key of the line (default: main)")
        .option("--stations <keys>", "stations of a new line, each passing to the next (default: work,review)")
        .option("--pool <pool>", "key of the runner pool (default: main)"),
    load: async () => (await import("./init.js")).init,
  });
  addSecretCommands(program.group("secret", "write secrets; the service never shows their values"));
  addTokenCommands(program.group("token", "create, list and revoke workspace tokens, for programs"));
  addPoolCommands(program.group("pool", "list runner pools and replace their tokens"));
}

function addSecretCommands(secrets: CommandTree): void {
  secrets.add<SecretOptions, [string]>({
    usage: "set <name>",
    summary: "set the value of a secret, from standard input",
    details:
      "Reads the value from standard input, or asks for one line of it in a terminal, without showing it. It is never an\n" +
      "argument, which other programs can see. One line break at the end is removed, as echo and editors add it; --exact\n" +
      "keeps it. Creates the secret if there is none with this name.",
    example: "signalbox secret set npm-token --host registry.example.com < token.txt",
    declare: (command) =>
      addWorkspace(command)
        .option("--host <host>", "host to which requests may send it (repeatable; default: unchanged)", gather)
        .option("--exact", "keep a line break at the end of the value"),
    load: async () => (await import("./secret-set.js")).setSecret,
  });
}

function addTokenCommands(tokens: CommandTree): void {
  const scopes = Object.entries(SCOPES).map(([scope, what]) => `  ${scope.padEnd(10)} ${what}`);
  tokens.add<TokenOptions, [string]>({
    usage: "create <name>",
    summary: "create a workspace token, and print it once",
    details:
      "Only the token goes to standard output, so it can be piped. The service does not show it again.\n" +
      `Scopes:\n${scopes.join("\n")}`,
    example: "signalbox token create ci --scope work --expires 90d",
    declare: (command) =>
      addWorkspace(command)
        .addOption(
          listOption("--scope <scopes>", "what it may do, separated by commas", SCOPE_NAMES).makeOptionMandatory(),
        )
        .addOption(laterOption("--expires <time>", "when it expires (default: never)"))
        .option("--description <text>", "what it is for"),
    load: async () => (await import("./token-create.js")).createToken,
  });
  tokens.add<WorkspaceOption, []>({
    usage: "list",
    summary: "list the workspace's tokens, with their scopes and when they expire",
    details: "The tokens themselves are not shown: the service shows a token once, when it is created.",
    example: "signalbox token list --workspace acme",
    declare: addWorkspace,
    load: async () => (await import("./tokens.js")).listTokens,
  });
  tokens.add<RevokeOptions, [string]>({
    usage: "revoke <token>",
    summary: "revoke a workspace token, which stops working at once",
    details: "<token> takes a name, an id or a unique beginning of the id: signalbox token list shows them.",
    example: "signalbox token revoke ci --yes",
    declare: (command) => addWorkspace(command).option("--yes", "do not ask for confirmation"),
    load: async () => (await import("./tokens.js")).revokeToken,
  });
}

function addPoolCommands(pools: CommandTree): void {
  pools.add<WorkspaceOption, []>({
    usage: "list",
    summary: "list the workspace's runner pools, with their connected runners",
    example: "signalbox pool list --workspace acme",
    declare: addWorkspace,
    load: async () => (await import("./pools.js")).listPools,
  });
  pools.add<RotateOptions, [string]>({
    usage: "rotate <pool>",
    summary: "replace a runner pool's token, and print the new one once",
    details:
      "Only the token goes to standard output, so it can be piped. The old token stops working at once: restart the\n" +
      "pool's runners with the new one. <pool> takes a key, an id or a unique beginning of the id.",
    example: "signalbox pool rotate main --yes > pool-token",
    declare: (command) => addWorkspace(command).option("--yes", "do not ask for confirmation"),
    load: async () => (await import("./pools.js")).rotatePool,
  });
}

const SCOPE_NAMES = Object.keys(SCOPES);

function addWorkspace(command: Command): Command {
  return command.option("--workspace <slug>", "workspace (default: that of the default team, or the only one)");
}

function gather(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
