import t from "tap";
import type { ModelOutcome } from "../../../../actors/outbound/models/model.effects.js";
import {
  continueAsking,
  MAX_MODEL_WAIT_MS,
  type ModelAsking,
} from "../../../../actors/outbound/models/model-asking.js";

const spent = { calls: 0, cost: null, isEstimate: false };
const startMs = 1_000_000;
const reason = "the model answered 503";

const read = (value: unknown) => (typeof value === "number" ? value : null);

function after(outcome: ModelOutcome, { asking = { sinceMs: startMs, waits: 0 }, nowMs = startMs } = {}) {
  return continueAsking(asking, outcome, { nowMs, read });
}

function busy(retryAtMs: number | null = null): ModelOutcome {
  return { state: "waiting", reason, retryAtMs, spent };
}

/**
 * Asks a question that always has this outcome. Returns the times at which the question is asked, and the final state.
 */
function follow(outcome: ModelOutcome) {
  let asking: ModelAsking = { sinceMs: startMs, waits: 0 };
  const times = [startMs];
  for (;;) {
    const next = continueAsking(asking, outcome, { nowMs: times.at(-1) ?? 0, read });
    if (next.state !== "waiting") return { times, end: next };
    times.push(next.askAtMs);
    asking = next.asking;
  }
}

t.test("while the model is busy, waits begin at 5 seconds and double up to 10 minutes", async (t) => {
  const { times } = follow(busy());
  const waits = times.slice(1, 10).map((atMs, n) => (atMs - (times[n] ?? 0)) / 1_000);
  t.same(waits, [5, 10, 20, 40, 80, 160, 320, 600, 600]);
});

t.test("a question is asked for 24 hours, the last time at their end", async (t) => {
  const { times, end } = follow(busy());
  t.equal(times.at(-1), startMs + MAX_MODEL_WAIT_MS);
  t.equal(times.length, 151);
  t.same(end, { state: "failed", code: "unavailable", reason });
});

t.test("the host may ask for a longer wait, not for a shorter one", async (t) => {
  t.match(after(busy(startMs + 3_600_000)), { askAtMs: startMs + 3_600_000, asking: { waits: 1 }, reason });
  t.match(after(busy(startMs + 1)), { askAtMs: startMs + 5_000 });
  t.match(after(busy(startMs + 2 * MAX_MODEL_WAIT_MS)), { askAtMs: startMs + MAX_MODEL_WAIT_MS });
});

t.test("after a crash a question is asked again at once, which is no wait", async (t) => {
  const asking = { sinceMs: startMs, waits: 3 };
  const nowMs = startMs + 7;
  t.match(after({ state: "interrupted", spent }, { asking, nowMs }), { state: "waiting", askAtMs: nowMs, asking });
  const late = { asking, nowMs: startMs + MAX_MODEL_WAIT_MS };
  t.match(after({ state: "interrupted", spent }, late), { state: "failed", code: "unavailable" });
});

t.test("an answer ends it when the asker can use it, and what is final ends it anyway", async (t) => {
  const answered = (value: unknown) => after({ state: "answered", value, model: "m", spent });
  t.same(answered(5), { state: "answered", answer: 5 });
  t.match(answered("five"), { state: "failed", code: "unreadable" });
  t.same(after({ state: "failed", code: "refused", reason, spent }), { state: "failed", code: "refused", reason });
});
