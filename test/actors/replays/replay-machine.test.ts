import t from "tap";
import { listCopies, replayCopies } from "../../../actors/replays/copies/replay-copy.table.js";
import type { ReplayRow } from "../../../actors/replays/replay/replay.js";
import { replayActor } from "../../../actors/replays/replay/replay.machine.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import { type ReplayEntry, replayInputs } from "../../../actors/replays/replay/replay-input.table.js";
import type { RunRow } from "../../../actors/runs/run.js";
import { runs } from "../../../actors/runs/run.table.js";
import { runInputs } from "../../../actors/runs/run-input.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { replayConfig, replayInput, replayRow } from "../../support/replay-rows.js";
import { memoryRows, type Stepping, stepByHand, type TurnTaken } from "../../support/turn.js";
import { lineId, putLine, putTeam, teamId, workspaceId } from "../../support/work.js";

const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;
const make = { type: "woken", name: "make", dueMs: 0 } as Message;
const stop = { type: "replay.stop", caller, client: null } as Message;

/** Returns a replay of this many runs, stepped by hand. */
function stepped(count: number, more: Partial<ReplayRow> = {}, concurrency: number | null = null) {
  const rows = memoryRows();
  const replay = stepByHand(replayActor(null), address(workspaceId, "replay", "rep_1"), { rows });
  putLine(rows);
  putTeam(rows);
  const entries = Array.from({ length: count }, (_, index): ReplayEntry => {
    const runId = `run_${index}`;
    runInputs.insert(rows, workspaceId, {
      runId,
      config: replayConfig,
      claimed: null,
      beginning: {
        line: { key: "dev", name: "Dev" },
        station: { name: "work", passesTo: [], next: [] },
        checkouts: [{ repository: "acme/app", base: "a".repeat(40), diff: null }],
      },
    });
    return { place: index, runId, taskId: `task_${index}`, title: "Do", refusal: null };
  });
  const row = replayRow({ state: "queued", runs: count, endedAt: null, judged: false, lineId, teamId, ...more });
  replays.insert(rows, workspaceId, row);
  replayInputs.insert(rows, workspaceId, replayInput({ entries, concurrency }));
  return { replay, rows };
}

function toRow({ rows }: Stepping): ReplayRow {
  const row = replays.get(rows, workspaceId, "rep_1");
  if (row === undefined) throw new Error("there is no replay");
  return row;
}

/** Lists the sent messages, as `kind type`. */
const sentBy = ({ sent }: TurnTaken) => sent.map(({ to, message }) => `${to.kind} ${message.type}`);

t.test("copies are made 50 a turn, and queued from the first slice on", async (t) => {
  const { replay } = stepped(40, { repeats: 3 });
  t.match(replay.take({ type: "replay.begin" } as Message).wakes, [{ name: "make" }]);
  const counts: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const taken = replay.take(make);
    counts.push(listCopies(replay.rows, workspaceId, "rep_1").length);
    t.equal(taken.wakes.length, turn < 2 ? 1 : 0);
    t.equal(taken.sent.length, turn === 0 ? 20 : 0);
  }
  t.same(counts, [50, 100, 120]);
  t.match(toRow(replay).counts, { queued: 20, running: 0 });
});

t.test("a replay that is stopped before its copies are made makes them, and queues none", async (t) => {
  const { replay } = stepped(30, { repeats: 3 });
  replay.take({ type: "replay.begin" } as Message);
  replay.take(make);
  const stopped = replay.take(stop);
  t.equal(sentBy(stopped).filter((each) => each === "run run.end").length, 20);
  t.equal(sentBy(stopped).filter((each) => each === "run run.forget").length, 20);
  t.equal(replay.value, "stopped");
  t.same(replay.take(make).sent, []);
  const copies = listCopies(replay.rows, workspaceId, "rep_1");
  t.same([copies.length, new Set(copies.map(({ state }) => state))], [90, new Set(["waiting"])]);
});

