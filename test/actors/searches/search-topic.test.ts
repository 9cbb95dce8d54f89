import t from "tap";
import { seesSubject } from "../../../actors/access/visibility/stream-topic.js";
import { decimal } from "../../../actors/fraction.js";
import { addToBudget } from "../../../actors/replays/budget/search-budget.js";
import { searchCandidates } from "../../../actors/searches/candidates/search-candidate.table.js";
import { searchIterations } from "../../../actors/searches/iterations/search-iteration.table.js";
import { searchTopicView } from "../../../actors/searches/reads/search-topic.view.js";
import type { SearchIterationRow } from "../../../actors/searches/search/search.js";
import { searches } from "../../../actors/searches/search/search.table.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import { picturedSearch } from "../../support/pictured-searches.js";
import { candidateRow, iterationRow } from "../../support/search-rows.js";
import { withTurn } from "../../support/turn.js";
import { putLine, putTeam, workspaceId } from "../../support/work.js";

const self = { partition: workspaceId, kind: "search", id: "srch_1" };
const subject = { workspaceId, id: "srch_1" };
const ada = { kind: "person", userId: "usr_1", email: "ada@example.com", sessionId: "ses_1" } as const;
const seed = { a: "+", b: "-", c: "-", y: "+", z: "-" };

function open() {
  const scene = picturedSearch({
    seed,
    heldOut: "yz",
    candidates: [{ name: "real", searched: { a: "+", b: "+", c: "-" } }],
  });
  putLine(scene.rows);
  putTeam(scene.rows);
  const said = (work: (turn: Turn) => void) =>
    withTurn(self, work, { rows: scene.rows }).changes.map(({ data }) => data);
  const sent = (data: unknown) => searchTopicView.change?.(scene.rows, subject, data)[0]?.data;
  return { ...scene, said, sent };
}

t.test("of a search only what changed is told, and nothing when nothing that is shown did", async (t) => {
  const { rows, search, said } = open();
  const finished = { ...search, state: "finished", ending: "iterations-used" } as const;
  t.same(
    said((turn) => searches.put(turn, workspaceId, search, finished)),
    [{ type: "search", search: { id: "srch_1", state: "finished", ending: "iterations-used" } }],
  );
  t.same(
    said((turn) => searches.put(turn, workspaceId, finished, { ...finished, setVersion: 11 })),
    [],
  );
  t.match(searchTopicView.view(rows, subject), {
    search: { spent: { amount: 2.5, currency: "EUR" } },
    frontier: ["cand_01", "cand_0"],
  });
});

t.test("what it spends is told in the ceiling's currency, and not what only counts", async (t) => {
  const { said } = open();
  const more = (spent: number) =>
    said((turn) => addToBudget(turn, "srch_1", { counted: decimal(1), spent: decimal(spent) }));
  t.same(more(0.5), [{ type: "spent", spent: { amount: 3, currency: "EUR" } }]);
  t.same(more(0), []);
});

t.test("an iteration is sent as it became, a candidate as it is when read, both without long texts", async (t) => {
  const { rows, said, sent } = open();
  const cause = { taskId: "b", originalRunId: "run_b", replayRunId: "rep_0/2/1", cause: "config" } as const;
  const long = { evidence: "e".repeat(4_000), suggestion: "s".repeat(4_000), recordedAt: "2026-01-01T00:00:00.000Z" };
  const causes = Array.from({ length: 10 }, () => ({ ...cause, ...long }));
  const reflection = { standing: "cand_0", tasks: [], causes, outcome: null };
  const iteration = iterationRow({ kind: "reflect", reflection });
  const told = said((turn) => searchIterations.insert(turn, workspaceId, iteration));
  const read = sent(told[0]);
  t.same(told, [read], "each change has the iteration of its turn: two that are read at once are not the same");
  t.same(sent({ type: "iteration", number: 1 }), read, "an entry of a release before names it alone");
  t.match(read, {
    type: "iteration",
    iteration: { number: 1, reflection: { causes: [{ taskId: "b", cause: "config" }] } },
  });
  t.ok(JSON.stringify(read).length < 4_000);
  t.notMatch(JSON.stringify(read), /eeee|ssss/);

  const hypothesis = "h".repeat(2_000);
  const candidate = candidateRow({ candidateId: "cand_02", name: "other", hypothesis });
  const admitted = said((turn) => searchCandidates.insert(turn, workspaceId, candidate));
  t.same(admitted, [{ type: "candidate", candidateId: "cand_02" }]);
  const shown = sent(admitted[0]);
  t.match(shown, { candidate: { candidateId: "cand_02", name: "other", searchedGain: null, heldOutGain: null } });
  t.match(shown, { type: "candidate", frontier: ["cand_01", "cand_0"] });
  t.ok(JSON.stringify(shown).length < 2_000);

  const snapshot = searchTopicView.view(rows, subject);
  t.same(Reflect.get(Object(snapshot), "iterations"), [Reflect.get(Object(read), "iteration")], "as a fresh snapshot");
  t.same(Reflect.get(Object(snapshot), "candidates")[2], Reflect.get(Object(shown), "candidate"));
});

t.test("of an iteration nothing is told when nothing that is shown changed", async (t) => {
  const { said } = open();
  const cause = { taskId: "b", originalRunId: "run_b", replayRunId: "rep_0/2/1", cause: "config" } as const;
  const causes = [{ ...cause, evidence: "Mine.", suggestion: null, recordedAt: "2026-01-01T00:00:00.000Z" }];
  const reflection = { standing: "cand_0", tasks: [], causes, outcome: null };
  const iteration = iterationRow({ kind: "reflect", reflection });
  const put = (change: Partial<SearchIterationRow>) =>
    said((turn) => searchIterations.put(turn, workspaceId, iteration, { ...iteration, ...change }));
  t.same(put({ lostRunIds: ["run_0"], unpriced: true }), []);
  const reworded = causes.map((each) => ({ ...each, evidence: "Other." }));
  t.same(put({ reflection: { ...reflection, causes: reworded } }), [], "nor a text that no stream has");
  t.match(put({ attempts: 7 }), [{ type: "iteration", iteration: { number: 1, attempts: 7 } }]);
});

t.test("what is gone is not sent, what others publish is sent as it is", async (t) => {
  const { sent } = open();
  t.equal(sent({ type: "iteration", number: 7 }), undefined);
  t.equal(sent({ type: "candidate", candidateId: "cand_77" }), undefined);
  for (const data of [{ type: "deleted" }, { type: "spent", spent: { amount: 1, currency: "EUR" } }])
    t.equal(sent(data), data);
});

t.test("who may not read the team's outcomes does not see it", async (t) => {
  const { rows } = open();
  const sees = (userId: string) => seesSubject(searchTopicView, rows, { ...ada, userId }, subject);
  t.ok(sees("usr_1"));
  t.notOk(sees("usr_3"));
  t.notOk(seesSubject(searchTopicView, rows, ada, { workspaceId, id: "srch_2" }));
});
