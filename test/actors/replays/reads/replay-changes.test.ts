import t from "tap";
import { replayCopies } from "../../../../actors/replays/copies/replay-copy.table.js";
import { replayPairs } from "../../../../actors/replays/judging/replay-pair.table.js";
import { replayRechecks } from "../../../../actors/replays/judging/replay-recheck.table.js";
import { replayVerdicts } from "../../../../actors/replays/judging/replay-verdict.table.js";
import { replayTopicView } from "../../../../actors/replays/reads/replay-topic.view.js";
import { replays } from "../../../../actors/replays/replay/replay.table.js";
import { ReplayMemory } from "../../../../actors/replays/replay/replay-memory.js";
import type { Turn } from "../../../../runtime/turns/turn.js";
import {
  copyRow,
  type PicturedReplay,
  picturedReplay,
  putReplay,
  toCounts,
} from "../../../support/pictured-replays.js";
import { memoryRows, withTurn } from "../../../support/turn.js";
import { workspaceId } from "../../../support/work.js";

const self = { partition: workspaceId, kind: "replay", id: "rep_1" };
const copyName = { replayId: "rep_1", place: 1, repeat: 1 };
const copyChange = { topic: "replay/rep_1", data: { type: "copy", place: 1, repeat: 1 } };
const healthChange = { topic: "replay-set/rset_1", data: { type: "health" } };
const spent = { calls: 1, cost: null, isEstimate: false };

/** Returns the changes that a turn on a replay's rows publishes. */
function published(work: (turn: Turn, made: PicturedReplay) => void, more: Partial<PicturedReplay["replay"]> = {}) {
  const rows = memoryRows();
  const made = picturedReplay({ a: "..", b: ".." }, { id: "rep_1", ...more });
  putReplay(rows, made);
  return withTurn(self, (turn) => work(turn, made), { rows }).changes;
}

t.test("a new replay is told to its readers whole, and to its set's by name", async (t) => {
  const { replay } = picturedReplay({ a: "." }, { id: "rep_1", state: "queued" });
  const { changes } = withTurn(self, (turn) => replays.insert(turn, workspaceId, replay));
  t.match(changes, [
    { topic: "replay/rep_1", data: { type: "replay", replay: { id: "rep_1", state: "queued", progress: { of: 1 } } } },
    { topic: "replay-set/rset_1", data: { type: "replay", replay: { id: "rep_1", state: "queued" } } },
  ]);
  t.equal(changes.length, 2);
});

t.test("of a replay that changes only what is shown and changed is told", async (t) => {
  const settle = published((turn, { replay, copies: [first, ...others] }) => {
    if (first === undefined) throw new Error("no copy");
    const after = copyRow(first, "+");
    replayCopies.put(turn, workspaceId, first, after);
    replays.put(turn, workspaceId, replay, { ...replay, counts: toCounts([after, ...others]) });
  });
  t.match(settle, [copyChange, { data: { type: "replay", replay: { id: "rep_1", progress: { settled: 1 } } } }]);
  t.same(Object.keys(Object(Reflect.get(Object(settle[1]?.data), "replay"))), ["progress", "id"]);
  t.same(
    published((turn, { replay }) => {
      replays.put(turn, workspaceId, replay, { ...replay, counts: { ...replay.counts, queued: 1 } });
    }),
    [],
    "how many are queued is not shown",
  );
});

t.test("a set is told when its health may be another", async (t) => {
  const live = { candidate: { id: "cand_live", name: "Live config", kind: "live" } } as const;
  const finish = (turn: Turn, { replay }: PicturedReplay) => {
    replays.put(turn, workspaceId, replay, { ...replay, state: "finished", endedAt: "2026-01-02T00:00:00.000Z" });
  };
  t.match(published(finish, live).at(-1), healthChange);
  t.notMatch(JSON.stringify(published(finish)), /health/, "a candidate is no part of it");
});

t.test("second looks and pairs change their copy, and second looks the health of the set", async (t) => {
  const verdict = { ...copyName, state: "asked", verdict: null, none: null, spent } as const;
  const recheck = { ...copyName, state: "asked", runId: null, lostRunIds: [], check: null, reason: null } as const;
  const pair = {
    ...({ ...copyName, state: "asked", againstRunId: null, outcome: null, unpaired: null, model: null } as const),
    promptVersion: null,
    readings: [],
    spent,
  };
  t.same(
    published((turn) => replayVerdicts.insert(turn, workspaceId, { ...verdict, which: "first" })),
    [],
    "its copy changes in the same turn",
  );
  t.same(
    published((turn) => replayVerdicts.insert(turn, workspaceId, { ...verdict, which: "second" })),
    [copyChange, healthChange],
  );
  t.same(
    published((turn) => replayRechecks.insert(turn, workspaceId, recheck)),
    [copyChange, healthChange],
  );
  t.same(
    published((turn) => replayPairs.insert(turn, workspaceId, pair)),
    [copyChange],
  );
});

t.test(
  "a reader is sent a copy as it is, with the totals once it has a result, and nothing of one that is gone",
  async (t) => {
    const rows = memoryRows();
    putReplay(rows, picturedReplay({ a: "+.", b: "-." }, { id: "rep_1" }));
    const topic = replayTopicView(new ReplayMemory());
    const subject = { workspaceId, id: "rep_1" };
    const sent = (data: object) => topic.change?.(rows, subject, data).map((change) => change.data);
    const change = (place: number, repeat: number) => sent({ type: "copy", place, repeat })?.[0];
    t.match(change(1, 1), {
      type: "copy",
      copy: { originalRunId: "run_a", repeat: 1, title: "Task a", result: "succeeded" },
      totals: { successRate: 0.5, scored: 2, spent: { amount: 0.2, currency: "EUR" } },
    });
    const running = change(1, 2);
    t.match(running, { type: "copy", copy: { originalRunId: "run_a", repeat: 2, state: "running", result: null } });
    t.notOk("totals" in Object(running));
    t.same(sent({ type: "copy", place: 3, repeat: 1 }), []);
    const other = { type: "deleted" };
    t.same(sent(other), [other]);
  },
);
