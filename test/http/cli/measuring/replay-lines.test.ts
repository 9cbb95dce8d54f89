import t from "tap";
import type { Terminal } from "../../../../http/cli/command/terminal.js";
import { toReplayLines } from "../../../../http/cli/measuring/replay-lines.js";
import type { Replay } from "../../../../http/cli/measuring/replays.js";

const money = { amount: 1, currency: "USD" };
const rate = { rate: 0.5, low: 0.25, high: 0.75 };
const replay = {
  id: "rep_01M8M0FJ4V0ZBTCR1CGPCDFHKC",
  state: "finished",
  candidate: { name: "better.md" },
  setId: "set_01M8M0FJ4V0ZBTCR1CGPCDFHKC",
  isBaseline: false,
  detectableGain: 0.12,
  pairsAgainstBaseline: null,
  search: null,
  againstBaseline: null,
  comparedWith: null,
  comparison: [],
  entries: [{ taskId: "task_1", title: "A long title ".repeat(20), result: "succeeded", why: null }],
  progress: { settled: 1, of: 1, ceiling: money, spent: money, waiting: null },
  totals: { successRate: 0.5, interval: rate, tasksScored: 1, few: false, costPerRun: money, spent: money },
} as unknown as Replay;

const draw = (columns: number, isTerminal = true) => {
  const terminal = { isTerminal, columns, paint: (_: string, text: string) => text } as unknown as Terminal;
  return toReplayLines(terminal, { replay, baseline: null });
};

t.test("a replay explains its noise in a sentence", (t) => {
  const [noise] = draw(120).filter((line) => line.startsWith("noise"));
  t.match(noise, /^noise +two replays of the same config can differ by up to 12 points by chance: only a larger gain/);
  t.end();
});

t.test("intervals and tasks are as wide as the terminal at most", (t) => {
  for (const columns of [60, 80, 120]) {
    const drawn = draw(columns).filter((line) => /[├●·]|long title/.test(line));
    t.ok(drawn.length > 2);
    t.same(
      drawn.filter((line) => line.length > columns),
      [],
      String(columns),
    );
  }
  t.match(draw(60, false).join("\n"), /✓ +(A long title ?){20}/, "whole values for programs");
  t.end();
});
