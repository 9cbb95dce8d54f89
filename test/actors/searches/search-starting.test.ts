import t from "tap";
import { listUnderWay, replays } from "../../../actors/replays/replay/replay.table.js";
import { replaySets } from "../../../actors/replays/sets/replay-set.table.js";
import { records } from "../../../actors/resources/change-record.table.js";
import { type ResourceRow, resources } from "../../../actors/resources/resource.table.js";
import { runners } from "../../../actors/runners/runner.table.js";
import { getSearchInput, searches } from "../../../actors/searches/search/search.table.js";
import { describeSearchesUnderWay } from "../../../actors/searches/search/team-in-use.js";
import { isPinned } from "../../../actors/tables/pins.js";
import { address } from "../../../runtime/cells/address.js";
import { replayRow } from "../../support/replay-rows.js";
import { plainTerms, SEARCH_ID, SteppedSearch } from "../../support/stepped-search.js";
import { withTurn } from "../../support/turn.js";
import { line, lineId, teamId, workspaceId } from "../../support/work.js";

const { budget, agent } = plainTerms;
const idempotency = { scope: "usr_1", key: "k", digest: "d" };

t.test(
  "a start freezes the config, splits the set, and replays the live config as the set's new baseline",
  async (t) => {
    const scene = new SteppedSearch(10, 2);
    const answer = scene.start({ budget: { ...budget, repeats: 2 }, objective: null }, { idempotency });
    const [seed, ...others] = replays.list(scene.rows, workspaceId);
    t.match(answer, { searchId: SEARCH_ID, seedReplayId: seed?.id, objective: "success", replayed: false });
    t.same(others, []);
    const { allotments, split, warnings } = getSearchInput(scene.rows, workspaceId, SEARCH_ID);
    t.match(seed, {
      runs: 10,
      repeats: 2,
      probe: false,
      ceiling: allotments.seed,
      startedBaseline: seed?.id,
      search: { searchId: SEARCH_ID, candidateName: "seed" },
    });
    t.same([split.searched.length, split.heldOut.length], [6, 4]);
    t.match(warnings, [{ kind: "noise-unmeasured" }, { kind: "thin-budget" }, { kind: "too-few-to-confirm" }]);
    t.match(scene.search, { state: "seeding", seedReplayId: seed?.id, seedCandidateId: seed?.candidate.id });
    t.match(scene.candidates, [{ name: "seed", seed: true, replayId: seed?.id }]);
    t.match(
      records.list(scene.rows, workspaceId).map(({ resource, action, key }) => ({ resource, action, key })),
      [{ resource: "replay-search", action: "created", key: SEARCH_ID }],
    );
    withTurn(
      address(workspaceId, "replay-sets", teamId),
      (turn) => {
        t.ok(isPinned(turn, { of: replaySets.name, id: scene.setId }));
        t.ok(isPinned(turn, { of: replays.name, id: seed?.id ?? "" }));
      },
      { rows: scene.rows },
    );
    t.match(
      scene.start({}, { idempotency }, "srch_2"),
      { searchId: SEARCH_ID, replayed: true },
      "the same request again",
    );
    const otherBody = { idempotency: { ...idempotency, digest: "e" } };
    t.match(scene.start({}, otherBody, "srch_2"), { refused: "idempotency-key-reused" });
    t.equal(searches.get(scene.rows, workspaceId, "srch_2"), undefined);
  },
);

/** Most cases have several faults. The answer names the fault that is checked first. */
t.test("a start is refused in the order of the reference", async (t) => {
  const bad = { budget: { ...budget, iterations: 11 }, agent, objective: "fame" };
  const scene = new SteppedSearch(6);
  const stranger = { kind: "person", userId: "usr_9", email: "x@example.com", sessionId: "ses_9" };
  t.match(scene.start(bad, { caller: stranger }), { refused: "not-found" });
  t.match(scene.start({ ...bad, setId: "rset_9" }), { refused: "not-found", detail: "Replay set rset_9 not found." });
  t.match(scene.start(bad, { stationId: "sta_9" }), { refused: "not-found", detail: "Station sta_9 not found." });
  t.match(scene.start(bad, { stationId: "sta_review" }), { refused: "not-found", detail: /^Replay set/ });
  t.match(scene.start(bad, { lineId: "line_9" }), { refused: "not-found", detail: "Line line_9 not found." });
  t.match(scene.start(bad), {
    errors: [
      { path: "budget.iterations", message: "Search iterations must be from 1 to 10." },
      { path: "objective", message: "must be success or cost" },
    ],
  });
  t.equal(listUnderWay(scene.rows, workspaceId, { teamId }).length, 0);
  t.match(scene.start(), { searchId: SEARCH_ID });
  const { detail } = scene.start(bad, {}, "srch_2") as { readonly detail: string };
  t.match(detail, /^A search of the station is running\. Stop it first/);
  scene.stop();
  putStations(scene, [line.stations[1]]);
  t.match(scene.start(bad, {}, "srch_2"), {
    refused: "conflict",
    detail: /^The station of the replay set was removed from/,
  });
});

function putStations(scene: SteppedSearch, stations: readonly unknown[]): void {
  const row = resources.get(scene.rows, workspaceId, "line", lineId) as ResourceRow;
  resources.put(scene.rows, workspaceId, ["line", lineId], { ...row, fields: { ...row.fields, stations } });
}

