import t from "tap";
import { decimal, fromText, subtract, toText } from "../../../actors/fraction.js";
import { isRefusal } from "../../../actors/refusal.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import { type ResourceRow, resources } from "../../../actors/resources/resource.table.js";
import { searchRef } from "../../../actors/searches/search/search.messages.js";
import { getSearchInput } from "../../../actors/searches/search/search.table.js";
import { type AgentRun, drive } from "../../support/search-driver.js";
import { plainTerms, SEARCH_ID, SteppedSearch } from "../../support/stepped-search.js";
import { line, lineId, workspaceId } from "../../support/work.js";

const { budget } = plainTerms;
const DAY_MS = 24 * 60 * 60 * 1_000;

function started(terms: object = {}, tasks = 5): SteppedSearch {
  const scene = new SteppedSearch(tasks);
  const answer = scene.start(terms);
  if (isRefusal(answer)) throw new Error(JSON.stringify(answer));
  return scene;
}

/**
 * Returns what remains of an ended search although it should have ended: runs, replays and iterations. Also returns the
 * scene's complaints.
 */
function left(scene: SteppedSearch): readonly string[] {
  const replaysNow = replays.all(scene.rows, workspaceId, { searchId: SEARCH_ID });
  return [
    ...[...scene.queued.keys(), ...scene.claimed.keys()],
    ...replaysNow.filter(({ state }) => state === "queued" || state === "running").map(({ id }) => id),
    ...scene.iterations.filter(({ state }) => state === "wanted" || state === "running").map(({ id }) => id),
    ...scene.complaints,
  ];
}

function putStations(scene: SteppedSearch, stations: readonly unknown[]): void {
  const row = resources.get(scene.rows, workspaceId, "line", lineId) as ResourceRow;
  resources.put(scene.rows, workspaceId, ["line", lineId], { ...row, fields: { ...row.fields, stations } });
}

const seedFails = (candidate: string) => ({ succeeds: candidate !== "seed" });
const better = ({ number }: { readonly number: number }): AgentRun => ({
  proposes: { [`try-${number}`]: `P${number}` },
});

t.test("a search ends when its iterations are used, with what is best held out", async (t) => {
  const scene = started();
  drive(scene, { copy: seedFails, agent: better });
  t.match(scene.search, { state: "finished", ending: "iterations-used", iterationsRun: 2, best: { name: "try-1" } });
  t.same(left(scene), []);
});

t.test("a live config that always succeeds has nothing to improve", async (t) => {
  const scene = started();
  drive(scene);
  t.match(scene.search, { state: "finished", ending: "nothing-to-improve", iterationsRun: 0, best: { seed: true } });
  t.same(scene.iterations, []);
  t.same(left(scene), []);
});

t.test("a seed whose replay does not finish ends the search", async (t) => {
  const costly = started();
  drive(costly, { copy: () => ({ amount: 100 }) });
  t.match(costly.search, { state: "stopped", ending: "seed-failed", best: null });
  t.same(left(costly), []);
  const stopped = started();
  stopped.stopReplay(stopped.search.seedReplayId);
  drive(stopped);
  t.match(stopped.search, { state: "stopped", ending: "seed-failed" });
});

t.test("two agent runs in a row without a candidate end it, failed or not", async (t) => {
  const idle = started();
  drive(idle, { copy: seedFails, agent: () => ({}) });
  t.match(idle.search, { state: "finished", ending: "no-proposals", proposed: 0 });
  const failing = started();
  drive(failing, { copy: seedFails, agent: () => ({ does: "fail" }) });
  t.match(failing.search, { ending: "agent-failed" });
  t.match(
    failing.iterations,
    [1, 2].map((number) => ({ number, state: "failed", reason: "It failed." })),
  );
  t.same([...left(idle), ...left(failing)], []);
});

t.test("candidates admitted before the agent failed count", async (t) => {
  const scene = started();
  drive(scene, { copy: seedFails, agent: (iteration) => ({ ...better(iteration), does: "fail" }) });
  t.match(scene.search, { ending: "iterations-used", proposed: 2, best: { name: "try-1" } });
});

