import t from "tap";
import { type Progressing, progressAt } from "../../../../actors/replays/figures/progress.js";

const startedAt = "2026-01-01T10:00:00.000Z";
const nowMs = Date.parse("2026-01-01T10:10:00.000Z");
const running: Progressing = {
  state: "running",
  startedAt,
  settled: 10,
  of: 25,
  waiting: null,
  spent: { amount: 2.5, currency: "EUR" },
  ceiling: { amount: 10, currency: "EUR" },
};

t.test("the end is expected as if copies settled as fast as on average so far", async (t) => {
  t.same(progressAt(nowMs, running), {
    settled: 10,
    of: 25,
    spent: running.spent,
    ceiling: running.ceiling,
    waiting: null,
    expectedEnd: "2026-01-01T10:25:00.000Z",
  });
  t.match(progressAt(nowMs, { ...running, settled: 25 }), { expectedEnd: "2026-01-01T10:10:00.000Z" });
  t.match(
    progressAt(Date.parse(startedAt) - 60_000, running),
    { expectedEnd: "2026-01-01T09:59:00.000Z" },
    "with a clock that was set back",
  );
});

t.test("no end is expected where nothing says it", async (t) => {
  const unknown: readonly Partial<Progressing>[] = [
    { state: "queued", startedAt: null, settled: 0 },
    { settled: 0 },
    { waiting: "model" },
    { state: "finished", settled: 25 },
    { state: "stopped" },
    { state: "over-budget" },
  ];
  for (const one of unknown) t.equal(progressAt(nowMs, { ...running, ...one }).expectedEnd, null, JSON.stringify(one));
});