t.test("a replay with a concurrency of its own limits its lane until it ended", async (t) => {
  const { replay } = stepped(2, {}, 4);
  const lane = "replay:rep_1";
  t.match(replay.take({ type: "replay.begin" } as Message).sent, [
    { to: { kind: "dispatcher" }, message: { type: "lane.limit", lane, maxClaims: 4 } },
  ]);
  replay.take(make);
  const limits = replay.take(stop).sent.filter(({ to }) => to.kind === "dispatcher");
  t.match(limits, [{ message: { type: "lane.limit", lane, maxClaims: null } }]);
});

t.test("who may not plan any more stops nothing, and a key stops once", async (t) => {
  const { replay } = stepped(1);
  replay.take({ type: "replay.begin" } as Message);
  const stranger = { ...caller, userId: "usr_9" };
  t.same(replay.take({ ...stop, caller: stranger } as Message).answer, { refused: "not-found" });
  t.equal(replay.value, "queued");
  const idempotency = { scope: "usr_1", key: "k", digest: "d" };
  t.same(replay.take({ ...stop, idempotency } as Message).answer, { replayed: false });
  t.same(replay.take({ ...stop, idempotency } as Message).answer, { replayed: true });
  t.match(replay.take({ ...stop, idempotency: { ...idempotency, digest: "other" } } as Message).answer, {
    refused: "idempotency-key-reused",
  });
  t.match(replay.take(stop).answer, { refused: "conflict", detail: "The replay has ended." });
});

t.test("the service stops a replay without a record in the change log", async (t) => {
  const { replay } = stepped(1);
  replay.take({ type: "replay.begin" } as Message);
  replay.take({ ...stop, caller: null } as Message);
  t.equal(replay.value, "stopped");
  t.same(replay.rows.range({ prefix: [workspaceId, "row", "configuration-change"] }), []);
});

t.test("a message about a run that is no copy's changes nothing", async (t) => {
  const { replay } = stepped(1);
  replay.take({ type: "replay.begin" } as Message);
  replay.take(make);
  const before = toRow(replay);
  for (const message of [
    { type: "run.claimed", runId: "run_other" },
    { type: "run.over", runId: "run_other", outcome: "completed" },
    { type: "run.began", runId: "run_other" },
    { type: "run.asking", runId: "run_other", asks: null },
  ]) {
    const taken = replay.take(message as Message);
    t.same([taken.taken, taken.intents], [true, []], message.type);
  }
  t.same(toRow(replay), before);
});

t.test("a copy is settled once, however often its run is over", async (t) => {
  const { replay, rows } = stepped(1);
  replay.take({ type: "replay.begin" } as Message);
  replay.take(make);
  const [copy] = listCopies(replay.rows, workspaceId, "rep_1");
  const runId = copy?.runId ?? "";
  t.ok(replay.take({ type: "run.claimed", runId } as Message).taken);
  t.equal(replay.value, "running");
  t.equal(replayCopies.get(replay.rows, workspaceId, "rep_1", 0, 1)?.state, "running");
  runs.insert(rows, workspaceId, {
    id: runId,
    outcome: "completed",
    state: "ended",
    ending: { kind: "finish", note: "" },
    check: null,
    steps: 3,
    spent: { amount: 0.3, currency: "EUR" },
    startedAt: "2026-01-01T00:00:00.000Z",
    failure: null,
    reason: null,
    endedAt: "2026-01-01T00:00:02.500Z",
    taskId: null,
    owner: { kind: "replay", id: "rep_1" },
    queuedAtMs: 0,
  } as RunRow);
  const over = { type: "run.over", runId, outcome: "completed" } as Message;
  replay.take(over);
  t.equal(replay.value, "finished");
  const settled = toRow(replay);
  t.match(settled, { state: "finished", counts: { settled: 1, succeeded: 1 }, spending: { spent: "3/10" } });
  t.match(replayCopies.get(replay.rows, workspaceId, "rep_1", 0, 1), { result: "succeeded", steps: 3, ms: 2_500 });
  replay.take(over);
  t.same(toRow(replay), settled);
});
