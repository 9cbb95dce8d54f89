import { InvalidArgumentError, Option } from "commander";
import type { CommandTree } from "../command/define-command.js";
import { limitOption } from "../command/list-limit.js";
import { timeOption } from "../command/time-option.js";
import { deliveryStates, endedStates } from "./delivery-states.js";

/** Adds the commands of connections: deliveries of integrations, and trusts. */
export function addConnectionCommands(program: CommandTree): void {
  const delivery = program.group("delivery", "list, test and redeliver webhook deliveries");
  delivery.add({
    usage: "list [integration]",
    summary: "list the deliveries of an integration, newest first",
    details: "Default: the team's only integration. Also prints how many deliveries failed verification.",
    example: "signalbox delivery list tracker --state failed",
    declare: (command) =>
      command
        .addOption(new Option("--state <state>", "only deliveries in this state").choices(deliveryStates))
        .addOption(limitOption()),
    load: async () => (await import("./delivery-list.js")).listDeliveries,
  });
  delivery.add({
    usage: "show [delivery]",
    summary: "show a delivery with its body and the result of each entry",
    details: "Takes an id or its beginning. Without one: the integration's latest delivery.",
    example: "signalbox delivery show dlv_01M83Z897SPPSGRFWJW7VW88QK",
    declare: (command) => command.addOption(integrationOption()),
    load: async () => (await import("./delivery-show.js")).showDelivery,
  });
  delivery.add({
    usage: "try [file]",
    summary: "preview what a delivery with this body would do",
    details: "Nothing is stored or sent, and lookups are not made. Without a file, or with -: standard input.",
    example: 'signalbox delivery try issue.json --integration tracker --header "x-event: issue"',
    declare: (command) =>
      command
        .addOption(integrationOption())
        .addOption(new Option("--header <header...>", "a header, as name: value").argParser(addHeader)),
    load: async () => (await import("./delivery-try.js")).tryDelivery,
  });
  delivery.add({
    usage: "redeliver [delivery]",
    summary: "reprocess one delivery, or the deliveries of a period",
    details:
      "With --from, reprocesses the failed and unrouted deliveries of the period, or those in --state, with the current\n" +
      "definition, 20 per second.",
    example: "signalbox delivery redeliver --integration tracker --from 1d --state failed",
    declare: (command) =>
      command
        .addOption(integrationOption())
        .addOption(timeOption("--from <time>", "start of the period"))
        .addOption(timeOption("--to <time>", "end of the period, now by default"))
        .addOption(new Option("--state <state...>", "only deliveries in these states").choices(endedStates)),
    load: async () => (await import("./delivery-redeliver.js")).redeliver,
  });
  addTrust(program);
}

function addTrust(program: CommandTree): void {
  const trust = program.group("trust", "test CI tokens against a workspace's trusts");
  trust.add({
    usage: "try <jwt>",
    summary: "compare an OIDC token with the workspace's trusts, claim by claim",
    details:
      "Compares with the trusts of the token's issuer, or with the one given. The token stays on this machine, and is\n" +
      "neither printed nor stored. Give - to read it from standard input, so that it is not in the shell's history.\n" +
      "The signature is not checked: the service checks it at the exchange.",
    example: 'signalbox trust try - --trust ci <<< "$OIDC_TOKEN"',
    declare: (command) => command.option("--trust <trust>", "the trust: its key or its id"),
    load: async () => (await import("./trust-try.js")).tryTrust,
  });
}

function integrationOption(): Option {
  return new Option("--integration <integration>", "the integration, if the team has several");
}

function addHeader(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("It must be <name>: <value>.");
  return { ...before, [name.toLowerCase()]: value };
}
