import t from "tap";
import { findMadeCandidate } from "../../../actors/replays/candidates/replay-candidate.kind.js";
import { type ResourceRow, resources } from "../../../actors/resources/resource.table.js";
import { runners } from "../../../actors/runners/runner.table.js";
import { getRunInput } from "../../../actors/runs/run-input.table.js";
import { searchCandidateInputs } from "../../../actors/searches/candidates/search-candidate.table.js";
import { toBlock } from "../../../actors/searches/search/search.js";
import { getSearchInput } from "../../../actors/searches/search/search.table.js";
import { drive, tell } from "../../support/search-driver.js";
import { plainTerms, SEARCH_ID, type SteppedRun, SteppedSearch } from "../../support/stepped-search.js";
import { putResource } from "../../support/stepped-work.js";
import { lineId, teamId, workspaceId } from "../../support/work.js";

const { budget } = plainTerms;
const judge = {
  rubric: "All is well.",
  scale: "yes-no",
  passScore: null,
  claims: [],
  passShare: null,
  model: null,
};

/**
 * Returns a search whose agent is running. The iteration is the first one (`propose`) or a reflecting one (`reflect`).
 */
function proposing(kind: "propose" | "reflect" = "propose", terms: object = {}, profiles: readonly string[] = []) {
  const scene = new SteppedSearch(5);
  runners.put(scene.rows, workspaceId, "runner_1", {
    runnerId: "runner_1",
    poolId: "pool_1",
    name: "one",
    labels: [],
    harnesses: ["agent"],
    slots: 1,
    connected: true,
    since: "",
  });
  for (const key of ["only", ...profiles]) {
    putResource(scene.rows, "harness-profile", key, {
      key,
      harness: "agent",
      args: ["sh"],
      env: {},
      secrets: {},
      timeoutMinutes: null,
    });
  }
  const iterations = kind === "propose" ? 2 : 4;
  scene.start({ budget: { ...budget, iterations }, ...terms });
  const isThere = () => scene.iterations.at(-1)?.kind === kind;
  const agent = ({ number }: { readonly number: number }) => ({ proposes: { [`try-${number}`]: `P${number}` } });
  drive(scene, { copy: () => ({ succeeds: false }), agent }, isThere);
  const [run] = scene.claimable();
  if (run === undefined) throw new Error("there is no run of the agent");
  scene.claim(run);
  scene.settle();
  scene.say(run, { type: "run.started" });
  scene.settle();
  const last = () => {
    const row = scene.iterations.at(-1);
    if (row === undefined) throw new Error("there is no iteration");
    return row;
  };
  return { scene, run, last, ask: (message: object) => tell(scene, run, last().id, message) };
}

function findBlock(scene: SteppedSearch, changes: object = {}) {
  const { config, block } = getSearchInput(scene.rows, workspaceId, SEARCH_ID);
  return { ...toBlock(config, block), ...changes };
}

const named = (scene: SteppedSearch, name: string, changes: object = { prompt: name }) => ({
  type: "candidates.propose",
  proposed: { candidates: [{ name, hypothesis: "Why not.", station: findBlock(scene, changes) }] },
});

t.test("the agent runs in the station's pool, in an empty checkout, an hour at most, without tools", async (t) => {
  const { scene, run, last } = proposing();
  const { config, beginning } = getRunInput(scene.rows, workspaceId, run.runId);
  t.match(config, {
    station: {
      harness: "command",
      prompt: "",
      tools: { length: 0 },
      skills: { length: 0 },
      check: null,
      judge: null,
      timeoutMinutes: 60,
    },
    repositories: { length: 0 },
    skills: { length: 0 },
  });
  t.match(beginning, { checkouts: { length: 0 }, search: { kind: "propose" } });
  t.same([beginning?.station.passesTo, beginning?.station.next], [[], []]);
  t.match(scene.run(run.runId), { owner: { kind: "search", id: last().id }, lane: `search-agent:${SEARCH_ID}` });
  t.match(scene.run(run.runId)?.needs, { features: ["taskless", "search"] });
  t.match(last(), { state: "running", startedAt: String, runId: run.runId });
});

