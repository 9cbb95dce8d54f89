import t from "tap";
import type { ReplayRow } from "../../../actors/replays/replay/replay.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import { getReplayInput } from "../../../actors/replays/replay/replay-input.table.js";
import type { Job } from "../../../actors/runners/job.js";
import { openReplayScene, openSet, type ReplayScene, sceneLine, workTask } from "../../support/replay-scene.js";
import { replace } from "../../support/resources.js";
import { until } from "../../support/until.js";

const ceiling = { amount: 10, currency: "EUR" };
const diff = "diff --git a/a b/a\n+better\n";
const asks = { ending: { kind: "ask", question: "Which?" } } as const;

/** Returns the team's replays, oldest first. */
function listReplays({ service, workspaceId, teamId }: ReplayScene): readonly ReplayRow[] {
  return replays.all(service.runtime.reading, workspaceId, { teamId }).toReversed();
}

/**
 * Opens a set with an accepted run and a run that ended with a question. Returns the set's path and the accepted run's
 * id.
 */
async function fillSet(place: ReplayScene): Promise<{ readonly set: string; readonly accepted: string }> {
  const set = await openSet(place);
  const works = [await workTask(place, { diff }), await workTask(place, asks)];
  for (const { runId } of works) await place.ada.request("POST", `${set}/entries`, { runId });
  return { set, accepted: works[0]?.runId ?? "" };
}

async function start({ ada }: ReplayScene, set: string, body: object = {}) {
  const started = await ada.request("POST", `${set}/replays`, { candidate: "live", ceiling, ...body });
  if (started.status !== 201) throw new Error(started.text);
  return started.body ?? {};
}

function work({ peer }: ReplayScene, job: Job, amount = 1): void {
  peer.start(job);
  const check = { passed: true, exitCode: 0, output: "" };
  peer.end(job, { ending: { kind: "finish", note: "" }, check, spent: { amount, currency: "EUR" } });
}

/** Resolves once the team's sets have processed all messages sent to them. */
async function setsHeard({ ada }: ReplayScene, set: string): Promise<void> {
  await ada.request("PATCH", set, { name: "Heard" });
}

