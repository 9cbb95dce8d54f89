import t from "tap";
import type { Job } from "../../../actors/runners/job.js";
import { fillSet, openReplayScene, type ReplayScene } from "../../support/replay-scene.js";
import { listItems, toProblem } from "../../support/resources.js";
import { StreamReader } from "../../support/stream-reader.js";
import { until } from "../../support/until.js";

const ceiling = { amount: 10, currency: "EUR" };
const spent = { amount: 1, currency: "EUR" };
const finish = { kind: "finish", note: "" } as const;
const block = { key: "work", name: "Work", kind: "work", runners: { pool: "main" }, prompt: "Other words." };

/** Works on the job as the runner. With `fails`, the run ends with a question. */
function work({ peer }: ReplayScene, job: Job, { fails = false } = {}): void {
  const { runId, fence } = job;
  peer.start(job);
  const step = { index: 0, kind: "message", text: "Done.", tool: null, spent: null } as const;
  peer.say({ type: "run.step", runId, fence, step });
  peer.end(job, { ending: fails ? { kind: "ask", question: "Which one?" } : finish, spent });
}

async function startReplay({ ada }: ReplayScene, set: string, candidate: string, repeats = 1): Promise<string> {
  const started = await ada.request("POST", `${set}/replays`, { candidate, ceiling, repeats });
  if (started.status !== 201) throw new Error(started.text);
  return String(started.body?.id);
}

async function propose({ ada, lineId }: ReplayScene): Promise<string> {
  const candidates = `/api/resources/lines/${lineId}/stations/work/replay-candidates`;
  return String((await ada.create(candidates, { name: "Other words", station: block })).id);
}

/** Works on all jobs of a replay, and waits until the replay has finished. */
async function workReplay(place: ReplayScene, id: string, jobs: readonly { readonly fails?: boolean }[]) {
  for (const job of jobs) work(place, await place.peer.job(), job);
  const path = `${place.team}/replays/${id}`;
  await until("it has finished", async () => (await place.ada.request("GET", path)).body?.state === "finished");
}

t.test("a replay is read from its start on, and its set's health with it", async (t) => {
  const place = await openReplayScene(t);
  const { ada, team } = place;
  const { set, runIds } = await fillSet(place, 2);
  const id = await startReplay(place, set, "live", 2);
  t.match((await ada.request("GET", `${team}/replays/${id}`)).body, {
    id,
    isBaseline: true,
    baselineId: id,
    judged: false,
    probe: false,
    comparedWith: null,
    againstBaseline: null,
    candidate: { name: /^Live config/, kind: "live" },
    totals: { successRate: null, interval: null, tasksScored: 0, settled: 0, costPerRun: null, few: true },
    progress: { settled: 0, of: 4, spent: { amount: 0, currency: "EUR" }, ceiling, expectedEnd: null },
  });
  await workReplay(place, id, [{}, {}, { fails: true }, {}]);
  const { body } = await ada.request("GET", `${team}/replays/${id}`);
  t.match(body, {
    state: "finished",
    judged: true,
    pairedWith: null,
    pairsAgainstBaseline: null,
    detectableGain: null,
    search: null,
    totals: {
      successRate: 0.75,
      interval: { rate: 0.75 },
      tasks: 2,
      tasksScored: 2,
      entries: 4,
      settled: 4,
      scored: 4,
      unscored: 0,
      spent: { amount: 4, currency: "EUR" },
      costPerRun: spent,
    },
    progress: { settled: 4, of: 4, expectedEnd: null },
    entries: [
      { originalRunId: runIds[0], repeat: 1, result: "succeeded", why: null, outcome: "completed", steps: 1, spent },
      { originalRunId: runIds[0], repeat: 2, result: "failed" },
      { originalRunId: runIds[1], repeat: 1, title: "Mend it", toolMisses: 0, pair: null, secondJudge: null },
      { originalRunId: runIds[1], repeat: 2, result: "succeeded" },
    ],
    comparison: [{ baseline: { length: 0 } }, { baseline: { length: 0 } }],
  });
  t.match((await ada.request("GET", set)).body, {
    health: {
      noise: { replayId: id, repeats: 2, perRepeat: [1, 0.5], spread: 0.5, flippedTasks: { length: 1 }, tasks: 2 },
      saturation: { replayId: id, rate: 0.75, saturated: false, few: true },
      judge: null,
      checks: null,
      oracle: null,
    },
  });
});

