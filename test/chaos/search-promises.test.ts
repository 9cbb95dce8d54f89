import t from "tap";
import type { FoundReplay } from "./replay-promises.js";
import { type AroundSearch, type FoundSearch, listBrokenSearch } from "./search-promises.js";

const copy = (originalRunId: string, repeat: number) => ({
  originalRunId,
  repeat,
  runId: `${originalRunId}-${repeat}`,
  state: "judged",
  result: "succeeded",
  why: null,
  spent: null,
  judge: { reasons: [] },
  secondJudge: null,
});

function replay(runs: readonly string[], more: Partial<FoundReplay> = {}): FoundReplay {
  const entries = runs.flatMap((run) => [copy(run, 1), copy(run, 2)]);
  const totals = { entries: 0, settled: 0, scored: 0, spent: { amount: 0, currency: "EUR" } };
  return { state: "finished", repeats: 2, totals, entries, ...more };
}

const sound: FoundSearch = {
  state: "finished",
  ending: "iterations-used",
  proposed: 1,
  budget: { repeats: 2 },
  split: { searched: ["a", "b", "c"], heldOut: ["d", "e"] },
  iterations: [{ state: "ended", proposed: ["cand_1"] }],
  seed: {
    name: "seed",
    replayId: "rep_0",
    replayState: "finished",
    heldOutReplayId: null,
    heldOutReplayState: null,
  },
  candidates: [
    {
      name: "one",
      replayId: "rep_1",
      replayState: "finished",
      heldOutReplayId: "rep_2",
      heldOutReplayState: "finished",
    },
  ],
};

const around: AroundSearch = {
  replays: new Map([
    ["rep_0", replay(["a", "b", "c", "d", "e"])],
    ["rep_1", replay(["a", "b", "c"])],
    ["rep_2", replay(["d", "e"])],
  ]),
  starts: [{ pid: 1, runId: "a-1", taskId: "" }],
};

const without = (id: string, found?: FoundReplay): AroundSearch => ({
  ...around,
  replays: new Map(
    [...around.replays].flatMap(([key, one]) => (key !== id ? [[key, one]] : found ? [[key, found]] : [])),
  ),
});

t.test("a search that kept what it promises is not complained of", async (t) => {
  t.same(listBrokenSearch(sound, around), []);
});

t.test("each broken promise is told", async (t) => {
  const cases: readonly (readonly [search: FoundSearch, of: AroundSearch, said: RegExp])[] = [
    [{ ...sound, state: "searching", ending: null }, around, /^the search is searching/],
    [{ ...sound, iterations: [{ state: "running", proposed: ["cand_1"] }] }, around, /an iteration is running/],
    [{ ...sound, proposed: 2 }, around, /2 proposed, 1 admitted/],
    [{ ...sound, iterations: [{ state: "ended", proposed: ["cand_1", "cand_1"] }] }, around, /^twice: a candidate/],
    [sound, without("rep_2"), /^lost: a replay of one/],
    [sound, without("rep_1", replay(["a", "b"])), /4 copies instead of 6/],
    [sound, without("rep_1", replay(["a", "b", "b"])), /^twice: a copy of one/],
    [sound, without("rep_1", replay(["a", "b", "c"], { state: "running" })), /^stuck: a replay of one is running/],
    [sound, { ...around, starts: [...around.starts, ...around.starts] }, /^twice: agents of run a-1/],
  ];
  for (const [search, of, said] of cases) t.match(listBrokenSearch(search, of).join("\n"), said, String(said));
});
