import { type Command, Option } from "commander";
import { countOption } from "../command/count-option.js";
import type { CommandTree } from "../command/define-command.js";
import { type LimitOption, limitOption } from "../command/list-limit.js";
import { parseMoney } from "./figures.js";
import type { ReplayOptions } from "./replay.js";
import { efforts, objectives } from "./search-options.js";
import type { EstimateOptions, StartOptions } from "./search-start.js";
import type { AddOptions } from "./set-change.js";
import type { ListOptions } from "./set-list.js";

/** Adds the commands that measure configs: replays, their sets, and searches. */
export function addMeasuringCommands(program: CommandTree): void {
  addReplay(program);
  addSet(program.group("set", "sets of past runs that replays repeat"));
  addSearch(program.group("search", "searches for a better config of a station"));
}

function addReplay(program: CommandTree): void {
  const replay = program.add<ReplayOptions>({
    usage: "replay",
    summary: "replay past runs of a station under another prompt or config, and compare",
    details:
      "Replays have no side effects. The runs become a replay set; a set with exactly these runs is reused. If the set\n" +
      "has no measurement of the live config, the service also replays the live config, with a separate ceiling: for\n" +
      "sets of 5 runs or more, three times --ceiling with one copy of each run, and in proportion with more copies.\n" +
      "The command waits for the result. Ctrl+C ends only the command: the replay continues.\n" +
      "Exit codes: 0 the replay has finished, with --no-wait it has started; 1 it was stopped or reached its ceiling.",
    example: "signalbox replay --line core/fix --prompt better.md --ceiling 2USD",
    declare: (command) =>
      declarePlace(command)
        .option("--runs <runs...>", "ids of runs, or the newest: last:N (default: last:20)")
        .option("--set <set>", "a replay set, instead of --line, --station and --runs")
        .option("--prompt <file>", "the live station with this prompt; - reads standard input")
        .option("--candidate <file>", 'JSON of a station block, such as {"from": "live", "model": "…"}; or live')
        .addOption(repeatsOption())
        // Do not make this a mandatory option of commander: commander would then require it for `replay show` too.
        .option("--ceiling <money>", "maximum cost, such as 2USD; required", parseMoney)
        .option("--with-answer", "also replay the live config with the correct answers, to measure the maximum gain")
        .option("--no-wait", "start only"),
    load: async () => (await import("./replay.js")).replay,
  });
  replay.add<{ readonly wait?: true }, [string | undefined]>({
    usage: "show [replay]",
    summary: "show the result of a replay: the gain, regressions, and each task",
    details:
      "[replay] takes a replay id or a prefix of it. Default: the last replay in this folder, or the newest.\n" +
      "Exit codes: 0; with --wait, 1 if the replay was stopped or reached its ceiling.",
    example: "signalbox replay show",
    declare: (command) => command.option("--wait", "wait until the replay has ended"),
    load: async () => (await import("./replay.js")).showReplay,
  });
}

function addSet(set: CommandTree): void {
  set.add<ListOptions>({
    usage: "list",
    summary: "list the replay sets of a team, or of a station",
    example: "signalbox set list --line core/fix",
    declare: (command) => declarePlace(command).addOption(limitOption()),
    load: async () => (await import("./set-list.js")).listReplaySets,
  });
  set.add<LimitOption, [string | undefined]>({
    usage: "show [set]",
    summary: "show a set: its runs, its noise, and its replays",
    details: OPTIONAL_SET,
    example: 'signalbox set show "Sent back in September"',
    declare: (command) =>
      command.addOption(countOption("--limit <number>", "maximum number of replays", { default: 20 })),
    load: async () => (await import("./set-show.js")).showSet,
  });
  set.add<AddOptions, [string, readonly string[]]>({
    usage: "add <set> [runs...]",
    summary: "add past runs of its station to a set: ids, or the newest as last:N",
    details: `${REQUIRED_SET} All runs are added, or none.`,
    example: 'signalbox set add --new "Sent back in September" last:20',
    declare: (command) =>
      declarePlace(command)
        .option("--new", "create the set for --line and --station")
        .option("--suggested", "add the runs that balance the set best"),
    load: async () => (await import("./set-change.js")).addToSet,
  });
  set.add<{ readonly off?: true }, [string | undefined]>({
    usage: "guard [set]",
    summary: "use a set to check planned changes of its station",
    details: OPTIONAL_SET,
    example: 'signalbox set guard "Sent back in September"',
    declare: (command) => command.option("--off", "stop the set from guarding"),
    load: async () => (await import("./set-change.js")).guardWithSet,
  });
  set.add<{ readonly yes?: true }, [string]>({
    usage: "delete <set>",
    summary: "delete a set with its replays; asks for confirmation if it guards a station",
    details: REQUIRED_SET,
    example: 'signalbox set delete "Sent back in September"',
    declare: (command) => command.option("--yes", "do not ask"),
    load: async () => (await import("./set-change.js")).deleteSet,
  });
}

