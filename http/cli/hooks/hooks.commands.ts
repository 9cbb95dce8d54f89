import { Option } from "commander";
import { countOption } from "../command/count-option.js";
import type { CommandTree } from "../command/define-command.js";
import { limitOption } from "../command/list-limit.js";
import { timeOption } from "../command/time-option.js";
import type { CreateOptions } from "./create.js";
import { eventNames, firingStates } from "./event-names.js";

const eventOption = () => new Option("--event <event>", "only this event").choices(eventNames);

/** Adds the commands of hooks. A firing is one event for which one hook fired. */
export function addHookCommands(program: CommandTree): void {
  const hook = program.group("hook", "create, list, test and resend hooks, and forward them to this machine");
  hook.add({
    usage: "list",
    summary: "list the team's hooks",
    example: "signalbox hook list --team core",
    load: async () => (await import("./list.js")).listHooks,
  });
  addDefinition(hook);
  addHistory(hook);
  hook.add({
    usage: "test [hook]",
    summary: "send a sample event to a hook once, and show the receiver's answer",
    details: "The steps run without a task, and conditions are not checked. Without a name: the team's only hook.",
    example: "signalbox hook test tell",
    load: async () => (await import("./test-hook.js")).testHook,
  });
  hook.add({
    usage: "resend [firing]",
    summary: "resend a firing, or all failed firings of a period",
    details: "With --from, resends each failed firing of the period, unless a later resend succeeded, 20 per second.",
    example: "signalbox hook resend --from 2h --hook tell",
    declare: (command) =>
      command
        .addOption(timeOption("--from <time>", "start of the period"))
        .addOption(timeOption("--to <time>", "end of the period, now by default"))
        .option("--hook <hook>", "only the firings of this hook"),
    load: async () => (await import("./resend.js")).resend,
  });
  hook.add({
    usage: "why [event]",
    summary: "explain for one event which hooks fired, which did not, and why",
    details:
      "[event] takes an event id, a firing id, or a task id. Default: the last task in this folder, or the team. Of a task\n" +
      "or a team, it explains the latest event that a hook is for; --event chooses another.",
    example: "signalbox hook why task_01M83Z897Q3J2DWBGNTTE4RP3Z --event task.opened",
    declare: (command) => command.addOption(eventOption()),
    load: async () => (await import("./why.js")).explainEvent,
  });
  addListen(hook);
}

function addDefinition(hook: CommandTree): void {
  const gather = (text: string, before: readonly string[] = []) => [...before, text];
  hook.add<CreateOptions, [string]>({
    usage: "create <key>",
    summary: "create a hook that sends a signed request, and print its secret once",
    details:
      "Only the signing secret (Standard Webhooks) goes to standard output, so it can be piped. The service does not\n" +
      "show it again. Hooks with tool calls, several steps or headers are written in HCL:\n" +
      "  signalbox export acme     write the workspace's HCL into the folder acme\n" +
      "  signalbox plan acme       show what an edited file would change\n" +
      "  signalbox apply acme      change it",
    example: "signalbox hook create tell --event task.opened --receiver https://example.com/hooks",
    declare: (command) =>
      command
        .addOption(new Option("--event <event>", "event on which it fires").choices(eventNames).makeOptionMandatory())
        .requiredOption("--receiver <url>", "address that gets the requests")
        .option("--line <line>", "only for tasks of this line (repeatable)", gather)
        .option("--station <station>", "only at this station (repeatable)", gather)
        .option("--when <expression>", 'only if this expression is true, such as task.title != "x"'),
    load: async () => (await import("./create.js")).createHook,
  });
  hook.add<{ readonly yes?: true }, [string]>({
    usage: "delete <hook>",
    summary: "delete a hook",
    example: "signalbox hook delete tell",
    declare: (command) => command.option("--yes", "do not ask for confirmation"),
    load: async () => (await import("./create.js")).deleteHook,
  });
}

function addHistory(hook: CommandTree): void {
  hook.add({
    usage: "log [hook]",
    summary: "list the firings of the team's hooks, or of one hook, newest first",
    example: "signalbox hook log tell --state failed",
    declare: (command) =>
      command
        .addOption(eventOption())
        .addOption(new Option("--state <state>", "only firings in this state").choices(firingStates))
        .addOption(limitOption()),
    load: async () => (await import("./log.js")).listFirings,
  });
  hook.add({
    usage: "show [firing]",
    summary: "show a firing with every attempt, or a hook",
    details: "Takes a firing's id or its beginning, or a hook's key. Without a name: the team's latest firing.",
    example: "signalbox hook show occ_01M83Z897SPPSGRFWJW7VW88QK-B6PHP18J",
    load: async () => (await import("./show.js")).showHookOrFiring,
  });
}

function addListen(hook: CommandTree): void {
  hook.add({
    usage: "listen",
    summary: "forward hook requests to a local address",
    details:
      "Forwards each hook request once, after its first attempt, with the same webhook-id, signed (Standard Webhooks)\n" +
      "with the printed secret. Responses have no effect, and redirects are not followed. Secret headers and callback\n" +
      "tokens are not included. Bodies over 16 KiB and tool calls are skipped with a note. Default: all teams of the\n" +
      "workspace. With --json, prints one line of JSON per request, and the secret to standard error.",
    example: "signalbox hook listen --forward http://localhost:3000/hooks",
    declare: (command) =>
      command
        .requiredOption("--forward <url>", "address to forward requests to")
        .option("--hook <hook>", "only the firings of this hook")
        .option("--secret <secret>", "sign with this whsec_… secret instead of a new one")
        .addOption(countOption("--last <number>", "forward the latest firings of each team first", { max: 999 }))
        .addOption(countOption("--limit <number>", "stop after this many requests", { max: 999 })),
    load: async () => (await import("./listen.js")).listen,
  });
}