t.test("what is wrong with the terms is said at its path", async (t) => {
  const scene = new SteppedSearch(5);
  runners.put(scene.rows, workspaceId, "runner_1", {
    runnerId: "runner_1",
    poolId: "pool_1",
    name: "one",
    labels: [],
    harnesses: ["claude"],
    slots: 1,
    connected: true,
    since: "",
  });
  const EUR = (amount: number) => ({ amount, currency: "EUR" });
  const cases: readonly (readonly [terms: object, path: string, message: string | RegExp])[] = [
    [{ budget: { ...budget, iterations: 0 } }, "budget.iterations", "Search iterations must be from 1 to 10."],
    [{ budget: { ...budget, iterations: 1.5 } }, "budget.iterations", "Search iterations must be from 1 to 10."],
    [{ budget: { ...budget, perIteration: 6 } }, "budget.perIteration", /from 1 to 5/],
    [{ budget: { ...budget, ceiling: EUR(0) } }, "budget.ceiling.amount", "must be above 0 and at most 1000"],
    [{ budget: { ...budget, ceiling: EUR(1_001) } }, "budget.ceiling.amount", "must be above 0 and at most 1000"],
    [{ budget: { ...budget, ceiling: { amount: 9, currency: "eur" } } }, "budget.ceiling.currency", /currency/],
    [{ budget: { ...budget, concurrency: 11 } }, "budget.concurrency", /from 1 to 10/],
    [{ budget: { ...budget, repeats: 6 } }, "budget.repeats", /from 1 to 5/],
    // There are 5 runs for the seed, 3 for each of 4 candidates, and 2 for each of 3 held-out candidates: 23.
    [
      { budget: { ...budget, ceiling: EUR(0.22) } },
      "budget.ceiling.amount",
      /0\.01 EUR for each of the 23 replay runs/,
    ],
    [{ agent: { ...agent, harness: "none" } }, "agent.harness", /: claude, command$/],
    [{ agent: { ...agent, model: "" } }, "agent.model", "must be 1 to 200 characters"],
    [{ agent: { ...agent, model: "m".repeat(61) } }, "agent.model", "Model must be 1 to 60 characters, or empty."],
    [{ agent: { ...agent, model: "m".repeat(201) } }, "agent.model", "must be 1 to 200 characters"],
    [{ agent: { ...agent, effort: "some" } }, "agent.effort", /low, medium/],
    [{ objective: "" }, "objective", "must be success or cost"],
  ];
  for (const [terms, path, message] of cases) {
    t.match(scene.start(terms), { refused: "invalid", errors: [{ path, message }] }, `${path} ${message}`);
  }
  t.equal(searches.get(scene.rows, workspaceId, SEARCH_ID), undefined, "nothing is stored");
  const fine = {
    agent: { harness: "claude", model: "m".repeat(60), effort: "low" },
    budget: { ...budget, ceiling: EUR(0.23) },
  };
  t.match(scene.start(fine), { searchId: SEARCH_ID });
  t.match(new SteppedSearch(4).start(), { errors: [{ path: "setId", message: /at least 5 different tasks/ }] });
});

t.test("a team with a search under way is not deleted, and a search that ended frees what it held", async (t) => {
  const scene = new SteppedSearch(5);
  scene.start();
  const team = { id: teamId, address: "core", workspaceId } as ResourceRow;
  t.match(describeSearchesUnderWay(team, scene.rows), /searches under way: 1/);
  t.same(scene.stop(), { replayed: false });
  t.match(scene.stop(), { refused: "conflict", detail: "The search has ended." });
  t.equal(describeSearchesUnderWay(team, scene.rows), null);
  t.match(scene.start({}, {}, "srch_2"), { searchId: "srch_2" });
});

t.test("a set that has no room for another replay is not searched, and nothing is stored", async (t) => {
  const scene = new SteppedSearch(5);
  for (let n = 0; n < 200; n++) {
    const id = `rep_${String(n).padStart(3, "0")}`;
    replays.insert(scene.rows, workspaceId, replayRow({ id, setId: scene.setId, judged: false }));
  }
  t.match(scene.start(), { refused: "conflict", detail: /200 replays/ });
  t.equal(searches.get(scene.rows, workspaceId, SEARCH_ID), undefined);
  t.equal(scene.purse, undefined);
  t.same(scene.mailboxes(), []);
});

t.test("a stop under a key is answered again, and who may not plan is refused", async (t) => {
  const scene = new SteppedSearch(5);
  t.match(scene.stop(), { refused: "not-found", detail: `Search ${SEARCH_ID} not found.` });
  scene.start();
  const stranger = { kind: "person", userId: "usr_9", email: "x@example.com", sessionId: "ses_9" };
  t.match(scene.stop({ caller: stranger }), { refused: "not-found" });
  t.equal(scene.search.state, "seeding");
  t.same(scene.stop({ idempotency }), { replayed: false });
  t.same(scene.stop({ idempotency }), { replayed: true });
  t.match(
    records.list(scene.rows, workspaceId).map(({ resource, action, details }) => [resource, action, details.state]),
    [
      ["replay-search", "created", "seeding"],
      ["replay-search", "updated", "stopped"],
    ],
  );
});
