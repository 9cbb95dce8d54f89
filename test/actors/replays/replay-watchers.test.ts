import t from "tap";
import { listCopies } from "../../../actors/replays/copies/replay-copy.table.js";
import type { ReplayRow } from "../../../actors/replays/replay/replay.js";
import { replayActor } from "../../../actors/replays/replay/replay.machine.js";
import type { ReplayMoved } from "../../../actors/replays/replay/replay.messages.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import { replayInputs } from "../../../actors/replays/replay/replay-input.table.js";
import { replayWatchers, unwatchReplay, watchReplay } from "../../../actors/replays/replay/replay-watcher.table.js";
import type { RunRow } from "../../../actors/runs/run.js";
import { runs } from "../../../actors/runs/run.table.js";
import { runInputs } from "../../../actors/runs/run-input.table.js";
import { address } from "../../../runtime/cells/address.js";
import { reference } from "../../../runtime/cells/reference.js";
import type { Message, Turn } from "../../../runtime/turns/turn.js";
import { replayConfig, replayInput, replayRow } from "../../support/replay-rows.js";
import { memoryRows, stepByHand, type TurnTaken, withTurn } from "../../support/turn.js";
import { lineId, putLine, putTeam, teamId, workspaceId } from "../../support/work.js";

const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;
const watcherRef = reference<ReplayMoved>("watcher");
const [one, two] = [watcherRef(workspaceId, "one"), watcherRef(workspaceId, "two")];
const self = address(workspaceId, "replay", "rep_1");

/** Returns a replay of two runs, and functions with which the test steps it by hand. */
function open(more: Partial<ReplayRow> = {}) {
  const rows = memoryRows();
  const replay = stepByHand(replayActor(null), self, { rows });
  putLine(rows);
  putTeam(rows);
  const entries = [0, 1].map((place) => {
    const runId = `run_${place}`;
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
    return { place, runId, taskId: `task_${place}`, title: "Do", refusal: null };
  });
  const row = replayRow({ state: "queued", runs: 2, endedAt: null, judged: false, lineId, teamId, ...more });
  replays.insert(rows, workspaceId, row);
  replayInputs.insert(rows, workspaceId, replayInput({ entries }));
  const change = (work: (turn: Turn) => void) => void withTurn(self, work, { rows });
  /** Completes a copy's run. */
  const complete = (index: number): TurnTaken => {
    const runId = listCopies(rows, workspaceId, "rep_1")[index]?.runId ?? "";
    replay.take({ type: "run.claimed", runId } as Message);
    runs.insert(rows, workspaceId, {
      id: runId,
      outcome: "completed",
      state: "ended",
      ending: { kind: "finish", note: "" },
      check: null,
      spent: { amount: 1, currency: "EUR" },
      startedAt: "2026-01-01T00:00:00.000Z",
      failure: null,
      steps: 1,
      reason: null,
      endedAt: "2026-01-01T00:00:01.000Z",
      owner: { kind: "replay", id: "rep_1" },
      queuedAtMs: 0,
    } as unknown as RunRow);
    return replay.take({ type: "run.over", runId, outcome: "completed" } as Message);
  };
  const begin = () => {
    replay.take({ type: "replay.begin" } as Message);
    return replay.take({ type: "woken", name: "make", dueMs: 0 } as Message);
  };
  return { replay, rows, change, complete, begin };
}

/** Lists the messages to watchers, as `WATCHER WHAT`. */
const saidBy = ({ sent }: TurnTaken) =>
  sent.flatMap(({ to, message }) =>
    message.type === "replay.moved" ? [`${to.id} ${(message as ReplayMoved).what}`] : [],
  );

t.test("watchers are told of each result, of the end, and of that of its judging", async (t) => {
  const { change, complete, begin } = open();
  change((turn) => watchReplay(turn, "rep_1", one));
  t.same(saidBy(begin()), [], "its copies have no results");
  change((turn) => watchReplay(turn, "rep_1", two));
  change((turn) => watchReplay(turn, "rep_1", one));
  t.same(saidBy(complete(0)), ["one settled", "two settled"]);
  const last = complete(1);
  t.same(saidBy(last).sort(), [
    ...["one ended", "one judged", "one settled"],
    ...["two ended", "two judged", "two settled"],
  ]);
  t.match(
    last.sent.find(({ message }) => message.type === "replay.moved"),
    { to: { partition: workspaceId, kind: "watcher" }, message: { replayId: "rep_1" } },
  );
});

t.test("who watches no more is told nothing, and a replay without watchers tells nobody", async (t) => {
  const { change, complete, begin } = open();
  begin();
  t.same(saidBy(complete(0)), []);
  change((turn) => watchReplay(turn, "rep_1", one));
  change((turn) => unwatchReplay(turn, "rep_1", one));
  change((turn) => unwatchReplay(turn, "rep_1", two));
  t.same(saidBy(complete(1)), []);
});

t.test("a stop tells that it ended", async (t) => {
  const { replay, change, begin } = open();
  begin();
  change((turn) => watchReplay(turn, "rep_1", one));
  const taken = replay.take({ type: "replay.stop", caller, client: null } as Message);
  t.same(saidBy(taken), ["one ended", "one judged"]);
});

t.test("a replay none of whose runs can be repeated tells its end", async (t) => {
  const counts = { queued: 0, running: 0, settled: 2, succeeded: 0, failed: 0, unscored: 2 };
  const { rows, change, begin } = open({ counts });
  const input = replayInputs.get(rows, workspaceId, "rep_1");
  if (input === undefined) throw new Error("there is no input");
  const entries = input.entries.map((entry) => ({ ...entry, refusal: "commit-gone" as const }));
  change((turn) => replayInputs.put(turn, workspaceId, input, { ...input, entries }));
  change((turn) => watchReplay(turn, "rep_1", one));
  t.same(saidBy(begin()), ["one ended", "one judged"]);
});

t.test("a replay that is removed tells so, and its watchers go with it", async (t) => {
  const { replay, rows, change, begin } = open();
  begin();
  for (const watcher of [one, two]) change((turn) => watchReplay(turn, "rep_1", watcher));
  t.same(saidBy(replay.take({ type: "replay.forget" } as Message)), ["one removed", "two removed"]);
  t.same(replayWatchers.list(rows, workspaceId), []);
});
