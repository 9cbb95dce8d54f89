import t from "tap";
import { configPullRequests } from "../../../actors/config-pull-requests/config-pull-request.table.js";
import { replayCopies } from "../../../actors/replays/copies/replay-copy.table.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import { searchCandidates } from "../../../actors/searches/candidates/search-candidate.table.js";
import { searchIterations } from "../../../actors/searches/iterations/search-iteration.table.js";
import { searches } from "../../../actors/searches/search/search.table.js";
import { SearchMemory } from "../../../actors/searches/search/search-memory.js";
import { configPullRequestRow } from "../../support/config-pull-request-rows.js";
import { CountingReading } from "../../support/counting-reading.js";
import { type PicturedCandidate, picturedSearch, viewPictured } from "../../support/pictured-searches.js";
import { iterationRow, searchRow } from "../../support/search-rows.js";
import { workspaceId } from "../../support/work.js";

const none = { a: "-", b: "-", c: "-", d: "-", e: "-", f: "-" };
const heldOut = { v: "-", w: "-", x: "-", y: "-", z: "-" };
const seed = { ...none, ...heldOut };
const all = { a: "+", b: "+", c: "+", d: "+", e: "+", f: "+" };
const allHeldOut = { v: "+", w: "+", x: "+", y: "+", z: "+" };

function open(candidates: readonly PicturedCandidate[], more = {}) {
  return picturedSearch({ seed, heldOut: "vwxyz", candidates, ...more });
}

t.test("a search that seeds shows its split, and of the seed what its replay has so far", async (t) => {
  const seeding = picturedSearch({
    seed: { a: "+", b: "-", c: ".", y: "+", z: "." },
    heldOut: "yz",
    isSeedEnded: false,
  });
  t.match(await viewPictured(seeding), {
    id: "srch_1",
    state: "seeding",
    ending: null,
    best: null,
    iterationsRun: 0,
    proposed: 0,
    endedAt: null,
    spent: { amount: 2.5, currency: "EUR" },
    minGain: 0.05,
    setVersion: 10,
    waiting: null,
    split: {
      searchedTasks: 3,
      heldOutTasks: 2,
      searched: { length: 3 },
      heldOut: [{ runId: "run_y", taskId: "y" }, {}],
    },
    seed: {
      candidateId: "cand_0",
      name: "seed",
      seed: true,
      iteration: null,
      hypothesis: null,
      replayId: "rep_0",
      replayState: "running",
      heldOutReplayId: null,
      heldOutReplayState: null,
      searchScore: 0.5,
      searchScored: 2,
      searchTasks: 2,
      searchedGain: null,
      searchedPairs: null,
      heldOutScore: 1,
      heldOutTasks: 1,
      heldOutScored: 1,
      heldOutGain: null,
      onFrontier: true,
      onlyOnSeenTasks: null,
      pullRequest: null,
    },
    candidates: [],
    iterations: [],
    frontier: ["cand_0"],
    onlyOnSeenTasks: 0,
    earlierSearches: [],
    warnings: [{ kind: "noise-unmeasured" }],
  });
});

t.test(
  "a candidate has no figures before its replay, those of its copies while it runs, and then the stored ones",
  async (t) => {
    const scene = open([
      { name: "ordered" },
      { name: "running", searched: { ...all, e: ".", f: "?" }, ended: false },
      { name: "ended", searched: all },
    ]);
    const { candidates, frontier } = await viewPictured(scene);
    const unknown = { searchScore: null, searchInterval: null, searchScored: 0, searchedGain: null, costPerRun: null };
    t.match(candidates, [
      { name: "ordered", replayId: null, replayState: null, ...unknown, spent: { amount: 0, currency: "EUR" } },
      {
        name: "running",
        replayState: "running",
        searchScore: 1,
        searchScored: 4,
        searchTasks: 4,
        searchedGain: { gain: 1, tasks: 4, few: true },
        onFrontier: false,
        spent: { amount: 0.5 },
      },
      {
        name: "ended",
        replayState: "finished",
        searchScore: 1,
        searchScored: 6,
        onFrontier: true,
        searchedGain: { gain: 1, low: 1, high: 1, verdict: "better", tasks: 6 },
        costPerRun: { amount: 0.1 },
        heldOutScore: null,
        heldOutGain: null,
        onlyOnSeenTasks: null,
        spent: { amount: 0.6, currency: "EUR" },
      },
    ]);
    t.same(frontier, ["cand_03", "cand_0"], "of the same cost the better one is first");
  },
);