function addSearch(search: CommandTree): void {
  search.add<EstimateOptions, [string | undefined]>({
    usage: "estimate [set]",
    summary: "estimate the runs, money and time of a search, and warn of its limits",
    details: `Starts nothing.\n${OPTIONAL_SET}`,
    example: 'signalbox search estimate "Sent back in September" --ceiling 20USD',
    declare: declareBudget,
    load: async () => (await import("./search-start.js")).estimateSearch,
  });
  search.add<StartOptions, [string | undefined]>({
    usage: "start [set]",
    summary: "start a search: an agent proposes configs, which are replayed on the set",
    details: `The ceiling covers all replays and the agent.\n${OPTIONAL_SET}`,
    example: 'signalbox search start "Sent back in September" --ceiling 20USD',
    declare: (command) =>
      declareBudget(command)
        .option("--agent <harness>", "the agent's harness (default: the station's)")
        .option("--model <model>", "the agent's model")
        .addOption(new Option("--effort <level>", "the agent's effort").choices(efforts)),
    load: async () => (await import("./search-start.js")).startSearch,
  });
  search.add<{ readonly svg?: string }, [string | undefined]>({
    usage: "watch [search]",
    summary: "wait for the end of a search, with its progress, and show the result",
    details: `Ctrl+C ends only the command. ${SEARCH_NAME}\nExit codes: 0 finished; 1 stopped before its end.`,
    example: "signalbox search watch",
    declare: declareSvg,
    load: async () => (await import("./search-show.js")).watchSearch,
  });
  search.add<{ readonly svg?: string }, [string | undefined]>({
    usage: "show [search]",
    summary: "show a search: the best config, and the success rate and cost of each candidate",
    details: SEARCH_NAME,
    example: "signalbox search show --svg frontier.svg",
    declare: declareSvg,
    load: async () => (await import("./search-show.js")).showSearch,
  });
  search.add<{ readonly search?: string }, [string | undefined]>({
    usage: "pick [candidate]",
    summary: "open a pull request with a candidate of a search, by default the best one",
    details:
      "Waits until the pull request is open. A candidate is named by its name or its id.\n" +
      "Exit codes: 0 opened; 1 refused, with what to edit by hand.",
    example: "signalbox search pick careful",
    declare: (command) => command.option("--search <search>", "the search (default: the last one)"),
    load: async () => (await import("./search-pick.js")).pickCandidate,
  });
}

function declareBudget(command: Command): Command {
  return command
    .requiredOption("--ceiling <money>", "maximum cost, such as 20USD", parseMoney)
    .addOption(countOption("--iterations <count>", "maximum number of proposal rounds", { default: 4 }))
    .addOption(countOption("--per-iteration <count>", "maximum number of configs per round", { default: 3 }))
    .addOption(repeatsOption())
    .addOption(countOption("--concurrency <count>", "concurrent copies", { default: 4 }))
    .addOption(
      new Option(
        "--objective <objective>",
        "what to improve (default: cost if the live config nearly always succeeds)",
      ).choices(objectives),
    );
}

function repeatsOption(): Option {
  return countOption("--repeats <count>", "copies of each run", { max: 5, default: 1 });
}

function declareSvg(command: Command): Command {
  return command.option("--svg <file>", "also write the plot as an SVG picture");
}

const SEARCH_NAME = "[search] takes a search id or a prefix of it (default: the last one).";
const REQUIRED_SET = "<set> takes a name, an id or a prefix of the id.";
const OPTIONAL_SET =
  "[set] takes a name, an id or a prefix of the id. Default: the last set used in this folder, or the only one.";

/** Declares the options that choose a station. */
function declarePlace(command: Command): Command {
  return command
    .option("--line <line>", "line: its key, <team>/<line>, or its id (default: the folder's last, or the only one)")
    .option("--station <station>", "work station: its key or id (default: the line's first)");
}
