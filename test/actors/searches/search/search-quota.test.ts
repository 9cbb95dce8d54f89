import t from "tap";
import { searches } from "../../../../actors/searches/search/search.table.js";
import { removeOldestSearches } from "../../../../actors/searches/search/search-quota.js";
import { searchRow } from "../../../support/search-rows.js";
import { plainTerms, SEARCH_ID, SteppedSearch } from "../../../support/stepped-search.js";
import { memoryRows, withTurn } from "../../../support/turn.js";
import { workspaceId } from "../../../support/work.js";

const self = { partition: workspaceId, kind: "search", id: SEARCH_ID };
const toId = (n: number) => `srch_0${String(n).padStart(3, "0")}`;

/** Writes ended searches of a station, numbered from 1. */
function putEnded(rows: ReturnType<typeof memoryRows>, count: number, stationId = "sta_work"): void {
  const ended = { state: "finished", ending: "iterations-used", endedAt: "2026-01-02T00:00:00.000Z" } as const;
  withTurn(
    self,
    (turn) => {
      for (let n = 1; n <= count; n++) {
        const id = stationId === "sta_work" ? toId(n) : `${toId(n)}_of_another`;
        searches.insert(turn, workspaceId, searchRow({ id, stationId, ...ended }));
      }
    },
    { rows },
  );
}

t.test("a station keeps the latest 50 searches: a start beyond that tells the oldest to go", async (t) => {
  const told = (count: number) => {
    const rows = memoryRows();
    putEnded(rows, count);
    putEnded(rows, 60, "sta_other");
    const { sent } = withTurn(self, (turn) => removeOldestSearches(turn, searchRow()), { rows });
    return sent.map(({ to, message }) => `${message.type} ${to.id}`);
  };
  t.same(told(49), []);
  t.same(told(50), [`search.forget ${toId(1)}`]);
  t.equal(told(120).length, 50, "of many more some at a start");
});

t.test("a search that starts makes room for itself, and one that is refused does not", async (t) => {
  const scene = new SteppedSearch(5);
  putEnded(scene.rows, 50);
  scene.start({ budget: { ...plainTerms.budget, repeats: 9 } });
  t.same(scene.mailboxes(), [], "refused");
  t.match(scene.start(), { searchId: SEARCH_ID });
  t.same(
    scene.mailboxes().filter((name) => name.startsWith("search/")),
    [`search/${toId(1)}`],
  );
});
