import t from "tap";
import { isRefusal } from "../../../actors/refusal.js";
import { replayCopies } from "../../../actors/replays/copies/replay-copy.table.js";
import { replayRechecks } from "../../../actors/replays/judging/replay-recheck.table.js";
import { findReplay, findReplayRun } from "../../../actors/replays/replay/replay.queries.js";
import { replaySets } from "../../../actors/replays/sets/replay-set.table.js";
import { locationEntry } from "../../../actors/resources/resource-location.table.js";
import type { RunRow } from "../../../actors/runs/run.js";
import { runs } from "../../../actors/runs/run.table.js";
import { liveSet, liveWorld } from "../../support/live-replays.js";
import { copyRow, picturedReplay, putReplay } from "../../support/pictured-replays.js";
import { teamId, workspaceId } from "../../support/work.js";

const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;

function world() {
  const { rows } = liveWorld();
  rows.direct(locationEntry(teamId, { workspaceId, kind: "team" }));
  const made = picturedReplay({ a: "+.", b: ".." }, { id: "rep_1" });
  putReplay(rows, made);
  return { rows, made };
}

function putRun({ rows }: ReturnType<typeof world>, id: string, owner: RunRow["owner"]): void {
  runs.insert(rows, workspaceId, { id, owner, teamId } as RunRow);
}

t.test("a copy is found by each run that was for it, also a lost one and the one of a second check", async (t) => {
  const scene = world();
  const { rows } = scene;
  const owner = { kind: "replay", id: "rep_1" } as const;
  for (const id of ["run_new", "run_lost", "run_check", "run_check_lost", "run_other"]) putRun(scene, id, owner);
  putRun(scene, "run_task", { kind: "task", id: "task_1" });
  const copy = copyRow({ replayId: "rep_1", place: 2, repeat: 1, taskId: "b" }, ".");
  replayCopies.put(rows, workspaceId, copy, { ...copy, runId: "run_new", lostRunIds: ["run_lost"] });
  replayRechecks.insert(rows, workspaceId, {
    replayId: "rep_1",
    place: 1,
    repeat: 1,
    state: "asked",
    runId: "run_check",
    check: null,
    reason: null,
    lostRunIds: ["run_check_lost"],
  });
  const toCopy = (runId: string) => {
    const found = findReplayRun(rows, caller, { teamId, runId });
    return isRefusal(found) ? found.refused : `${found.copy.originalRunId} ${found.copy.repeat} ${found.run.id}`;
  };
  t.same(["run_new", "run_lost", "run_check", "run_check_lost"].map(toCopy), [
    ...["run_b 1 run_new", "run_b 1 run_lost", "run_a 1 run_check", "run_a 1 run_check_lost"],
  ]);
  t.same(["run_other", "run_task", "run_none"].map(toCopy), ["not-found", "not-found", "not-found"]);
});

t.test("a replay is found by those who read the team's outcomes, until its set is gone", async (t) => {
  const { rows } = world();
  const find = (by: Parameters<typeof findReplay>[1], replayId = "rep_1") =>
    findReplay(rows, by, { wish: "read", teamId, replayId });
  t.match(find(caller), { replay: { id: "rep_1" }, set: { id: liveSet.id }, workspaceId });
  t.match(find(caller, "rep_2"), { refused: "not-found", detail: "Replay rep_2 not found." });
  t.match(find({ ...caller, userId: "usr_9" }), { refused: "not-found" });
  replaySets.remove(rows, workspaceId, liveSet);
  t.match(find(caller), { refused: "not-found" });
});
