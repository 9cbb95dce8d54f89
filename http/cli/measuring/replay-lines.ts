import { toFields, toTable } from "../command/table.js";
import type { Terminal } from "../command/terminal.js";
import { drawInterval, drawScale, drawStrip, paintStrips, STRIP_LEGEND } from "./drawings.js";
import { toAmount, toMoney, toPercent, toPoints, toRange } from "./figures.js";
import { toSentence } from "./replay-sentence.js";
import { type ComparedReplay, type Replay, toProgress } from "./replays.js";

type Row = Replay["comparison"][number];

/** The widths of an axis, and of the name and the figures on its line, in characters. */
const AXIS = 41;
const BESIDE_AXIS = 33;

/**
 * Formats a replay as lines: the sentence, the regressions, the intervals, a strip of copies for each task, and the
 * replay's state and cost.
 */
export function toReplayLines(terminal: Terminal, compared: ComparedReplay): readonly string[] {
  return [
    paintVerdict(terminal, compared),
    ...toRegressions(terminal, compared.replay),
    "",
    ...toIntervals(terminal, compared),
    ...toStrips(terminal, compared.replay),
    "",
    ...toFacts(terminal, compared),
  ];
}

function paintVerdict({ paint }: Terminal, compared: ComparedReplay): string {
  const sentence = toSentence(compared);
  const verdict = compared.replay.againstBaseline?.verdict;
  if (verdict === "better") return paint("green", sentence);
  return verdict === "worse" ? paint("red", sentence) : paint("bold", sentence);
}

function toRegressions(terminal: Terminal, { comparison }: Replay): readonly string[] {
  const regressed = comparison.filter((row) => row.regressed);
  if (regressed.length === 0) return [];
  const columns = [
    { title: "regressed", of: ({ title }: Row) => title, isFlexible: true },
    { title: "live", of: ({ baselineSuccess }: Row) => toPercent(baselineSuccess) },
    { title: "candidate", of: ({ candidateSuccess }: Row) => toPercent(candidateSuccess) },
    { title: "run", of: ({ candidate }: Row) => worstRun(candidate) },
  ];
  return ["", ...toTable(terminal, columns, regressed)];
}

/** Returns the run of the first failed copy; null if no copy failed. */
function worstRun(copies: Row["candidate"]): string | null {
  return copies.find(({ result }) => result === "failed")?.runId ?? null;
}

function toIntervals({ paint, isTerminal, columns }: Terminal, { replay }: ComparedReplay): readonly string[] {
  const free = Math.max(columns - BESIDE_AXIS, 1);
  const width = isTerminal && free < AXIS ? free - ((free + 1) % 2) : AXIS;
  const rates = { from: 0, to: 1, width };
  const gains = { from: -1, to: 1, width };
  const { totals, comparedWith, againstBaseline: gain } = replay;
  const { interval } = totals;
  const line = (name: string, drawn: string, text: string) => `${paint("dim", name.padEnd(11))}${drawn}  ${text}`;
  const rate = (name: string, of: { readonly rate: number; readonly low: number; readonly high: number }) =>
    line(name, drawInterval(rates, of.rate, of), `${toPercent(of.rate)} ${toRange(of)}`);
  const other = comparedWith?.interval ?? null;
  return [
    ...(interval === null ? [] : [line("success %", drawScale(rates), ""), rate("candidate", interval)]),
    ...(other === null ? [] : [rate("live", other)]),
    ...(gain === null
      ? []
      : [
          line("points", drawScale(gains), ""),
          line("gain", drawInterval(gains, gain.gain, gain), `${toPoints(gain.gain)} ${toRange(gain)}`),
        ]),
  ].map((text) => text.trimEnd());
}

function toStrips(terminal: Terminal, { comparison, entries }: Replay): readonly string[] {
  if (comparison.length === 0) return toOwnStrips(terminal, entries);
  const results = (copies: Row["candidate"]) => drawStrip(copies.map(({ result }) => result));
  const hasPairs = comparison.some(({ pair }) => pair !== null);
  const columns = [
    { title: "candidate", of: ({ candidate }: Row) => results(candidate) },
    { title: "live", of: ({ baseline }: Row) => results(baseline) },
    { title: "cost", of: ({ costDelta }: Row) => toDelta(costDelta), isMinor: true },
    ...(hasPairs ? [{ title: "judge", of: ({ pair }: Row) => pair }] : []),
    { title: "task", of: ({ title }: Row) => title, isFlexible: true },
  ];
  return paintTable(terminal, toTable(terminal, columns, comparison));
}

/** Shows the copies of a replay that is compared with no other replay, one line for each task. */
function toOwnStrips(terminal: Terminal, entries: Replay["entries"]): readonly string[] {
  const tasks = [...new Set(entries.map(({ taskId }) => taskId))].map((taskId) =>
    entries.filter((entry) => entry.taskId === taskId),
  );
  const columns = [
    { title: "copies", of: (copies: Replay["entries"]) => drawStrip(copies.map(({ result }) => result)) },
    { title: "task", of: (copies: Replay["entries"]) => copies[0]?.title, isFlexible: true },
  ];
  return paintTable(terminal, toTable(terminal, columns, tasks));
}

function paintTable(terminal: Terminal, lines: readonly string[]): readonly string[] {
  return ["", ...lines.map((line) => paintStrips(terminal, line)), terminal.paint("dim", STRIP_LEGEND)];
}

/** Formats a difference in cost with its sign; null for null. */
function toDelta(delta: number | null): string | null {
  if (delta === null) return null;
  return delta > 0 ? `+${toAmount(delta)}` : toAmount(delta);
}

/** Says how large a gain can be by chance alone. */
function toNoise(detectableGain: number): string {
  const points = toPoints(detectableGain).replace("+", "");
  return `two replays of the same config can differ by up to ${points} points by chance: only a larger gain counts`;
}

function toFacts(terminal: Terminal, { replay, baseline }: ComparedReplay): readonly string[] {
  const { id, candidate, setId, detectableGain, pairsAgainstBaseline: pairs, search } = replay;
  return toFields(terminal, [
    ["replay", id],
    ["candidate", candidate.name],
    ["state", toProgress(replay)],
    ["set", setId],
    ["compared with", baseline === null ? null : `${baseline.id}, the live config, ${toProgress(baseline)}`],
    ["spent", toMoney(replay.totals.spent)],
    ...(detectableGain === null ? [] : [["noise", toNoise(detectableGain)] as const]),
    ...(pairs === null || pairs.wins + pairs.losses + pairs.ties === 0
      ? []
      : [["side by side", `${pairs.wins} won, ${pairs.losses} lost, ${pairs.ties} tied`] as const]),
    ...(search === null ? [] : [["search", search.searchId] as const]),
  ]);
}
