import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import type { LimitOption } from "../command/list-limit.js";
import { toFields, toTable } from "../command/table.js";
import type { Terminal } from "../command/terminal.js";
import { FEW, toCount, toPercent, toPoints, toRange } from "./figures.js";
import { toProgress } from "./replays.js";
import { findSet } from "./sets.js";

type ReplaySet = Schema<"ReplaySet">;
type Entry = ReplaySet["entries"][number];
type ListedReplay = Schema<"ReplayInAList">;

/** Shows a set: its runs, its health, and its newest replays. */
export async function showSet(context: Context, { limit }: LimitOption, name: string | undefined): Promise<void> {
  const { team, set } = await findSet(context, name);
  const { items: replays, next } = await context.client.get("/api/teams/{teamId}/replay-sets/{setId}/replays", {
    path: { teamId: team.id, setId: set.id },
    query: { limit },
    signal: context.signal,
  });
  context.show({ ...set, replays }, () => toLines(context.terminal, set, replays));
  if (next !== null) context.terminal.note("there are older replays: give --limit");
}

function toLines(terminal: Terminal, set: ReplaySet, replays: readonly ListedReplay[]): readonly string[] {
  return [
    ...toFields(terminal, [
      ["set", set.name],
      ["id", set.id],
      ["station", set.stationLeft ? `${set.stationKey}, which was removed` : set.stationKey],
      ["guards changes", set.guardsChanges ? "yes: checks of planned changes replay it" : "no"],
      ["smallest real gain", `${toPoints(set.minGain).replace("+", "")} points`],
      ...toHealth(set.health),
      ...toBalance(set),
    ]),
    "",
    ...toTable(terminal, entryColumns, set.entries),
    ...(replays.length === 0 ? [] : ["", ...toTable(terminal, replayColumns, replays)]),
  ];
}

const entryColumns = [
  { title: "run", of: ({ runId }: Entry) => runId },
  { title: "outcome", of: ({ outcome }: Entry) => outcome, isMinor: true },
  {
    title: "repeatable",
    of: ({ refusal }: Entry) => (refusal === null ? "yes" : `no: ${refusal.reason}`),
    isFlexible: true,
  },
  { title: "task", of: ({ title }: Entry) => title, isFlexible: true },
];

const replayColumns = [
  { title: "replay", of: ({ id }: ListedReplay) => id },
  { title: "success", of: ({ totals }: ListedReplay) => toPercent(totals.successRate) },
  {
    title: "gain",
    of: ({ againstBaseline: gain }: ListedReplay) => (gain === null ? null : toGain(gain)),
    isMinor: true,
  },
  { title: "state", of: (replay: ListedReplay) => toProgress(replay), isFlexible: true },
  { title: "candidate", of: ({ candidate }: ListedReplay) => candidate.name, isFlexible: true },
];

function toGain({ gain, low, high, few }: NonNullable<ListedReplay["againstBaseline"]>): string {
  return `${toPoints(gain)} ${toRange({ low, high })}${few ? " (few tasks)" : ""}`;
}

type Field = readonly [string, string];

function toHealth({ noise, saturation, judge, checks, oracle }: ReplaySet["health"]): readonly Field[] {
  const few = (of: { readonly few: boolean }) => (of.few ? `, ${FEW}` : "");
  const fields: Field[] = [];
  if (saturation !== null) {
    const { rate, interval, saturated } = saturation;
    const hint = saturated ? ", little left to gain" : "";
    fields.push(["live config", `${toPercent(rate)} ${toRange(interval)} success${hint}${few(saturation)}`]);
  }
  if (noise !== null) {
    const { spread, repeats, flippedTasks, suggestedRepeats } = noise;
    const flips = toCount(flippedTasks.length, "task");
    const text = `${toPoints(spread)} points between ${toCount(repeats, "copy", "copies")}, ${flips} had both results`;
    fields.push(["noise", `${text}, use --repeats ${Math.max(1, suggestedRepeats)}${few(noise)}`]);
  }
  if (judge !== null) {
    const hint = judge.unstable ? ", unstable" : "";
    fields.push(["judge", `agrees with itself on ${judge.agreed} of ${judge.compared}${hint}`]);
  }
  if (checks !== null) fields.push(["checks", `${checks.flaky.length} of ${checks.rechecked} changed when repeated`]);
  if (oracle !== null) {
    const { state, live, withAnswer } = oracle;
    const known = `${toPercent(withAnswer)} with the answer against ${toPercent(live)}`;
    fields.push(["maximum gain", withAnswer === null ? `not known yet (${state})` : known]);
  }
  return fields;
}

function toBalance({ composition: { balanceWarning: warning } }: ReplaySet): readonly Field[] {
  if (warning === null) return [];
  const { count, entries, dominant } = warning;
  return [["balance", `${count} of ${entries} runs are ${dominant}: signalbox set add --suggested balances the set`]];
}