t.test("an agent whose runner is lost three times failed; each run counts what it reported", async (t) => {
  const scene = started({ budget: { ...budget, iterations: 1 } });
  let runs = 0;
  drive(scene, { copy: seedFails, agent: () => (++runs < 3 ? { does: "get-lost" } : { does: "get-lost" }) });
  t.equal(runs, 3);
  const [iteration] = scene.iterations;
  t.match(iteration, { state: "failed", lostRunIds: { length: 2 }, unpriced: true });
  t.equal(scene.search.iterationsRun, 1, "counted once");
  const { allotments } = getSearchInput(scene.rows, workspaceId, SEARCH_ID);
  t.match(scene.search, { state: "finished", ending: "iterations-used" });
  t.same([iteration?.allotted, scene.purse?.spent], [iteration?.allotted, "5/1"], "five copies of the seed");
  t.ok((iteration?.allotted.amount ?? 0) >= allotments.agentRun.amount);
  t.not(scene.purse?.counted, "5/1", "a run that said nothing of its cost counts what it was allotted");
  t.same(left(scene), []);
});

t.test("a run that was lost counts what is allotted, and the next one what it reports besides", async (t) => {
  const scene = started({ budget: { ...budget, iterations: 1 } });
  let runs = 0;
  drive(scene, { copy: seedFails, agent: () => (++runs === 1 ? { does: "get-lost" } : { amount: 2 }) });
  const [iteration] = scene.iterations;
  t.match(iteration, { state: "ended", agentSpent: { amount: 2 }, unpriced: true, lostRunIds: { length: 1 } });
  t.equal(scene.purse?.spent, "7/1", "five copies of the seed, and the second run");
  const counted = fromText(scene.purse?.counted ?? "0/1");
  t.equal(toText(subtract(counted, decimal(iteration?.allotted.amount ?? 0))), "7/1");
});

t.test("a runner that is lost once all candidates are admitted ends the iteration: none runs again", async (t) => {
  const scene = started({ budget: { ...budget, iterations: 1 } });
  let runs = 0;
  const proposes = { one: "First.", two: "Second." };
  drive(scene, { copy: seedFails, agent: () => ({ proposes, does: ++runs === 1 ? "get-lost" : "complete" }) });
  t.equal(runs, 1);
  t.match(scene.iterations, [{ state: "ended", reason: null, lostRunIds: [], proposed: { length: 2 } }]);
  t.match(scene.search, { state: "finished", ending: "iterations-used", proposed: 2 });
  const some = started({ budget: { ...budget, iterations: 1 } });
  let attempts = 0;
  drive(some, {
    copy: seedFails,
    agent: () => (++attempts === 1 ? { proposes: { one: "First." }, does: "get-lost" } : {}),
  });
  t.equal(attempts, 2, "one was left");
  t.same([...left(scene), ...left(some)], []);
});

t.test("a runner that is lost once each task has its cause ends the reflection", async (t) => {
  for (const found of ["each", "all but one"]) {
    const scene = started({ budget: { ...budget, iterations: 4 } });
    let reflected = 0;
    drive(scene, {
      copy: () => ({ succeeds: false }),
      agent: ({ kind, number, reflection }) => {
        if (kind === "propose") return { proposes: { [`try-${number}`]: `P${number}` } };
        const tasks = reflection?.tasks.slice(found === "each" || reflected > 0 ? 0 : 1) ?? [];
        const causes = tasks.map(({ taskId }) => ({ taskId, cause: "infra", evidence: "It was down." }));
        return { causes, does: ++reflected === 1 ? "get-lost" : "complete" };
      },
    });
    t.equal(reflected, found === "each" ? 1 : 2, found);
    t.match(
      scene.iterations.find(({ kind }) => kind === "reflect"),
      { state: "ended", reason: null },
    );
    t.same(left(scene), []);
  }
});

t.test("a cost in another currency counts what was allotted, once", async (t) => {
  const scene = started({ budget: { ...budget, iterations: 1 } });
  drive(scene, { copy: seedFails, agent: () => ({ amount: 3, currency: "USD" }) });
  t.match(scene.iterations, [{ agentSpent: { amount: 3, currency: "USD" }, unpriced: true }]);
  t.equal(scene.purse?.spent, "5/1");
  t.not(scene.purse?.counted, "5/1");
});