t.test(
  "it has the station's profile where that is for its harness, else the team's only one for it, else none",
  async (t) => {
    const toProfile = (harness: string, more: readonly string[] = []) => {
      const { scene, run } = proposing("propose", { agent: { harness, model: "m", effort: "low" } }, more);
      return getRunInput(scene.rows, workspaceId, run.runId).config;
    };
    t.match(toProfile("agent"), { station: { profile: "only", model: "m", effort: "low" }, profile: { args: ["sh"] } });
    t.match(toProfile("agent", ["second"]), { station: { profile: null }, profile: null }, "neither of two");
    // The station's own profile, `shell`, works only with the station's harness, `command`.
    t.match(toProfile("command"), { station: { profile: "shell" } });
  },
);

t.test("what is admitted is a candidate at once, and is replayed", async (t) => {
  const { scene, last, ask } = proposing();
  const answer = ask(named(scene, "longer"));
  const { candidateId, fingerprint } = scene.candidates.at(-1) ?? {};
  t.match(answer, { candidates: [{ candidateId, name: "longer", fingerprint }], left: 1, replayed: false });
  t.match(findMadeCandidate(scene.rows, candidateId ?? ""), { teamId, row: null, use: /^A search created it/ });
  t.match(scene.candidates.at(-1), {
    iteration: 1,
    hypothesis: "Why not.",
    replayId: null,
    changes: [{ part: "prompt", kind: "added", was: null, now: null }],
  });
  t.match([last().attempts, last().proposed, scene.search.proposed], [1, [candidateId], 1]);
  scene.settle();
  t.match(scene.candidates.at(-1), { replayId: String });
});

t.test("changes of the live station are taken from the block that the search froze", async (t) => {
  const { scene, ask } = proposing();
  const frozen = findBlock(scene);
  const row = resources.get(scene.rows, workspaceId, "line", lineId) as ResourceRow;
  const stations = (row.fields.stations as object[]).map((station) => ({ ...station, model: "newer" }));
  resources.put(scene.rows, workspaceId, ["line", lineId], { ...row, fields: { ...row.fields, stations } });
  const propose = (changes: object) => ({
    type: "candidates.propose",
    proposed: { candidates: [{ name: "short", hypothesis: null, station: { from: "live", changes } }] },
  });
  t.match(ask(propose({ check: "true" })), {
    refused: "invalid",
    errors: [{ path: "[0].station.check", message: /^must stay as the live config has it/ }],
  });
  t.match(ask(propose({})), { refused: "invalid", errors: [{ path: "[0].station", message: /^changes nothing/ }] });
  t.match(ask(propose({ prompt: "Short." })), { candidates: [{ name: "short" }] });
  const [input] = searchCandidateInputs.list(scene.rows, workspaceId, [SEARCH_ID]).slice(-1);
  t.same(input && toBlock(input.config, input.block), { ...frozen, prompt: "Short." });
});

t.test("what is refused counts as an attempt, and leaves nothing", async (t) => {
  const { scene, last, ask } = proposing();
  const cases = [
    [{ type: "candidates.propose", proposed: { faults: [{ path: "[0].name", message: "is no slug" }] } }, "[0].name"],
    [named(scene, "seed"), "[0].name"],
    [named(scene, "same", {}), "[0].station"],
    [named(scene, "judged", { prompt: "P", judge }), "[0].station.judge"],
    [named(scene, "unoffered", { prompt: "P", harness: "nobody" }), "[0].station.harness"],
  ] as const;
  for (const [message, path] of cases) t.match(ask(message), { refused: "invalid", errors: [{ path }] }, path);
  t.same([last().attempts, last().proposed, scene.candidates.length], [cases.length, [], 1]);
  ask(named(scene, "one"));
  t.match(ask(named(scene, "one", { prompt: "other" })), { errors: [{ path: "[0].name" }] }, "the name is taken");
  t.match(ask(named(scene, "two", { prompt: "one" })), { errors: [{ path: "[0].station" }] }, "goes like another");
  t.match(ask(named(scene, "two")), { left: 0 });
  t.match(ask(named(scene, "three")), { errors: [{ path: "[0]" }] });
});