t.test("after a live replay of the whole set its runs are told the answer, and repeated as often", async (t) => {
  const place = await openReplayScene(t, { check: "make" });
  const { set, accepted } = await fillSet(place);
  const started = await start(place, set, { repeats: 2 });
  t.same(started.oracle, { ceiling });
  for (let n = 0; n < 4; n++) {
    const job = await place.peer.job();
    t.notMatch(job.station.prompt, /The answer/);
    work(place, job);
  }
  for (let n = 0; n < 2; n++) {
    const job = await place.peer.job();
    t.match(job, { station: { prompt: /# The answer[\s\S]*\+better/, check: "make" }, task: { title: "Mend it" } });
    work(place, job);
  }
  await until("it has finished", () => listReplays(place).every(({ state }) => state === "finished"));
  const [live, oracle, ...others] = listReplays(place);
  t.same(others, [], "none follows one with the answer");
  t.match(oracle, {
    candidate: { name: "With the answer Live config", kind: "with-answer" },
    answers: live?.id,
    repeats: 2,
    runs: 1,
    ceiling,
    pairedWith: null,
    probe: false,
    fingerprint: live?.fingerprint,
    counts: { settled: 2, succeeded: 2 },
  });
  const { reading } = place.service.runtime;
  const { entries } = getReplayInput(reading, place.workspaceId, oracle?.id ?? "");
  t.same(
    entries.map(({ runId }) => runId),
    [accepted],
    "what asked a person has no answer",
  );
  const { body } = await place.ada.request("GET", set);
  t.match(body?.health, {
    oracle: {
      replayId: oracle?.id,
      candidateId: oracle?.candidate.id,
      repeats: 2,
      state: "finished",
      againstReplayId: live?.id,
      againstState: "finished",
      answered: 1,
      live: 1,
      withAnswer: 1,
      gain: { gain: 0, verdict: "within-noise", tasks: 1 },
      roomToImprove: null,
    },
  });
  const read = await place.ada.request("GET", `${place.team}/replays/${oracle?.id}`);
  t.match(read.body, { comparedWith: { replayId: live?.id, tasks: 1 }, pairedWith: null, isBaseline: false });
});

t.test("deleting the set ends it, and lets go of its runs", async (t) => {
  const place = await openReplayScene(t, { check: "make" });
  const { set } = await fillSet(place);
  await start(place, set);
  for (let n = 0; n < 2; n++) work(place, await place.peer.job());
  const job = await place.peer.job();
  t.match(job.station.prompt, /# The answer/);
  t.equal((await place.ada.request("DELETE", set)).status, 204);
  t.match(await place.peer.message("run.drop"), { runId: job.runId });
  await until("both are gone", () => listReplays(place).length === 0);
});

t.test("none follows where nothing scores, or no run has an answer", async (t) => {
  const unscored = await openReplayScene(t);
  const { set } = await fillSet(unscored);
  t.equal((await start(unscored, set)).oracle, null);
  for (let n = 0; n < 2; n++) work(unscored, await unscored.peer.job());
  await until("it has finished", () => listReplays(unscored)[0]?.state === "finished");
  await setsHeard(unscored, set);
  t.equal(listReplays(unscored).length, 1);

  const unanswered = await openReplayScene(t, { check: "make" });
  const other = await openSet(unanswered);
  await unanswered.ada.request("POST", `${other}/entries`, { runId: (await workTask(unanswered, asks)).runId });
  t.equal((await start(unanswered, other)).oracle, null);
  work(unanswered, await unanswered.peer.job());
  await until("it has finished", () => listReplays(unanswered)[0]?.state === "finished");
  await setsHeard(unanswered, other);
  t.equal(listReplays(unanswered).length, 1);
});

t.test("none follows a baseline whose start asked for none, beside a candidate too", async (t) => {
  const place = await openReplayScene(t, { check: "make" });
  const { ada, lineId, service } = place;
  const { set } = await fillSet(place);
  const started = await start(place, set, { oracle: false });
  t.equal(started.oracle, null);
  for (let n = 0; n < 2; n++) work(place, await place.peer.job());
  await until("it has finished", () => listReplays(place)[0]?.state === "finished");
  await setsHeard(place, set);
  t.equal(listReplays(place).length, 1);

  const candidates = `/api/resources/lines/${lineId}/stations/work/replay-candidates`;
  const { id } = await ada.create(candidates, { name: "Better", station: { from: "live", prompt: "Better." } });
  const other = await openSet(place);
  const runIds = getReplayInput(service.runtime.reading, place.workspaceId, String(started.id)).entries.map(
    ({ runId }) => runId,
  );
  t.equal((await ada.request("POST", `${other}/entries`, { runIds })).status, 204);
  const body = { candidate: id, ceiling, oracle: false };
  const key = { "idempotency-key": "beside" };
  const beside = await ada.request("POST", `${other}/replays`, body, key);
  t.match([beside.status, beside.body], [201, { oracle: null, baseline: { status: "starting" } }]);
  const again = await ada.request("POST", `${other}/replays`, body, key);
  t.same(again.body, beside.body);
  for (let n = 0; n < 4; n++) work(place, await place.peer.job());
  await until("they have finished", () => listReplays(place).every(({ state }) => state === "finished"));
  await setsHeard(place, other);
  t.equal(listReplays(place).length, 3);

  const wrong = await ada.request("POST", `${other}/replays`, { ...body, oracle: "no" });
  t.match([wrong.status, wrong.body], [422, { errors: [{ path: "oracle", message: "must be true or false" }] }]);
});

t.test("none follows one that ended over budget", async (t) => {
  const place = await openReplayScene(t, { check: "make" });
  const { set } = await fillSet(place);
  const least = { ...ceiling, amount: 1 };
  t.same((await start(place, set, { ceiling: least, repeats: 5 })).oracle, { ceiling: least });
  // The runner may get a second run before the replay learns about the first run.
  const working = (async () => {
    for (;;) work(place, await place.peer.job());
  })();
  await until("it is over budget", () => listReplays(place)[0]?.state === "over-budget");
  await setsHeard(place, set);
  t.equal(listReplays(place).length, 1);
  place.peer.cut();
  await t.rejects(working);
});

t.test("none follows one whose set or config changed meanwhile", async (t) => {
  const place = await openReplayScene(t, { check: "make" });
  const { ada, lineId } = place;
  const { set } = await fillSet(place);
  await start(place, set);
  work(place, await place.peer.job());
  const last = await place.peer.job();
  const { runId } = await workTaskBeside(place);
  await ada.request("POST", `${set}/entries`, { runId });
  work(place, last);
  await until("it has finished", () => listReplays(place)[0]?.state === "finished");
  await setsHeard(place, set);
  t.equal(listReplays(place).length, 1, "it was not of the whole set any more");
  await ada.request("DELETE", `${set}/entries/${runId}`);

  await start(place, set);
  work(place, await place.peer.job());
  const path = `/api/resources/lines/${lineId}`;
  const stations = [{ ...sceneLine.stations[0], prompt: "Better.", check: "make" }, sceneLine.stations[1]];
  t.equal((await replace(ada, path, 1, { ...sceneLine, stations })).status, 200);
  work(place, await place.peer.job());
  await until("it has finished", () => listReplays(place)[1]?.state === "finished");
  await setsHeard(place, set);
  t.equal(listReplays(place).length, 2);
});

/** Works on a task with a second runner, while the scene's runner has a run. */
async function workTaskBeside(place: ReplayScene): Promise<{ readonly runId: string }> {
  const peer = await place.runner({ instance: "fedcba9876543210" });
  const { runId } = await workTask({ ...place, peer }, { diff });
  peer.cut();
  return { runId };
}