t.test("a replay says that it waits for a runner, until one takes its runs", async (t) => {
  const place = await openReplayScene(t);
  const { ada, team, peer } = place;
  const { set } = await fillSet(place, 1);
  peer.cut();
  const id = await startReplay(place, set, "live", 2);
  const read = async () => (await ada.request("GET", `${team}/replays/${id}`)).body;
  await until("it waits for one", async () => waitsFor(await read()) !== null);
  t.match(await read(), { state: "queued", progress: { waiting: "runner", expectedEnd: null } });
  const [listed] = listItems(await ada.request("GET", `${set}/replays`));
  t.match(listed, { id, progress: { waiting: "runner" } });
  const { entries } = ((await read()) ?? {}) as { entries?: readonly { readonly runId: string }[] };
  const run = await ada.request("GET", `/api/runs/${entries?.[0]?.runId}`);
  t.match(run.body, { waiting: { reason: /No runner of pool main is connected\.$/ } }, "the run says why");
  const another = await place.runner();
  work({ ...place, peer: another }, await another.job());
  await another.job();
  t.match(await read(), { state: "running", progress: { waiting: null } });
});

function waitsFor(body: Readonly<Record<string, unknown>> | null): unknown {
  return (body?.progress as { waiting?: unknown } | undefined)?.waiting ?? null;
}

t.test("a candidate is compared with the baseline that started beside it", async (t) => {
  const place = await openReplayScene(t);
  const { ada, team } = place;
  const { set } = await fillSet(place, 1);
  const id = await startReplay(place, set, await propose(place));
  for (let n = 0; n < 2; n++) {
    const job = await place.peer.job();
    work(place, job, { fails: job.station.prompt !== "Other words." });
  }
  await until("both have finished", async () => {
    const found = listItems(await ada.request("GET", `${set}/replays`));
    return found.length === 2 && found.every(({ state }) => state === "finished");
  });
  const listed = await ada.request("GET", `${set}/replays`);
  const [newest, oldest] = listItems(listed);
  t.equal(listItems(listed).length, 2);
  const baseline = listItems(listed).find(({ isBaseline }) => isBaseline === true);
  t.not(baseline?.id, id);
  const { body } = await ada.request("GET", `${team}/replays/${id}`);
  t.match(body, {
    baselineId: baseline?.id,
    isBaseline: false,
    pairedWith: baseline?.id,
    comparedWith: { replayId: baseline?.id, successRate: 0, tasks: 1, few: true },
    againstBaseline: { gain: 1, verdict: "better", tasks: 1, few: true, otherScoring: false },
    comparison: [
      {
        title: "Mend it",
        candidateSuccess: 1,
        candidateScored: 1,
        baselineSuccess: 0,
        baselineScored: 1,
        costDelta: 0,
        regressed: false,
        candidate: [{ result: "succeeded" }],
        baseline: [{ result: "failed" }],
      },
    ],
  });
  const inList = listItems(listed).find((one) => one.id === id);
  t.match(inList, { totals: body?.totals, againstBaseline: body?.againstBaseline, entries: { length: 1 } });
  t.notOk("comparison" in (inList ?? {}));

  const first = await ada.request("GET", `${set}/replays?limit=1`);
  t.match([listItems(first).length, first.body?.next], [1, newest?.id]);
  const next = await ada.request("GET", `${set}/replays?limit=1&before=${newest?.id}`);
  t.match([listItems(next)[0]?.id, next.body?.next], [oldest?.id, null]);

  const candidates = await ada.request("GET", `${team}/replayed-candidates?period=7d`);
  t.match(candidates.body, {
    period: { name: "7d" },
    truncated: false,
    items: [{ set: { name: "Hard ones" }, baseline: { id: baseline?.id }, replays: [{ id, totals: body?.totals }] }],
  });
  t.equal(listItems(candidates).length, 1);
  const refused = await ada.request("GET", `${team}/replayed-candidates?period=8d`);
  t.match([refused.status, toProblem(refused).errors], [422, [{ message: "Period must be 7d, 30d or 90d." }]]);
});

