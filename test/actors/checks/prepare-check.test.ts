import t from "tap";
import { replayChecks } from "../../../actors/checks/check.table.js";
import { replayCheckResults } from "../../../actors/checks/check-result.table.js";
import { findRemovableChecks } from "../../../actors/checks/prepare-check.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import { checkRow } from "../../support/check-rows.js";
import { allChecks, openCheckWorld, startCheck, toCheck, tryCheck, workJobs } from "../../support/check-world.js";
import { memoryRows, withTurn } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

const self = { partition: workspaceId, kind: "replay-check", id: "check_new" };
const toId = (n: number) => `check_0${String(n).padStart(3, "0")}`;
const ended = {
  verdict: "passed",
  decidedAt: "2026-01-02T00:00:00.000Z",
  endedAt: "2026-01-02T00:00:00.000Z",
} as const;

/** Returns checks of a set, numbered from 1; the first `underWay` of them have not ended. */
function listChecks(setId: string, count: number, underWay = 0) {
  return Array.from({ length: count }, (_, n) => checkRow({ id: toId(n + 1), setId, ...(n < underWay ? {} : ended) }));
}

function room(count: number, underWay = 0) {
  const rows = memoryRows();
  let found: unknown;
  withTurn(
    self,
    (turn) => {
      for (const row of listChecks("rset_1", count, underWay)) replayChecks.insert(turn, workspaceId, row);
      found = findRemovableChecks(turn, "rset_1");
    },
    { rows },
  );
  return found;
}

t.test("a set keeps 200 checks: the oldest that have ended go, and none that is under way", async (t) => {
  t.same(room(199), []);
  t.same(room(200), [toId(1)]);
  t.same(room(200, 3), [toId(4)]);
  t.same((room(300) as string[]).length, 50, "of many more some at a start");
  t.match(room(200, 200), { refused: "conflict", detail: /^The set has its 200 replay checks/ });
});

t.test("a check that starts beyond 200 removes the oldest, with its rows", async (t) => {
  const world = await openCheckWorld({ slots: 4 });
  const oldest = await startCheck(world);
  do await world.connectedAsk();
  while ((await workJobs(world)) > 0);
  t.match(toCheck(world, oldest), { endedAt: String });
  await world.write((rows) => {
    const getTurn = (turn: Turn) => {
      for (const row of listChecks(world.setId, 199)) replayChecks.insert(turn, workspaceId, row);
    };
    withTurn(self, getTurn, { rows });
  });
  t.match(await tryCheck(world), { how: "reused" });
  t.match(await tryCheck(world, { stationKey: "nowhere" }), { refused: String });
  await world.connectedAsk();
  t.match(toCheck(world, oldest), { endedAt: String }, "what starts nothing removes none");
  const newest = await startCheck(world, { prompt: "Another change" });
  await world.connectedAsk();
  const ids = allChecks(world).map(({ id }) => id);
  t.same([ids.length, ids.includes(oldest), ids.includes(newest)], [200, false, true]);
  t.equal(replayCheckResults.get(world.harness.durable, workspaceId, oldest), undefined);
  t.match(toCheck(world, newest), { verdict: "running" });
});