t.test("a gain on searched runs stands beside the one on held-out runs, and says where it showed alone", async (t) => {
  const scene = open([
    { name: "real", searched: all, heldOut: allHeldOut },
    { name: "lucky", searched: all, heldOut },
    { name: "unknown", searched: all },
  ]);
  const { candidates, onlyOnSeenTasks, frontier } = await viewPictured(scene);
  t.match(candidates, [
    { heldOutReplayState: "finished", heldOutGain: { verdict: "better", tasks: 5 }, onlyOnSeenTasks: null },
    { heldOutReplayId: "held_2", heldOutGain: { verdict: "within-noise", tasks: 5 }, onlyOnSeenTasks: "marked" },
    { heldOutReplayId: null, heldOutGain: null, onlyOnSeenTasks: null },
  ]);
  t.equal(onlyOnSeenTasks, 1);
  t.same(frontier, ["cand_01", "cand_02", "cand_03", "cand_0"], "equal ones stay, in their order");
  const few = await viewPictured(
    picturedSearch({
      seed: { a: "-", b: "-", c: "-", y: "-", z: "-" },
      heldOut: "yz",
      candidates: [{ name: "small", searched: { a: "+", b: "+", c: "+" }, heldOut: { y: "+", z: "+" } }],
    }),
  );
  t.match(few.candidates, [
    { searchedGain: { few: true }, heldOutGain: { few: true, tasks: 2 }, onlyOnSeenTasks: "too-few-held-out" },
  ]);
  t.equal(few.onlyOnSeenTasks, 0, "only marked ones are counted");
});

t.test("the frontier of each objective: by cost, a cheap one that does worse is not on it", async (t) => {
  const candidates = [
    { name: "worse", searched: none, cost: 0.01 },
    { name: "as-good", searched: { ...all, f: "-" }, cost: 0.05 },
    { name: "dear", searched: { ...all, f: "-" }, cost: 0.2 },
  ];
  const find = async (objective: "success" | "cost") =>
    viewPictured(picturedSearch({ seed: { ...all, ...heldOut }, heldOut: "vwxyz", candidates, search: { objective } }));
  t.match(await find("success"), { objective: "success", frontier: ["cand_01", "cand_02", "cand_0"] });
  t.match(await find("cost"), { objective: "cost", frontier: ["cand_02", "cand_0"] });
});

t.test("a replay for which the set had no room reads stopped, though there is none", async (t) => {
  const scene = open([{ name: "ordered" }]);
  const row = searchCandidates.get(scene.rows, workspaceId, "srch_1", "cand_01");
  if (row !== undefined) searchCandidates.put(scene.rows, workspaceId, row, { ...row, replayEnded: "stopped" });
  const { candidates } = await viewPictured(scene);
  t.match(candidates, [{ replayId: null, replayState: "stopped", heldOutReplayState: null }]);
});

t.test("a replay that was removed reads gone, and what it found is still there", async (t) => {
  const scene = open([{ name: "real", searched: all, heldOut: allHeldOut }]);
  const before = await viewPictured(scene);
  for (const id of ["rep_0", "rep_1", "held_1"]) {
    const replay = replays.get(scene.rows, workspaceId, id);
    if (replay !== undefined) replays.remove(scene.rows, workspaceId, replay);
    for (const copy of replayCopies.list(scene.rows, workspaceId, [id])) {
      replayCopies.remove(scene.rows, workspaceId, copy);
    }
  }
  const gone = await viewPictured(scene);
  const states = { replayState: "gone", heldOutReplayState: "gone" };
  t.same(
    gone.candidates,
    before.candidates.map((candidate) => ({ ...candidate, ...states })),
  );
  t.same(gone.seed, { ...before.seed, replayState: "gone" });
  t.same(gone.frontier, before.frontier);
});

t.test("one that was picked shows its pull request", async (t) => {
  const scene = open([{ name: "real", searched: all }]);
  const picked = configPullRequestRow({ candidateId: "cand_01" });
  configPullRequests.insert(scene.rows, workspaceId, picked);
  const { candidates, seed: unpicked } = await viewPictured(scene);
  const { id, state, url, reason } = picked;
  t.same(candidates[0]?.pullRequest, { id, state, url, reason });
  t.equal(unpicked.pullRequest, null);
});

