import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import { toFields, toTable } from "../command/table.js";
import type { Terminal } from "../command/terminal.js";
import { toAmount, toMoney, toPercent, toPoints, toRange } from "./figures.js";
import { type FrontierPoint, listPoints } from "./frontier.js";
import { drawFrontier } from "./frontier-plot.js";
import { toFrontierSvg } from "./frontier-svg.js";
import { type Candidate, findSearch, readSearch, type Search, toSearchProgress, toSearchSentence } from "./searches.js";
import { watch } from "./watch.js";

interface ShowOptions {
  readonly svg?: string;
}

/** Shows a search: its result in one sentence, the frontier as a plot, and its candidates. */
export async function showSearch(context: Context, options: ShowOptions, name: string | undefined): Promise<void> {
  show(context, options, await readSearch(context, await findSearch(context, name)));
}

/** Waits for the end of a search, with progress on standard error, and shows it. */
export async function watchSearch(context: Context, options: ShowOptions, name: string | undefined): Promise<ExitCode> {
  const found = await findSearch(context, name);
  const search = await watch(context, {
    read: () => readSearch(context, found),
    progress: toSearchProgress,
    isOver: ({ endedAt }) => endedAt !== null,
    again: `the search continues: follow it with signalbox search watch ${found.searchId}`,
  });
  show(context, options, search);
  return search.state === "stopped" ? exitCodes.failed : exitCodes.done;
}

function show(context: Context, { svg }: ShowOptions, search: Search): void {
  if (svg !== undefined) write(context, svg, toFrontierSvg(search));
  context.show({ summary: toSearchSentence(search), ...search }, () => toLines(context.terminal, search));
}

function write({ terminal }: Context, path: string, text: string): void {
  try {
    writeFileSync(resolve(terminal.folder, path), text);
  } catch (error) {
    throw new CommandError(`cannot write ${path}: ${(error as Error).message}`);
  }
  terminal.note(`wrote the plot to ${path}`);
}

function toLines(terminal: Terminal, search: Search): readonly string[] {
  const points = listPoints(search);
  const plot = drawFrontier(terminal, points, search.budget.ceiling.currency);
  return [
    terminal.paint("bold", toSearchSentence(search)),
    ...(plot.length === 0 ? [] : ["", ...plot]),
    "",
    ...toTable(terminal, columns, points),
    ...toDoubts(search),
    "",
    ...toFields(terminal, [
      ["search", search.id],
      ["set", search.setId],
      ["state", toSearchProgress(search)],
      ["ended because", search.ending],
      ["objective", search.objective],
      ["agent", [search.agent.harness, search.agent.model, search.agent.effort].filter(Boolean).join(", ")],
      ["spent", toMoney(search.spent)],
    ]),
  ];
}

const columns = [
  { title: "", of: ({ mark }: FrontierPoint) => mark },
  { title: "name", of: ({ name }: FrontierPoint) => name, isFlexible: true },
  { title: "searched", of: ({ score }: FrontierPoint) => toScore(score), isMinor: true },
  { title: "held out", of: ({ candidate }: FrontierPoint) => toScore(candidate.heldOutScore) },
  { title: "held-out gain", of: ({ candidate }: FrontierPoint) => toGain(candidate), isMinor: true },
  { title: "cost", of: ({ cost }: FrontierPoint) => (cost === null ? null : toAmount(cost)) },
  { title: "", of: ({ candidate }: FrontierPoint) => toRemarks(candidate) },
];

function toScore(score: number | null): string | null {
  return score === null ? null : toPercent(score);
}

function toGain({ heldOutGain: gain }: Candidate): string | null {
  return gain === null ? null : `${toPoints(gain.gain)} ${toRange(gain)}${gain.few ? " (few tasks)" : ""}`;
}

function toRemarks({ onFrontier, onlyOnSeenTasks, replayState, pullRequest }: Candidate): string {
  const isOpen = replayState === "queued" || replayState === "running";
  return [
    ...(onFrontier ? ["frontier"] : []),
    ...(onlyOnSeenTasks === "marked" ? ["gain only on seen tasks"] : []),
    ...(isOpen ? [replayState] : []),
    ...(pullRequest === null ? [] : [`pull request ${pullRequest.url ?? pullRequest.state}`]),
  ].join(", ");
}

function toDoubts({ earlierSearches, onlyOnSeenTasks }: Search): readonly string[] {
  return [
    ...(onlyOnSeenTasks === 0 ? [] : ["trust the held-out gain: candidates were selected on the searched tasks"]),
    ...(earlierSearches.length === 0 ? [] : [`earlier searches of this set: ${earlierSearches.length}`]),
  ];
}