t.test("the live config changed: no iteration starts any more", async (t) => {
  const scene = started();
  drive(scene, {
    copy: seedFails,
    agent: (iteration) => {
      putStations(scene, [{ ...line.stations[0], prompt: "Another one" }, line.stations[1]]);
      return better(iteration);
    },
  });
  t.match(scene.search, { state: "finished", ending: "config-changed", iterationsRun: 1, best: { name: "try-1" } });
  t.same(left(scene), [], "what was admitted is replayed and confirmed");
});

t.test("the station left: the search ends at once", async (t) => {
  const scene = started();
  drive(scene, { copy: seedFails, agent: better }, () => scene.search.proposed > 0);
  const open = scene.claimable()[0];
  if (open !== undefined) scene.claim(open);
  scene.settle();
  putStations(scene, [line.stations[1]]);
  scene.send(searchRef(workspaceId, SEARCH_ID), { type: "station.left" });
  scene.settle();
  t.match(scene.search, { state: "stopped", ending: "station-left" });
  t.same(left(scene), []);
});

t.test("an agent's run that no runner takes for a day failed", async (t) => {
  const scene = started({ budget: { ...budget, iterations: 2 } });
  drive(scene, { copy: seedFails }, () => scene.iterations.length > 0);
  const before = scene.now;
  for (let n = 0; n < 2; n++) {
    t.ok(scene.wakeNext());
    scene.settle();
  }
  t.ok(scene.now - before >= 2 * DAY_MS);
  t.match(scene.search, { state: "finished", ending: "agent-failed" });
  t.match(scene.iterations, [{ reason: "No runner claimed the agent's run within a day." }, {}]);
  t.equal(scene.search.iterationsRun, 0, "its agent never ran");
  t.same(left(scene), []);
});

t.test("a replay of which no runner takes a copy for a day is stopped", async (t) => {
  const scene = started();
  scene.settle();
  drive(scene, { copy: seedFails }, () => (scene.purse?.counted ?? "0/1") === "2/1");
  const before = scene.now;
  while (scene.search.endedAt === null && scene.wakeNext()) scene.settle();
  t.match(scene.search, { state: "stopped", ending: "seed-failed" });
  const waitedMs = scene.now - before;
  t.ok(waitedMs > DAY_MS - 60_000 && waitedMs < 2 * DAY_MS, `after ${waitedMs} ms`);
  t.same(left(scene), []);
});

t.test("a candidate's replay that is stopped or over budget is off the frontier, and the search goes on", async (t) => {
  const scene = started({ budget: { ...budget, iterations: 1, perIteration: 3 } });
  const proposes = { dear: "D", stopped: "S", fine: "F" };
  const copy = (candidate: string) => ({ ...seedFails(candidate), amount: candidate === "dear" ? 40 : 1 });
  drive(scene, { copy, agent: () => ({ proposes }) }, () =>
    scene.candidates.some(({ replayId, name }) => name === "stopped" && replayId !== null),
  );
  scene.stopReplay(scene.candidates.find(({ name }) => name === "stopped")?.replayId ?? "");
  drive(scene, { copy, agent: () => ({ proposes }) });
  t.match(scene.search, { state: "finished", best: { name: "fine" } });
  t.same(
    scene.candidates.map(({ name, replayEnded, heldOutEnded }) => [name, replayEnded, heldOutEnded]),
    [
      ["seed", "finished", null],
      ["dear", "over-budget", null],
      ["stopped", "stopped", null],
      ["fine", "finished", "finished"],
    ],
  );
  t.same(left(scene), []);
});

t.test("money exactly used up: the last held-out copy takes the last of it", async (t) => {
  // 5 copies of the seed, 3 of a candidate, 2 of its held-out tasks, and an agent that costs as much as 3 copies: 13.
  const one = { ...budget, iterations: 1, perIteration: 1, ceiling: { amount: 13, currency: "EUR" } };
  const scene = started({ budget: one });
  drive(scene, { copy: seedFails, agent: (iteration) => ({ ...better(iteration), amount: 3 }) });
  t.match(scene.search, { state: "finished", ending: "iterations-used", best: { name: "try-1" } });
  t.match(scene.purse, { counted: "13/1", spent: "13/1" });
  t.match(scene.candidates.at(-1), { replayEnded: "finished", heldOutEnded: "finished" });
  t.same(left(scene), []);
});