t.test("a run of a replay leads to its replay, the run that it repeats, its steps and its config", async (t) => {
  const place = await openReplayScene(t);
  const { ada, team, service } = place;
  const { set, runIds } = await fillSet(place, 1);
  const id = await startReplay(place, set, await propose(place));
  const jobs: Job[] = [];
  for (let n = 0; n < 2; n++) {
    const next = await place.peer.job();
    jobs.push(next);
    work(place, next);
  }
  const job = jobs.find(({ station }) => station.prompt === "Other words.");
  const path = `${team}/replay-runs/${job?.runId}`;
  await until("it has settled", async () => {
    const { body } = await ada.request("GET", `${path}/replay`);
    return (body?.result as { readonly result?: unknown } | undefined)?.result === "succeeded";
  });
  t.match((await ada.request("GET", path)).body, {
    id: job?.runId,
    replayId: id,
    originalRunId: runIds[0],
    title: "Mend it",
    repeat: 1,
    state: "ended",
    outcome: "completed",
    spent,
    stepCount: 1,
    steps: [{ index: 0, text: "Done.", from: "agent" }],
  });
  t.match((await ada.request("GET", `${path}?after=0`)).body, { stepCount: 1, steps: { length: 0 } });
  t.match((await ada.request("GET", `${path}/replay`)).body, {
    replay: { id },
    candidate: { name: "Other words", kind: "proposed" },
    set: { name: "Hard ones" },
    search: null,
    result: { runId: job?.runId, originalRunId: runIds[0], result: "succeeded" },
  });
  t.match((await ada.request("GET", `${team}/runs/${job?.runId}/config`)).body, {
    runId: job?.runId,
    station: { prompt: "Other words." },
    repositories: [{ name: "acme/app" }],
    skills: { length: 0 },
  });
  const stranger = await service.signIn("mallory@example.com");
  for (const read of [path, `${path}/replay`, `${team}/runs/${job?.runId}/config`, `${team}/replays/${id}`]) {
    t.equal((await stranger.request("GET", read)).status, 404, read);
  }
  const ofTask = await ada.request("GET", `${team}/replay-runs/${runIds[0]}`);
  t.equal(ofTask.status, 404, "a run of a task is no run of a replay");
  const none = await ada.request("GET", `${team}/replays/rep_none`);
  t.match([none.status, toProblem(none).detail], [404, "Replay rep_none not found."]);
});

interface Followed {
  replay: Record<string, unknown>;
  totals: unknown;
  copies: Record<string, unknown>[];
}

t.test("a replay is followed copy by copy, and its set with its replays and its health", async (t) => {
  const place = await openReplayScene(t);
  const { ada, service } = place;
  const { set } = await fillSet(place, 2);
  const [reader, late] = [await StreamReader.open(ada), await StreamReader.open(ada)];
  const stranger = await StreamReader.open(await service.signIn("mallory@example.com"));
  t.teardown(() => [reader, late, stranger].map((one) => one.end()));
  reader.subscribe(`replay-set/${set.split("/").at(-1)}`);
  await reader.until(({ kind }) => kind === "snapshot");
  const id = await startReplay(place, set, "live");
  const topic = `replay/${id}`;
  reader.subscribe(topic);
  stranger.subscribe(topic);
  t.match(await stranger.until(() => true), { kind: "error" });
  const snapshot = await reader.until((message) => message.topic === topic);
  const followed = structuredClone(snapshot.data) as unknown as Followed;
  t.match(followed, { replay: { id }, totals: { scored: 0 } });
  await workReplay(place, id, [{}, {}]);
  await reader.until(({ data }) => (data.replay as Record<string, unknown> | undefined)?.state === "finished");
  await reader.until(({ data }) => (data.totals as Record<string, unknown> | undefined)?.scored === 2);
  for (const message of reader.messages.filter((one) => one.topic === topic && one.kind === "change")) {
    t.ok(JSON.stringify(message).length < 4_096, "a change is short");
    apply(followed, message.data);
  }
  late.subscribe(topic);
  t.same(followed, (await late.until(() => true)).data, "changes lead to what a fresh snapshot shows");

  const ofSet = reader.messages.filter((one) => one.topic.startsWith("replay-set/") && one.kind === "change");
  t.match(ofSet.at(0)?.data, { type: "replay", replay: { id, candidate: { kind: "live" }, state: "queued" } });
  t.ok(ofSet.some(({ data }) => data.type === "health"));

  t.equal((await ada.request("DELETE", set)).status, 204);
  t.match(await reader.until((message) => message.topic === topic && message.kind === "error"), { topic });
  t.equal((await ada.request("GET", `${place.team}/replays/${id}`)).status, 404, "it is gone with its set");
});

/** Applies a change as `docs/streams.md` specifies. */
function apply(followed: Followed, change: Readonly<Record<string, unknown>>): void {
  if (change.type === "replay") followed.replay = { ...followed.replay, ...(change.replay as object) };
  if (change.type !== "copy") return;
  const copy = change.copy as Record<string, unknown>;
  const at = followed.copies.findIndex(
    ({ originalRunId, repeat }) => originalRunId === copy.originalRunId && repeat === copy.repeat,
  );
  if (at >= 0) followed.copies[at] = copy;
  else followed.copies.push(copy);
  if (change.totals !== undefined) followed.totals = change.totals;
}
