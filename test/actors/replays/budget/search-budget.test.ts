import t from "tap";
import { fraction } from "../../../../actors/fraction.js";
import { isAtCeiling, mayStart } from "../../../../actors/replays/budget/replay-ceiling.js";
import { addToBudget, findBudgetLeft, openBudget, putReplay } from "../../../../actors/replays/budget/search-budget.js";
import { searchBudgets } from "../../../../actors/replays/budget/search-budget.table.js";
import { recordSearched, removeSearched } from "../../../../actors/replays/candidates/made-candidate.table.js";
import { findMadeCandidate } from "../../../../actors/replays/candidates/replay-candidate.kind.js";
import type { ReplayRow } from "../../../../actors/replays/replay/replay.js";
import { laneOfReplay } from "../../../../actors/replays/replay/replay.messages.js";
import { replays } from "../../../../actors/replays/replay/replay.table.js";
import { replaySets } from "../../../../actors/replays/sets/replay-set.table.js";
import { pin } from "../../../../actors/tables/pins.js";
import { address } from "../../../../runtime/cells/address.js";
import type { Turn } from "../../../../runtime/turns/turn.js";
import { replayRow } from "../../../support/replay-rows.js";
import { ReplayWorld } from "../../../support/replay-world.js";
import { memoryRows, withTurn } from "../../../support/turn.js";
import { workspaceId } from "../../../support/work.js";

const searchId = "search_1";
const search = { searchId, candidateName: "seed" };
const EUR = (amount: number) => ({ amount, currency: "EUR" });

/** Two running replays of a search, each with a ceiling of 10, and a shared budget of 12. */
function purseScene() {
  const rows = memoryRows();
  const running = { state: "running", endedAt: null, judged: false, runs: 5, search } as const;
  for (const id of ["rep_1", "rep_2"]) replays.insert(rows, workspaceId, replayRow({ ...running, id }));
  const take = (kind: string, id: string, work: (turn: Turn) => void) =>
    withTurn(address(workspaceId, kind, id), work, { rows });
  take("search", searchId, (turn) => openBudget(turn, { searchId, ceiling: EUR(12) }));
  const get = (id: string): ReplayRow => {
    const row = replays.get(rows, workspaceId, id);
    if (row === undefined) throw new Error(`${id} has a row`);
    return row;
  };
  const spend = (id: string, spending: Partial<ReplayRow["spending"]>) =>
    take("replay", id, (turn) => {
      const before = get(id);
      putReplay(turn, before, { ...before, spending: { ...before.spending, ...spending } });
    });
  const atCeiling = (id: string) => {
    let found = false;
    take("replay", id, (turn) => {
      found = isAtCeiling(get(id), findBudgetLeft(turn, get(id)));
    });
    return found;
  };
  return { rows, take, get, spend, atCeiling, purse: () => searchBudgets.get(rows, workspaceId, searchId) };
}

t.test("replays of a search start copies while their own ceiling and the search's have room", async (t) => {
  const scene = purseScene();
  t.same(scene.spend("rep_1", { spent: "8/1" }).sent, [], "there is room for all");
  t.match(scene.purse(), { counted: "8/1", spent: "8/1" });
  t.notOk(scene.atCeiling("rep_1") || scene.atCeiling("rep_2"));
  const { sent } = scene.spend("rep_2", { spent: "3/1", unpriced: 1 });
  t.match(scene.purse(), { counted: "13/1", spent: "11/1" }, "a copy without a cost counts its share");
  t.match(sent, [{ to: { kind: "replay", id: "rep_1" }, message: { type: "purse.moved" } }], "the other is told");
  t.ok(scene.atCeiling("rep_1") && scene.atCeiling("rep_2"), "though each has room of its own");
  scene.take("replay", "rep_2", (turn) => {
    const row = scene.get("rep_2");
    t.ok(mayStart(row, { priced: false }, findBudgetLeft(turn, row)), "one that counts its share counts no second one");
  });
  scene.spend("rep_1", { spent: "10/1" });
  t.same(scene.purse()?.counted, "15/1");
});

t.test("what estimates counted and goes back counts back, and replays are told that there is room", async (t) => {
  const scene = purseScene();
  scene.spend("rep_1", { besides: "12/1" });
  t.ok(scene.atCeiling("rep_2"));
  const { sent } = scene.spend("rep_1", { besides: "1/3" });
  t.match(sent, [{ to: { id: "rep_2" }, message: { type: "purse.moved" } }]);
  t.match(scene.purse(), { counted: "1/3", spent: "1/3" });
  t.notOk(scene.atCeiling("rep_2"));
});

t.test("the agent's runs count too, and what ended is told nothing", async (t) => {
  const scene = purseScene();
  scene.take("replay", "rep_2", (turn) => {
    const row = scene.get("rep_2");
    putReplay(turn, row, { ...row, state: "finished" });
  });
  const more = { counted: fraction(12), spent: fraction(5) };
  const { sent } = scene.take("search", searchId, (turn) => addToBudget(turn, searchId, more));
  t.match(
    sent.map(({ to }) => to.id),
    ["rep_1"],
  );
  t.match(scene.purse(), { counted: "12/1", spent: "5/1" });
  t.ok(scene.atCeiling("rep_1"));
});

t.test("replays of a search share its lane", async (t) => {
  t.equal(laneOfReplay({ id: "rep_1", search: null }), "replay:rep_1");
  t.equal(laneOfReplay({ id: "rep_1", search }), laneOfReplay({ id: "rep_2", search }));
});

t.test("a searched candidate is in use as long as its search has it, whatever becomes of its replay", async (t) => {
  const { rows, take } = purseScene();
  take("search-iteration", "it_1", (turn) =>
    recordSearched(turn, { candidateId: "cand_9", teamId: "team_1", searchId }),
  );
  t.match(findMadeCandidate(rows, "cand_9"), { row: null, teamId: "team_1", use: /^A search created it/ });
  take("search", searchId, (turn) => removeSearched(turn, "cand_9"));
  t.equal(findMadeCandidate(rows, "cand_9"), undefined);
});

t.test("a set that a search is under way of keeps its runs, and stays", async (t) => {
  const world = await ReplayWorld.open({ runs: 2 });
  const { setId } = world;
  const pinned = { of: replaySets.name, id: setId, by: searchId };
  await world.write((rows) => pin(rows, workspaceId, pinned));
  const detail = "A search of the set is under way. Stop it first, or wait until it has ended.";
  for (const message of [
    { type: "entry.remove", setId, runId: "run_1" },
    { type: "entry.add", setId, runId: "run_2" },
    { type: "set.delete", setId },
  ]) {
    t.match(await world.askSets(message), { refused: "conflict", detail }, message.type);
  }
  t.match(await world.askSets({ type: "set.rename", setId, name: "Other" }), { setId });
});

t.test("a replay and a search that reach their ceiling are reported to the log, once", (t) => {
  const scene = purseScene();
  const reports = (id: string, spent: string) =>
    scene.spend(id, { spent }).intents.flatMap((intent) => (intent.kind === "report" ? [intent.report] : []));
  t.same(reports("rep_1", "9/1"), []);
  const reached = { name: "ceiling.reached", line: { level: "warn", message: "money ceiling reached" } };
  t.match(reports("rep_1", "10/1"), [
    { ...reached, details: { of: "replay", replayId: "rep_1", ceiling: 10, currency: "EUR" } },
  ]);
  t.match(reports("rep_2", "2/1"), [{ ...reached, details: { of: "search", searchId, ceiling: 12 } }]);
  t.same(reports("rep_2", "3/1"), [], "it was reached before");
  t.end();
});
