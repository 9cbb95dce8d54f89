import type { WorkEvent } from "../actors/events/catalogue.js";
import { DOUBLE, DYN, STRING, toList } from "../actors/expressions/cel-types.js";
import { compile } from "../actors/expressions/evaluate.js";
import { MAX_UNITS } from "../actors/expressions/meter.js";
import { parseExpression } from "../actors/expressions/parse.js";
import { hookNames } from "../actors/expressions/positions.js";
import { CLOSE, evaluateJson, OPEN } from "../actors/expressions/templates.js";
import { checkExpression } from "../actors/expressions/type-check.js";
import { toValue } from "../actors/expressions/values.js";
import { toEventValues } from "../actors/hooks/hook-values.js";
import { compileConditions } from "../actors/hooks/matching/conditions.js";
import { evaluateConditions } from "../actors/hooks/matching/lookup-keys.js";
import { toSubject } from "../actors/hooks/matching/match-hooks.js";
import { printTable } from "./support/table.js";

const ROUND_MS = 500;
const names = new Map(Object.entries(hookNames));
const when =
  "task.line == 'notes' && event.at != '' && !(task.marks.kind in ['draft', 'spike']) && task.title.size() < 80";

const work: WorkEvent = {
  on: "task.moved",
  occurrence: "occ_1",
  workspaceId: "ws_1",
  teamId: "team_1",
  lineId: "line_1",
  stationId: "sta_1",
  task: {
    id: "task_1",
    title: "A task of the benchmark",
    url: "",
    line: "notes",
    station: "Review",
    stationKey: "review",
    marks: { kind: "feature" },
    repositories: ["acme/project"],
    pullRequest: null,
  },
  run: null,
  event: { at: new Date(0).toISOString(), from: "work", to: "review" },
  causes: [],
};
const conditions = compileConditions({
  key: "bench",
  on: "task.moved",
  match: { tools: [], lines: ["notes"], stations: ["review"], repositories: ["acme/project"], paths: [] },
  vars: { level: "high" },
  when,
});

/**
 * Calls `once` repeatedly for a while. Returns a table row: the name, the rate per second, and the microseconds per
 * call.
 */
function timed(name: string, once: (n: number) => unknown): (string | number)[] {
  for (let n = 0; n < 200; n++) once(n);
  const begun = performance.now();
  let count = 0;
  while (performance.now() - begun < ROUND_MS) {
    for (let n = 0; n < 50; n++) once(count++);
  }
  const micros = ((performance.now() - begun) * 1_000) / count;
  return [name, Math.round(1e6 / micros), micros.toFixed(2)];
}

/** Hostile expressions. Without limits, they would take much time or memory. */
const endless = {
  "three loops over 10,000": "big.all(a, big.all(b, big.all(c, true)))",
  "45 loops begun, each in another": `${"big.map(v, ".repeat(45)}1${")".repeat(45)}`,
  "errors that are swallowed": "big.exists(a, big.exists(b, 1 / 0 > 1)) || true",
  "a list of lists of 10,000": "big.map(a, big.map(b, [a, b]))",
  "text that doubles 80 times": `['xxxxxxxx']${".map(a,a+a)".repeat(80)}.size()`,
  "a result that doubles 70 times": `[[1]]${".map(a,[a,a])".repeat(70)}`,
  "a type that doubles 70 times": `[1]${".map(a,{a:a})".repeat(70)}`,
  "(a+)+$ on 100,000 characters": "text.matches('(a+)+$')",
  "10,000 times a time zone": "big.map(a, timestamp('2020-01-01T00:00:00Z').getHours('America/New_York'))",
  "500 brackets": "[".repeat(500) + "]".repeat(500),
};

function worst(name: string, source: string): (string | number)[] {
  const types = new Map([...names, ["big", toList(DOUBLE)] as const, ["text", STRING] as const]);
  const big = toValue(
    Array.from({ length: 10_000 }, (_, index) => index),
    DYN,
  );
  const values = { big, text: "a".repeat(100_000) };
  let peak = { ms: 0, megabytes: 0 };
  for (let round = 0; round < 5; round++) {
    const before = process.memoryUsage().heapUsed;
    const begun = performance.now();
    const parsed = parseExpression(source);
    if ("tree" in parsed) checkExpression(parsed.tree, types);
    compile(source).evaluate(values);
    const ms = performance.now() - begun;
    const megabytes = (process.memoryUsage().heapUsed - before) / 1e6;
    peak = { ms: Math.max(peak.ms, ms), megabytes: Math.max(peak.megabytes, megabytes) };
  }
  return [name, peak.ms.toFixed(1), Math.max(0, peak.megabytes).toFixed(0)];
}

/** Measures evaluated expressions per second, and the maximum time and memory of each hostile expression. */
export async function run(): Promise<void> {
  const parsed = parseExpression(when);
  if ("fault" in parsed) throw new Error(parsed.fault.message);
  const values = toEventValues(work);
  const expr = (source: string) => `${OPEN} ${source} ${CLOSE}`;
  const body = { text: `Task ${expr("task.id")} is at ${expr("task.station")}`, to: [expr("task.marks")] };
  printTable({
    title: "Expressions",
    note: "One condition of four parts over a hook's event; one thread.",
    columns: ["", "a second", "us each"],
    rows: [
      timed("parse", () => parseExpression(when)),
      timed("parse and check", () => {
        const read = parseExpression(when);
        return "tree" in read && checkExpression(read.tree, names);
      }),
      timed("evaluate", () => compile(when).holds({ ...values, vars: new Map(), hook: new Map() })),
      timed("match lists and when, of one hook", () =>
        evaluateConditions(conditions, { work, values: () => values }, { units: MAX_UNITS }),
      ),
      timed("an event made ready, and a hook matched", () =>
        evaluateConditions(conditions, toSubject(work), { units: MAX_UNITS }),
      ),
      timed("a JSON body with three expressions", () => evaluateJson(body, { ...values })),
    ],
  });
  printTable({
    title: "Hostile expressions",
    note: "How long one holds the event loop, parsed, checked and evaluated, and heap that it grew by; the most of five.",
    columns: ["", "ms", "MB"],
    rows: Object.entries(endless).map(([name, source]) => worst(name, source)),
  });
}
