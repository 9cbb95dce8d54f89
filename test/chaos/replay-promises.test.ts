import t from "tap";
import { type FoundCopy, type FoundReplay, listBrokenReplay, type Outside } from "./replay-promises.js";

const spent = { amount: 0.021, currency: "EUR" };

function copy(originalRunId: string, repeat: number, answer: number): FoundCopy {
  return {
    runId: `${originalRunId}-${repeat}`,
    originalRunId,
    repeat,
    state: "judged",
    result: "succeeded",
    why: null,
    spent,
    judge: { reasons: [{ text: `answer ${answer}` }] },
    secondJudge: null,
  };
}

const entries = [copy("a", 1, 1), copy("a", 2, 2), copy("b", 1, 3), copy("b", 2, 4)];
const totals = { entries: 4, settled: 4, scored: 4, spent: { amount: 0.084, currency: "EUR" } };
const replay: FoundReplay = { state: "finished", repeats: 2, totals, entries };
const starts = entries.map(({ runId }, at) => ({ pid: at + 1, runId: String(runId), taskId: "task" }));
const outside: Outside = {
  runIds: ["a", "b"],
  repeats: 2,
  starts,
  copyOf: new Map(entries.map((one) => [String(one.runId), one])),
  given: new Set(["answer 1", "answer 2", "answer 3", "answer 4", "answer 5"]),
};

/** Returns the replay with one copy changed. */
function changed(at: number, change: Partial<FoundCopy>): FoundReplay {
  return { ...replay, entries: entries.map((one, place) => (place === at ? { ...one, ...change } : one)) };
}

t.test("nothing is broken when every promise is kept", async (t) => {
  t.same(listBrokenReplay(replay, outside), []);
});

t.test("each promise can be broken", async (t) => {
  const broken = (of: FoundReplay, seen: Partial<Outside> = {}) => listBrokenReplay(of, { ...outside, ...seen }).join();
  t.match(broken({ ...replay, state: "running" }), /is running/);
  t.match(broken({ ...replay, entries: entries.slice(1) }), /lost: copy a 1/);
  t.match(broken({ ...replay, entries: [...entries, copy("a", 1, 5)] }), /twice: 5 copies/);
  t.match(broken(changed(0, { result: null })), /stuck: copy a 1/);
  t.match(broken({ ...replay, totals: { ...totals, scored: 3 } }), /totals say 3 scored/);
  t.match(broken({ ...replay, totals: { ...totals, spent } }), /the total is 0.021/);
  t.match(broken(changed(1, { spent: { amount: 0.01, currency: "EUR" } })), /lost: copy a 2 spent 0.01/);
  t.match(broken(changed(1, { judge: { reasons: [{ text: "answer 1" }] } })), /twice: 1 answers/);
  t.match(broken(changed(1, { judge: { reasons: [{ text: "answer 9" }] } })), /which the model did not/);
  t.match(broken(changed(1, { judge: { reasons: [] } })), /lost: the verdict of copy a 2/);
  t.match(broken(replay, { starts: [...starts, ...starts.slice(0, 1)] }), /twice: agents of run a-1/);
  t.match(broken(replay, { starts: starts.slice(1) }), /copy a 1 had no agent/);
  const more = ["x", "y", "z"].map((runId) => ({ pid: 9, runId, taskId: "task" }));
  const copyOf = new Map([...outside.copyOf, ...more.map(({ runId }) => [runId, copy("a", 1, 1)] as const)]);
  t.match(broken(replay, { starts: [...starts, ...more], copyOf }), /copy a 1 had 4 agents/);
});