t.test("an agent that spends what later parts need ends the search at the ceiling", async (t) => {
  // 5 copies of the seed, and for each of two candidates 3 copies, 2 held-out copies, and an agent that costs as much
  // as 3 copies: 21.
  const two = { ...budget, iterations: 2, perIteration: 1, ceiling: { amount: 21, currency: "EUR" } };
  const scene = started({ budget: two });
  drive(scene, { copy: seedFails, agent: (iteration) => ({ ...better(iteration), amount: 12 }) });
  t.match(scene.search, { state: "finished", ending: "ceiling", iterationsRun: 1, best: { seed: true } });
  t.match(scene.candidates.at(-1), { replayEnded: "finished", heldOutReplayId: null }, "no money to confirm it");
  t.equal(scene.purse?.counted, "20/1");
  t.same(left(scene), []);
});

t.test("at the search's ceiling a replay is over budget, though it has room of its own", async (t) => {
  const one = { ...budget, iterations: 1, perIteration: 1, concurrency: 1, ceiling: { amount: 13, currency: "EUR" } };
  const scene = started({ budget: one });
  drive(scene, { copy: seedFails, agent: (iteration) => ({ ...better(iteration), amount: 7 }) });
  t.match(scene.candidates.at(-1), { replayEnded: "over-budget", heldOutReplayId: null });
  t.match(scene.search, { state: "finished", best: { seed: true } });
  t.equal(scene.purse?.counted, "13/1", "of three copies the first took what was left");
  t.same(left(scene), []);
});

t.test("a reflection looks into what failed, and its causes decide whether the search goes on", async (t) => {
  const terms = { budget: { ...budget, iterations: 4, perIteration: 1 } };
  const copy = (_candidate: string, taskId: string) => ({ succeeds: taskId === "task_1" });
  for (const [cause, outcome, ending] of [
    ["infra", "no-config-cause", "no-config-cause"],
    ["config", "went-on", "iterations-used"],
  ] as const) {
    const scene = started(terms, 6);
    const agent = ({
      kind,
      number,
      reflection,
    }: Parameters<typeof better>[0] & { kind: string; reflection: unknown }): AgentRun => {
      if (kind === "propose") return better({ number });
      const tasks = (reflection as { tasks: readonly { taskId: string }[] }).tasks;
      return { causes: tasks.map(({ taskId }) => ({ taskId, cause, evidence: "So it is.", suggestion: "Do it." })) };
    };
    drive(scene, { copy, agent });
    t.equal(scene.search.ending, ending);
    const reflected = scene.iterations.filter(({ kind }) => kind === "reflect");
    t.match(reflected, [{ number: 3, reflection: { outcome, standing: scene.search.seedCandidateId } }]);
    t.equal(reflected[0]?.reflection?.causes.length, reflected[0]?.reflection?.tasks.length);
    t.same(left(scene), []);
  }
});

t.test("a reflection looks into what the live config failed, where a candidate is ahead by noise alone", async (t) => {
  const scene = started({ budget: { ...budget, iterations: 5, perIteration: 1 } }, 6);
  const { searched } = getSearchInput(scene.rows, workspaceId, SEARCH_ID).split;
  const [solved] = searched.map(({ taskId }) => taskId);
  drive(scene, {
    copy: (candidate, taskId) => ({ succeeds: candidate === "try-1" && taskId === solved }),
    agent: ({ kind, number }) => (kind === "reflect" ? {} : better({ number })),
  });
  const ahead = scene.candidates.find(({ name }) => name === "try-1")?.searched;
  t.match(ahead, { score: `1/${searched.length}`, searchedGain: { verdict: "within-noise" } });
  const standing = scene.search.seedCandidateId;
  t.match(
    scene.iterations.filter(({ kind }) => kind === "reflect"),
    [{ number: 4, reflection: { standing, tasks: { length: searched.length } } }],
  );
});

t.test("a stop takes all that is under way with it, and what ran counts", async (t) => {
  const scene = started();
  drive(scene, { copy: seedFails, agent: better }, () => scene.search.proposed > 0);
  for (const run of scene.claimable()) scene.claim(run);
  scene.settle();
  const before = scene.purse?.counted;
  t.same(scene.stop(), { replayed: false });
  scene.settle();
  t.match(scene.search, { state: "stopped", ending: "stopped", endedAt: String });
  t.equal(scene.purse?.counted, before);
  t.same(left(scene), []);
  t.notOk(scene.wakeNext(), "nothing is waited for any more");
});
