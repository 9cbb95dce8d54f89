import t from "tap";
import { ReportLog } from "../../../http/process/report-log.js";
import { ManualClock } from "../../support/manual-clock.js";

function openLog() {
  const clock = new ManualClock();
  const lines: (readonly [level: string, message: string, details: unknown])[] = [];
  const write =
    (level: string) =>
    (message: string, details: Record<string, unknown> = {}) =>
      void lines.push([level, message, details]);
  const reports = new ReportLog({ info: write("info"), warn: write("warn") }, clock);
  const say = (partition: string, message = "run ended", level: "info" | "warn" = "info") =>
    reports.write({
      from: { partition, kind: "run", id: "run_1" },
      report: { name: "run.ended", line: { level, message }, details: { runId: "run_1" } },
    });
  return { clock, lines, reports, say };
}

t.test("a report is one line with its workspace and its ids, at its level", async (t) => {
  const { lines, reports, say } = openLog();
  say("ws_1");
  say("ws_1", "hook given up", "warn");
  reports.write({ from: { partition: "ws_1", kind: "a", id: "b" }, report: { name: "x", line: null, details: {} } });
  t.same(lines, [
    ["info", "run ended", { workspaceId: "ws_1", runId: "run_1" }],
    ["warn", "hook given up", { workspaceId: "ws_1", runId: "run_1" }],
  ]);
});

t.test("a flood of one line is written 20 times a minute for a workspace, and then counted", async (t) => {
  const { clock, lines, say } = openLog();
  for (let index = 0; index < 1_000; index++) say("ws_loud");
  say("ws_quiet");
  t.equal(lines.length, 21, "another workspace is heard");
  clock.advance(60_000);
  t.same(lines.at(-1), ["info", "run ended: more lines, not written", { count: 980 }]);
  say("ws_loud");
  t.equal(lines.length, 23, "the next minute begins anew");
  clock.advance(60_000);
  t.equal(lines.length, 23, "nothing was left out");
  t.equal(clock.waiting, 0);
});

t.test("many workspaces together write 200 equal lines a minute", async (t) => {
  const { lines, reports, say } = openLog();
  for (let index = 0; index < 5_000; index++) say(`ws_${index % 500}`);
  t.equal(lines.length, 200);
  reports.flush();
  t.same(lines.at(-1), ["info", "run ended: more lines, not written", { count: 4_800 }]);
});