t.test("iterations are shown with what their agents did, and a reflection with what it found", async (t) => {
  const scene = open([{ name: "real", searched: all }]);
  const failed = { taskId: "a", originalRunId: "run_a", replayRunId: "rep_0/1/1" };
  const cause = {
    ...failed,
    cause: "config",
    evidence: "It says so.",
    suggestion: null,
    recordedAt: "2026-01-01T00:00:00.000Z",
  } as const;
  const reflection = { standing: "cand_0", tasks: [failed], causes: [cause], outcome: null };
  for (const row of [
    iterationRow({ state: "ended", attempts: 2, proposed: ["cand_01"], agentSpent: { amount: 1, currency: "EUR" } }),
    iterationRow({ id: "sit_2", number: 2, kind: "reflect" }),
    iterationRow({ id: "sit_3", number: 3, kind: "reflect", state: "running", reflection }),
    iterationRow({
      id: "sit_4",
      number: 4,
      kind: "reflect",
      state: "ended",
      reflection: { ...reflection, outcome: "went-on" },
    }),
    iterationRow({
      id: "sit_5",
      number: 5,
      kind: "reflect",
      state: "ended",
      reflection: { ...reflection, outcome: "no-failures" },
    }),
    iterationRow({ id: "sit_6", number: 6, state: "failed", reason: "Its runner was lost three times." }),
  ]) {
    searchIterations.insert(scene.rows, workspaceId, row);
  }
  const { iterations } = await viewPictured(scene);
  t.match(iterations, [
    { number: 1, kind: "propose", state: "ended", attempts: 2, proposed: ["cand_01"], reflection: null, reason: null },
    { reflection: { standing: null, tasks: [], causes: [], outcome: null, endedSearch: false }, agentSpent: null },
    { reflection: { standing: "cand_0", tasks: [failed], causes: [cause], outcome: null, endedSearch: false } },
    { reflection: { outcome: "went-on", endedSearch: false } },
    { reflection: { outcome: "no-failures", endedSearch: true } },
    { state: "failed", reason: "Its runner was lost three times.", reflection: null },
  ]);
});

t.test("the searches of the set before it are named, newest first, 20 at most", async (t) => {
  const scene = open([]);
  for (let n = 10; n < 35; n++) {
    searches.insert(scene.rows, workspaceId, searchRow({ id: `srch_0${n}`, state: "finished", setVersion: n }));
  }
  searches.insert(scene.rows, workspaceId, searchRow({ id: "srch_60" }));
  searches.insert(scene.rows, workspaceId, searchRow({ id: "srch_036", setId: "rset_2" }));
  const { earlierSearches } = await viewPictured(scene);
  t.same(
    earlierSearches.map(({ id }) => id),
    Array.from({ length: 20 }, (_, n) => `srch_0${34 - n}`),
  );
  t.match(earlierSearches[0], { state: "finished", setVersion: 34 });
});

t.test(
  "figures of replays under way are remembered until a copy settles, those of others read from no copy",
  async (t) => {
    const running = { name: "running", searched: { ...all, f: "." }, ended: false };
    const scene = open([running, { name: "ended", searched: all, heldOut: allHeldOut }]);
    const reading = new CountingReading(scene.rows);
    const memory = new SearchMemory();
    const read = async () => {
      const before = reading.rows;
      const body = await viewPictured({ ...scene, rows: reading }, memory);
      return { body, rows: reading.rows - before };
    };
    const first = await read();
    const again = await read();
    t.same(again.body, first.body);
    t.equal(first.rows - again.rows, 6 + 11 + 2, "the copies of its replay and of the seed's, and both replays");
    const [, , , , , copy] = replayCopies.list(scene.rows, workspaceId, ["rep_1"]);
    const replay = replays.get(scene.rows, workspaceId, "rep_1");
    if (copy === undefined || replay === undefined) throw new Error("no copy");
    replayCopies.put(scene.rows, workspaceId, copy, { ...copy, state: "judged", result: "failed" });
    const counts = { ...replay.counts, settled: 6, failed: 1 };
    replays.put(scene.rows, workspaceId, replay, { ...replay, counts });
    t.match((await read()).body.candidates[0], { searchScored: 6, searchedGain: { tasks: 6 } });
  },
);

t.test("a long search is read in pieces, with other work in between", async (t) => {
  const candidates = (ended: boolean) =>
    Array.from({ length: 50 }, (_, n) => ({ name: `candidate-${n}`, searched: all, ended }));
  const pauses = async (ended: boolean) => {
    let count = 0;
    const pause = async () => {
      count += 1;
    };
    const memory = new SearchMemory();
    const { candidates: read } = await viewPictured(open(candidates(ended)), memory, pause);
    t.equal(read.length, 50);
    return count;
  };
  t.ok((await pauses(true)) >= 20, "some candidates at a time");
  t.ok((await pauses(false)) >= 60, "after each that is measured");
});
