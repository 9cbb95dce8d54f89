import t from "tap";
import type { ModelReply } from "../../../actors/outbound/models/model.js";
import type { ModelRequest } from "../../../actors/outbound/models/model-request.js";
import { findMadeCandidate } from "../../../actors/replays/candidates/replay-candidate.kind.js";
import { toReplayJudging } from "../../../actors/replays/judging/model-terms.js";
import { runs } from "../../../actors/runs/run.table.js";
import { getSearchInput } from "../../../actors/searches/search/search.table.js";
import { searchesLeavingSubscriber } from "../../../actors/searches/search/searches-leaving.js";
import { defaultRetention } from "../../../actors/tables/retention.js";
import { retentionRef } from "../../../actors/tables/retention-sweeper.machine.js";
import { inForm } from "../../../http/demo/scripted-model.js";
import { address } from "../../../runtime/cells/address.js";
import type { Fact } from "../../../runtime/turns/turn.js";
import { type SearchScript, SearchWorld } from "../../support/search-world.js";
import { plainTerms, SEARCH_ID, SteppedSearch } from "../../support/stepped-search.js";
import { withTurn } from "../../support/turn.js";
import { lineId, workspaceId } from "../../support/work.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
const terms = { budget: { ...plainTerms.budget, iterations: 1, perIteration: 1 } };
const script: SearchScript = {
  copy: ({ candidate }) => ({ succeeds: candidate !== "seed" }),
  propose: () => ({ better: "Do it better." }),
};

t.test("a search is removed some time after its end, with its candidates and its agent's runs", async (t) => {
  const scene = await SearchWorld.open({ runs: 5, slots: 8, retention: { ...defaultRetention, work: DAY_MS } });
  const { harness } = scene.world;
  await scene.start(terms);
  await scene.workAll(script);
  const sweep = async () => {
    await harness.ask(retentionRef(workspaceId), { type: "retention.begin" });
    await harness.advance(60_000);
  };
  await sweep();
  t.match(scene.findSearch(), { state: "finished" }, "it stays for its time");
  const { candidateId } = scene.candidate("better");
  const ofAgent = () => runs.list(harness.durable, workspaceId).filter(({ owner }) => owner.kind === "search");
  t.equal(ofAgent().length, 1);
  t.match(findMadeCandidate(harness.durable, candidateId), { row: null });
  await harness.advance(2 * DAY_MS);
  await sweep();
  await sweep();
  t.equal(scene.findSearch(), undefined);
  t.equal(findMadeCandidate(harness.durable, candidateId), undefined);
  t.same(ofAgent(), []);
  const tables = ["search", "search-input", "search-iteration", "search-candidate", "search-candidate-input"];
  for (const table of [...tables, "replay-purse", "team-search", "search-under-way", "made-candidate"]) {
    const left = harness.durable.range({ prefix: [workspaceId, "row", table] });
    t.same(left.length, table === "made-candidate" ? 1 : 0, `${table}: the live config's stays with its replay`);
  }
  t.same(harness.durable.range({ prefix: [workspaceId, "actor", "search"] }), []);
  t.same(harness.durable.range({ prefix: [workspaceId, "actor", "search-iteration"] }), []);
  t.same(scene.world.complaints(), []);
  t.match(await scene.start(terms, {}), { searchId: "search_1" }, "the station may be searched again");
});

const judge = { rubric: "Is it good?", scale: "yes-no", passScore: null, claims: [], passShare: null, model: null };
const judging = toReplayJudging({ name: "m", prices: { in: 10, out: 10, currency: "EUR", models: {} } });
const usage = { in: 1_000, out: 100 };

/**
 * Opens a search at a station with a judge. The model answers the first `answers` questions and passes everything; then
 * it is unavailable.
 */
async function openJudged(answers: number): Promise<{ readonly scene: SearchWorld; readonly judged: SearchScript }> {
  let asked = 0;
  const down: ModelReply = { kind: "unavailable", reason: "the model answered 503", retryAtMs: null, mayCost: false };
  const model = ({ schema }: ModelRequest): ModelReply => {
    asked += 1;
    if (asked > answers) return down;
    const form = { json_schema: { schema: { ...schema } } };
    const value = inForm({ model: "m", messages: [], headers: {}, response_format: form }, { boolean: true });
    return { kind: "completion", text: JSON.stringify(value), isCut: false, usage };
  };
  const scene = await SearchWorld.open({ runs: 5, slots: 8, judging, station: { judge }, model });
  await scene.start(terms);
  const failed = getSearchInput(scene.world.harness.durable, workspaceId, scene.searchId).split.searched[0]?.taskId;
  const copy: SearchScript["copy"] = ({ candidate, taskId }) => ({
    succeeds: candidate !== "seed" || taskId !== failed,
    diff: `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+${candidate}\n`,
  });
  return { scene, judged: { ...script, copy } };
}

async function workJudged({ scene, judged }: Awaited<ReturnType<typeof openJudged>>): Promise<void> {
  for (let round = 0; round < 10; round++) {
    await scene.workAll(judged);
    await scene.world.harness.advance(20_000);
  }
}

t.test("pairs that are judged after the end are in the figures, and in what was spent", async (t) => {
  const opened = await openJudged(1_000);
  const { scene } = opened;
  await workJudged(opened);
  t.match(scene.search(), { state: "finished", ending: "iterations-used" });
  const { searched, heldOut } = scene.candidate("better");
  t.equal(sumPairs(searched?.searchedPairs), 2, "of three searched tasks the live config failed one");
  t.equal(sumPairs(heldOut?.heldOutPairs), 2);
  t.ok(scene.world.allReplays().every(({ judged }) => judged));
  t.same(scene.complaintsAtEnd(), []);
});

function sumPairs(pairs: { readonly wins: number; readonly losses: number; readonly ties: number } | null | undefined) {
  return pairs == null ? null : pairs.wins + pairs.losses + pairs.ties;
}

t.test("a search that is stopped has its replays judged no more, nor their pairs", async (t) => {
  // Seven questions: the verdicts on four copies of the seed and three of the candidate. No pairs or held-out copies
  // are judged.
  const opened = await openJudged(7);
  const { scene } = opened;
  await workJudged(opened);
  t.match(scene.search(), { state: "holding-out" });
  t.match(
    scene.world.allReplays().map(({ state, judged }) => [state, judged]),
    [
      ["finished", true],
      ["finished", false],
      ["running", false],
    ],
  );
  t.same(await scene.stop(), { replayed: false });
  await scene.world.harness.advance();
  t.same(
    scene.world.allReplays().map(({ state, judged }) => [state, judged]),
    [
      ["finished", true],
      ["finished", true],
      ["stopped", true],
    ],
  );
  t.same(scene.complaintsAtEnd(), []);
});

t.test("a closed workspace stops its searches, a changed line has them look again", async (t) => {
  const scene = new SteppedSearch(5);
  scene.start();
  const told = (fact: object) => {
    const self = address(workspaceId, "subscriber", "1");
    const { sent } = withTurn(self, (turn) => searchesLeavingSubscriber.handle(fact as never, turn), {
      rows: scene.rows,
    });
    return sent.map(({ to, message }) => [to.id, message.type]);
  };
  const closed: Fact & object = { name: "workspace.closed" };
  t.same(told(closed), [[SEARCH_ID, "search.stop"]]);
  t.same(told({ name: "line.changed", id: lineId }), [[SEARCH_ID, "station.left"]]);
  t.same(told({ name: "line.changed", id: "line_9" }), []);
  scene.stop();
  t.same([...told(closed), ...told({ name: "line.changed", id: lineId })], []);
});