t.test("a request under a key is answered again, and counted once", async (t) => {
  const { scene, last, ask } = proposing();
  const idempotency = { scope: "run", key: "k", digest: "d" };
  const first = ask({ ...named(scene, "one"), idempotency });
  t.match(ask({ ...named(scene, "one"), idempotency }), { ...(first as object), replayed: true });
  t.equal(last().attempts, 1);
  t.match(ask({ ...named(scene, "one"), idempotency: { ...idempotency, digest: "e" } }), {
    refused: "idempotency-key-reused",
  });
});

t.test("an agent proposes 100 times at most", async (t) => {
  const { ask, last } = proposing();
  const faulty = { type: "candidates.propose", proposed: { faults: [{ path: "[0]", message: "is none" }] } };
  for (let n = 0; n < 100; n++) ask(faulty);
  t.match(ask(faulty), { refused: "conflict", detail: /100 times/ });
  t.equal(last().attempts, 100);
});

t.test("nobody but the runner that holds the run now is answered", async (t) => {
  const { scene, run, last, ask } = proposing();
  const { runId } = run;
  const notFound = { refused: "not-found", detail: `Run ${runId} not found.` };
  const message = named(scene, "one");
  t.match(ask({ ...message, runnerId: "runner_2" }), notFound);
  t.match(ask({ ...message, fence: 2 }), notFound);
  t.match(ask({ ...message, runId: "run_1" }), { refused: "not-found" });
  const gone: SteppedRun = run;
  t.match(tell(scene, gone, "siter_9", message), notFound, "of an iteration that is not there");
  t.equal(last().attempts, 0);
  scene.stop();
  t.match(ask(message), notFound, "the search was stopped");
  scene.settle();
  t.match(ask(message), notFound, "the run has ended");
  t.equal(scene.candidates.length, 1);
});

t.test("an iteration takes what is of its kind alone", async (t) => {
  const cause = { type: "cause.record", taskId: "task_9", cause: "config", evidence: "So it is.", suggestion: null };
  const first = proposing();
  t.match(first.ask(cause), { refused: "conflict", detail: /records no causes/ });
  const { scene, ask, last } = proposing("reflect");
  t.match(ask(named(scene, "one")), { refused: "conflict", detail: /proposes no candidates/ });
  t.match(ask(cause), { refused: "not-found", detail: /^Task task_9 is none/ });
  const [task] = last().reflection?.tasks ?? [];
  const found = { ...cause, taskId: task?.taskId };
  t.match(ask(found), { taskId: task?.taskId, cause: "config", replayRunId: task?.replayRunId, replayed: false });
  t.match(ask({ ...found, cause: "infra" }), { cause: "infra" });
  t.match(last().reflection?.causes, [{ ...task, cause: "infra", suggestion: null }], "the second replaces the first");
  t.equal(last().reflection?.causes.length, 1);
});

t.test("a line that is gone admits nothing", async (t) => {
  const { scene, ask } = proposing();
  const row = resources.get(scene.rows, workspaceId, "line", lineId) as ResourceRow;
  const message = named(scene, "one");
  resources.put(scene.rows, workspaceId, ["line", lineId], { ...row, fields: { ...row.fields, stations: [] } });
  t.match(ask(message), { refused: "not-found" });
});

t.test("a candidate that omits where it passes tasks has what the live config had when the search began", async (t) => {
  const { scene, ask } = proposing();
  const live = findBlock(scene);
  t.same(live.passesTo, ["review"]);
  const { passesTo: _passesTo, ...omitting } = { ...live, prompt: "Otherwise." };
  const candidates = [
    { name: "omits", hypothesis: null, station: omitting },
    { name: "none", hypothesis: null, station: { ...live, prompt: "Alone.", passesTo: [] } },
  ];
  t.match(ask({ type: "candidates.propose", proposed: { candidates } }), { candidates: { length: 2 } });
  const blocks = scene.candidates
    .slice(-2)
    .map(({ candidateId }) => searchCandidateInputs.get(scene.rows, workspaceId, SEARCH_ID, candidateId)?.block);
  t.match(blocks, [{ passesTo: ["review"] }, { passesTo: { length: 0 } }]);
});
