import t from "tap";
import { judgesNothing } from "../../../../actors/replays/judging/model-terms.js";
import { replays } from "../../../../actors/replays/replay/replay.table.js";
import { getReplayInput } from "../../../../actors/replays/replay/replay-input.table.js";
import { findBaseline } from "../../../../actors/replays/sets/baseline.js";
import { replaySets } from "../../../../actors/replays/sets/replay-set.table.js";
import { planLive } from "../../../../actors/replays/starting/live-replay.js";
import { orderReplay } from "../../../../actors/replays/starting/replay-plan.js";
import { findStartingPoint } from "../../../../actors/replays/starting/starting-point.js";
import { address } from "../../../../runtime/cells/address.js";
import type { Turn } from "../../../../runtime/turns/turn.js";
import { ReplayWorld } from "../../../support/replay-world.js";
import { memoryRows, withTurn } from "../../../support/turn.js";
import { workspaceId } from "../../../support/work.js";

function toRows(world: ReplayWorld) {
  const rows = memoryRows();
  for (const { key, value } of world.harness.durable.range({ prefix: [] })) rows.put(key, value);
  return rows;
}

t.test("a live replay that is not a person's does not check its set, and becomes its baseline", async (t) => {
  const world = await ReplayWorld.open({ runs: 5 });
  const rows = toRows(world);
  const set = replaySets.get(rows, workspaceId, world.setId);
  if (set === undefined) throw new Error("there is no set");
  const search = { searchId: "search_1", candidateName: "seed" };
  const order = (turn: Turn) => {
    const point = findStartingPoint(turn, set, judgesNothing);
    if (point === undefined) throw new Error("the station left");
    const terms = { repeats: 2, ceiling: { amount: 3, currency: "EUR" }, search, concurrency: 4 };
    orderReplay(turn, planLive(turn, point, judgesNothing, terms));
    t.same(findBaseline(turn, workspaceId, set, { live: point.fingerprints, repeats: 2 })?.search, search);
  };
  const { sent } = withTurn(address(workspaceId, "search", "search_1"), order, { rows });
  const [row, ...more] = replays.list(rows, workspaceId);
  t.match(row, { probe: false, repeats: 2, runs: 5, ceiling: { amount: 3 }, candidate: { kind: "live" }, search });
  t.equal(row?.startedBaseline, row?.id);
  t.same(more, []);
  t.equal(getReplayInput(rows, workspaceId, row?.id ?? "").concurrency, 4);
  t.match(
    sent.filter(({ to }) => to.kind === "replay"),
    [{ to: { id: row?.id }, message: { type: "replay.begin" } }],
  );
});

t.test("a set whose station left its line has no starting point", async (t) => {
  const world = await ReplayWorld.open({ runs: 1 });
  const rows = toRows(world);
  const set = replaySets.get(rows, workspaceId, world.setId);
  if (set === undefined) throw new Error("there is no set");
  withTurn(
    address(workspaceId, "search", "search_1"),
    (turn) => {
      t.equal(findStartingPoint(turn, { ...set, stationId: "sta_gone" }, judgesNothing), undefined);
      t.equal(findStartingPoint(turn, set, judgesNothing)?.entries.length, 1);
    },
    { rows },
  );
});
