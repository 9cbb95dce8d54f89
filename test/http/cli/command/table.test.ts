import stringWidth from "string-width";
import t from "tap";
import { toTable } from "../../../../http/cli/command/table.js";
import type { Terminal } from "../../../../http/cli/command/terminal.js";
import { toTimeText } from "../../../../http/cli/command/time-text.js";

interface Row {
  readonly id: string;
  readonly state: string;
  readonly title: string;
}

const columns = [
  { title: "task", of: ({ id }: Row) => id },
  { title: "state", of: ({ state }: Row) => state, isMinor: true },
  { title: "title", of: ({ title }: Row) => title, isFlexible: true },
];
const rows = [
  { id: "task_01M8KXXZAGQ5R94XPFRN89STJA", state: "running", title: `日本 ${"long ".repeat(30)}` },
  { id: "task_01M8KXXZAGQ5R94XPFRN89STJB", state: "queued", title: "Short" },
];

const draw = (width: number, isTerminal = true) =>
  toTable(
    { isTerminal, columns: width, paint: (_: string, text: string) => text } as unknown as Terminal,
    columns,
    rows,
  );

t.test("no line of a table is wider than the terminal, and columns that are not flexible stay whole", (t) => {
  for (let width = 38; width <= 220; width++) {
    const lines = draw(width);
    t.same(
      lines.filter((line) => stringWidth(line) > width),
      [],
      String(width),
    );
    for (const { id } of rows) t.ok(lines.join("\n").includes(id));
  }
  t.match(draw(80)[1], /^task_01\S+A {2}running {2}日本 .*…$/u);
  t.match(draw(50)[0], /^TASK +TITLE$/, "a minor column is left out");
  t.same(draw(36).slice(0, 2), ["task   task_01M8KXXZAGQ5R94XPFRN89STJA", "state  running"], "rows become lines");
  t.end();
});

t.test("a table for a program has whole values at any width", (t) => {
  t.match(draw(10, false)[1], /running {2}日本 (long )+long$/u);
  t.end();
});

t.test("a time is relative on a terminal, and RFC 3339 for programs", (t) => {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const show = (ms: number) => toTimeText({ isTerminal: true }, at(ms));
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  t.same([-5 * minute - 1_000, -3 * hour - minute, -25 * hour, -9 * day - hour].map(show), [
    "5 min ago",
    "3 h ago",
    "1 day ago",
    "9 days ago",
  ]);
  t.same([10 * minute + 30_000, 3 * day + hour].map(show), ["in 10 min", "in 3 days"]);
  t.equal(show(0), "just now");
  t.equal(toTimeText({ isTerminal: false }, "2026-11-28T14:05:06.789Z"), "2026-11-28T14:05:06Z");
  t.equal(toTimeText({ isTerminal: true }, null), null);
  t.end();
});
