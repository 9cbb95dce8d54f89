import t from "tap";
import type { Refusal } from "../../../../actors/refusal.js";
import { freeReplayQuota, MAX_REPLAYS } from "../../../../actors/replays/budget/replay-quota.js";
import type { ReplayRow } from "../../../../actors/replays/replay/replay.js";
import { pin } from "../../../../actors/tables/pins.js";
import { liveSet, liveWorld, six } from "../../../support/live-replays.js";
import { picturedReplay, putReplay } from "../../../support/pictured-replays.js";
import { replayRow } from "../../../support/replay-rows.js";
import { ReplayWorld } from "../../../support/replay-world.js";
import { withTurn } from "../../../support/turn.js";
import { workspaceId } from "../../../support/work.js";

const other = {
  candidate: { id: "cand_2", name: "Other words", kind: "proposed" },
  runningFingerprint: "other",
} as const;
const ended = { state: "finished", endedAt: "2026-01-02T00:00:00.000Z", judged: true, ...other } as const;
const underWay = { state: "running", endedAt: null, judged: false } as const;

function toId(n: number): string {
  return `rep_${String(n).padStart(3, "0")}`;
}

/** Returns a set with ended replays, numbered from 1; `given` overrides fields by number. */
function fullSet(count: number, given: Readonly<Record<number, Partial<ReplayRow>>> = {}) {
  const { rows, live } = liveWorld();
  for (let n = 1; n <= count; n++) {
    const replay = picturedReplay(six("+"), { ...live, ...ended, ...given[n], id: toId(n) });
    putReplay(rows, { ...replay, copies: [] });
  }
  return { rows, live };
}

/**
 * Frees the quota for `count` replays. Returns the refusal, and the messages that tell replays to remove themselves.
 */
function room({ rows }: Pick<ReturnType<typeof fullSet>, "rows">, count = 1, beside: string | null = null) {
  let refusal: Refusal | null = null;
  const self = { partition: workspaceId, kind: "replay-sets", id: liveSet.teamId };
  const { sent } = withTurn(
    self,
    (turn) => {
      refusal = freeReplayQuota(turn, liveSet, { count, beside });
    },
    { rows },
  );
  return { refusal, told: sent.map(({ to, message }) => `${message.type} ${to.id}`) };
}

const forget = (...numbers: number[]) => numbers.map((n) => `replay.forget ${toId(n)}`);

t.test("a start beyond the newest 200 removes the oldest", async (t) => {
  t.same(room(fullSet(MAX_REPLAYS - 1)), { refusal: null, told: [] });
  t.same(room(fullSet(MAX_REPLAYS - 1), 2), { refusal: null, told: forget(1) });
  t.same(room(fullSet(MAX_REPLAYS)), { refusal: null, told: forget(1) });
  t.same(room(fullSet(MAX_REPLAYS), 2), { refusal: null, told: forget(1, 2) });
  t.equal(room(fullSet(MAX_REPLAYS + 60)).told.length, 50, "of more than there may be, some at a start");
});

t.test("what was stopped before a copy was scored or cost anything goes first", async (t) => {
  const { counts, spending } = replayRow();
  const stopped = { state: "stopped", counts, spending } as const;
  const set = fullSet(MAX_REPLAYS, { 7: { state: "stopped" }, 9: stopped, 150: stopped });
  t.same(room(set).told, forget(9));
  t.same(room(set, 3).told, forget(9, 150, 1));
});

t.test("what is under way, judged still, pinned, or that others are set beside or answer stays", async (t) => {
  const set = fullSet(MAX_REPLAYS, {
    1: underWay,
    2: { judged: false },
    5: { pairedWith: toId(3) },
    6: { answers: toId(4) },
  });
  pin(set.rows, workspaceId, { of: "replay", id: toId(5), by: "rep_elsewhere" });
  t.same(room(set, 2, toId(7)).told, forget(6, 8));
});

t.test("the baseline and what the set's health names stay", async (t) => {
  const { live } = liveWorld();
  const set = fullSet(MAX_REPLAYS, {
    1: { ...live, repeats: 3 },
    2: { ...live, probe: true, repeats: 3 },
    3: { ...live, candidate: { id: "cand_3", name: "With the answer", kind: "with-answer" }, answers: toId(1) },
    4: live,
    6: live,
  });
  t.same(room(set, 2).told, forget(4, 5), "the check, the oracle with what it answers, and the baseline");
});

t.test("where too few may go the start is refused, and none goes", async (t) => {
  const all = Object.fromEntries(Array.from({ length: MAX_REPLAYS }, (_, index) => [index + 1, underWay] as const));
  const { 5: _one, ...others } = all;
  const refused = {
    refused: "conflict",
    detail: /^The set has 200 replays, the maximum. Each of them is running, or /,
  };
  t.match(room(fullSet(MAX_REPLAYS, all)), { refusal: refused, told: { length: 0 } });
  t.same(room(fullSet(MAX_REPLAYS, others)), { refusal: null, told: forget(5) });
  t.match(room(fullSet(MAX_REPLAYS, others), 2), { refusal: refused, told: { length: 0 } });
});

t.test("started and stopped in a loop, replays of a set are no more than they may be", async (t) => {
  const world = await ReplayWorld.open({ candidates: { mine: { prompt: "Better." } } });
  await world.write((rows) => {
    for (let n = 1; n < MAX_REPLAYS; n++) {
      const pictured = picturedReplay({ 1: "+", 2: "-" }, { ...ended, setId: world.setId, id: toId(n) });
      putReplay(rows, pictured);
    }
  });
  const stopped: string[] = [];
  for (let n = 0; n < 6; n++) {
    const { replayId } = await world.start({ candidate: "live" });
    await world.stop(replayId);
    await world.harness.advance(1_000);
    stopped.push(replayId);
    t.ok(world.allReplays().length <= MAX_REPLAYS);
  }
  t.ok(world.replay(toId(1)), "what was done before stays");
  t.same(world.copies(stopped[0] ?? ""), []);
  const { baseline } = await world.start({ candidate: "mine" });
  t.ok(world.replay(baseline?.id ?? ""), "a baseline beside it has room too");
  await world.harness.advance(1_000);
  t.equal(world.allReplays().length, MAX_REPLAYS);
  t.same(world.complaints(), []);
});
