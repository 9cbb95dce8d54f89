import type { Command } from "commander";
import t from "tap";
import { listenForSignals, processTerminal } from "../../../http/cli/command/terminal.js";
import { createProgram } from "../../../http/cli/program.js";
import { accountCases } from "./account/account-cases.js";
import { assistantCases } from "./assistants/assistants-cases.js";
import { configurationCases } from "./configuration/configuration-cases.js";
import { deliveryCases } from "./connections/deliveries-cases.js";
import { trustCases } from "./connections/trusts-cases.js";
import { devCases } from "./dev/dev-cases.js";
import { hookCases } from "./hooks/hooks-cases.js";
import { measuringCases } from "./measuring/measuring-cases.js";
import { setupCases } from "./setup/setup-cases.js";
import { statusCases } from "./status/status-cases.js";
import { storeCases } from "./store/store-cases.js";
import { workCases } from "./work/work-cases.js";

/**
 * Commands that other tests run as processes. Two of them run until a signal ends them, and `check` has its own exit
 * codes.
 */
const processes = ["serve", "runner", "check"];

/** Lists the names of all commands with their groups, such as `task open`. */
function listCommands(command: Command, before = ""): readonly string[] {
  return command.commands.flatMap((each) => {
    const name = `${before}${each.name()}`;
    // A group of commands that has options is also a command.
    const isCommand = each.commands.length === 0 || each.options.length > 0;
    return [...(isCommand ? [name] : []), ...listCommands(each, `${name} `)];
  });
}

t.test("every command has a case of the table test", async (t) => {
  const cases = [
    ...accountCases,
    ...assistantCases,
    ...configurationCases,
    ...deliveryCases,
    ...devCases,
    ...hookCases,
    ...measuringCases,
    ...setupCases,
    ...statusCases,
    ...storeCases,
    ...trustCases,
    ...workCases,
  ].map(({ name }) => name);
  const program = createProgram({
    terminal: processTerminal(),
    interruption: listenForSignals,
    exit: () => undefined,
  });
  t.same([...listCommands(program)].sort(), [...processes, ...cases].sort());
});
