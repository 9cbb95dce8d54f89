import t from "tap";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import { isPlanned, openCheckScene, plannedStation, workCopies } from "../../support/check-scene.js";
import { workTask } from "../../support/replay-scene.js";
import { listItems, remove } from "../../support/resources.js";
import { StreamReader } from "../../support/stream-reader.js";
import { until } from "../../support/until.js";

t.test("a planned change is checked beside the live config, and passes when nothing regressed", async (t) => {
  const place = await openCheckScene(t);
  const { ada, team, lineId, stationId, teamId, setId, check, plan } = place;
  const body = plan({ reference: { commit: "3f9c2ab4d5e6", pullRequest: 17 }, repeats: 2 });
  const started = await check(body, "one");
  t.equal(started.status, 201, started.text);
  const { id, replayId, baselineReplayId, candidateId } = started.body ?? {};
  t.match(started.body, {
    teamId,
    lineId,
    stationId,
    stationKey: "work",
    setId,
    setName: "Hard ones",
    setVersion: 3,
    attempt: 1,
    reference: { commit: "3f9c2ab4d5e6", pullRequest: 17 },
    keptLive: { length: 0 },
    repeats: 2,
    gain: null,
    verdict: "running",
    undecidedBecause: null,
    tasks: 2,
    compared: 0,
    regressions: { length: 0 },
    reused: false,
    threshold: {
      mostRegressions: 0,
      minGain: 0.05,
      ceiling: { amount: 10, currency: "EUR" },
      unpricedRun: { amount: 2.5, currency: "EUR" },
    },
    candidate: {
      state: /^(queued|running)$/,
      entries: 4,
      scored: 0,
      succeeded: 0,
      successRate: null,
      spent: { amount: 0 },
    },
    baseline: { entries: 4, scored: 0 },
    warnings: [{ kind: "false-failure", chance: null }],
    replayUrl: null,
    decidedAt: null,
  });
  t.not(started.body?.liveFingerprint, started.body?.candidateFingerprint);
  t.match(await ada.request("GET", `${team}/replays/${replayId}`), {
    body: {
      candidate: { id: candidateId, name: "Planned change, PR #17", kind: "planned" },
      repeats: 2,
      probe: false,
      pairedWith: baselineReplayId,
      ceiling: { amount: 10, currency: "EUR" },
    },
  });
  t.match(await ada.request("GET", `${team}/replays/${baselineReplayId}`), {
    body: { candidate: { kind: "live" }, repeats: 2, probe: false, isBaseline: true },
  });
  t.equal((await ada.request("GET", `/api/resources/replay-candidates/${candidateId}`)).status, 404);
  const withdrawn = await ada.request("DELETE", `/api/resources/replay-candidates/${candidateId}`, undefined, {
    "if-match": '"1"',
  });
  t.match([withdrawn.status, withdrawn.body], [409, { type: "urn:service:problem:in-use" }]);

  const again = await check(body, "one");
  t.same([again.status, again.body?.id, again.headers["idempotent-replayed"]], [201, id, "true"]);
  t.equal((await check(plan(), "one")).status, 422, "the key was used for another body");
  const reused = await check(body);
  t.match([reused.status, reused.body], [200, { id, reused: true }]);
  t.notOk(reused.headers["idempotent-replayed"]);

  const reader = await StreamReader.open(ada);
  t.teardown(() => reader.end());
  reader.subscribe(`replay-check/${id}`);
  t.match(await reader.until(() => true), { kind: "snapshot", data: { id, verdict: "running" } });
  await workCopies(place, 8);
  const passed = await place.untilVerdict(id, "passed");
  t.match(passed, {
    compared: 2,
    regressions: { length: 0 },
    reused: false,
    gain: { gain: 0, verdict: "within-noise", tasks: 2 },
    candidate: { state: "finished", scored: 4, succeeded: 4, successRate: 1, tasksScored: 2, spent: { amount: 4 } },
    baseline: { state: "finished", succeeded: 4 },
    decidedAt: /Z$/,
  });
  const decided = await reader.until(({ data }) => JSON.stringify(data).includes("passed"));
  t.match(decided.data, { type: "replay-check", check: { id, verdict: "passed" } });
  t.match(listItems(await ada.request("GET", "/api/workspaces/acme/configuration-changes?limit=1")), [
    { resource: "replay-check", resourceId: id, key: id, action: "created", details: { setId, replayId, attempt: 1 } },
  ]);
  const later = await check(body);
  t.match([later.status, later.body?.id], [200, id], "a passed check holds");
});

t.test("a change that does worse fails as soon as it is known, with what regressed and why", async (t) => {
  const place = await openCheckScene(t);
  const { check, plan } = place;
  const { body } = await check(plan({ reference: { commit: "3f9c2ab4d5e6" } }));
  await workCopies(place, 3, isPlanned);
  const failed = await place.untilVerdict(body?.id, "failed");
  const states = [failed.candidate, failed.baseline].map((side) => (side as { readonly state: string }).state);
  t.ok(states.includes("running"), "while a replay goes on");
  await workCopies(place, 1, isPlanned);
  await place.until(async () => (await place.readCheck(body?.id)).compared === 2);
  t.match(await place.readCheck(body?.id), {
    verdict: "failed",
    gain: { gain: -1 },
    regressions: [
      {
        title: "Mend it",
        candidate: ["failed"],
        baseline: ["succeeded"],
        scoreDelta: -1,
        reasons: [{ code: "harness-failed", detail: "It gave up." }],
      },
      { candidate: ["failed"] },
    ],
  });
  const reused = await check(plan());
  t.match([reused.status, reused.body?.verdict], [200, "failed"], "a failed check holds");
});

t.test("the names of candidates, and the fields that stay as they are live", async (t) => {
  const place = await openCheckScene(t, { runs: 1 });
  const { ada, team, check, plan } = place;
  const readName = async (replayId: unknown) => {
    const { body } = await ada.request("GET", `${team}/replays/${replayId}`);
    return (body as { readonly candidate: { readonly name: string } }).candidate.name;
  };
  const station = { ...plannedStation, runners: { pool: "main", labels: ["big"] }, check: "npm test", diffs: true };
  const first = await check(plan({ station: { ...station, judge: { rubric: "Is it good?" } } }));
  t.same(first.body?.keptLive, ["check", "judge", "diffs", "runners"]);
  t.match(await readName(first.body?.replayId), /^Planned change, \d{4}-\d\d-\d\d$/);
  const named = { reference: { commit: "3F9c2ab4d5e6" }, repeats: 2 };
  const second = await check(plan(named));
  t.match(
    [second.status, second.body],
    [201, { attempt: 2, keptLive: { length: 0 } }],
    "the same change with other repeats",
  );
  t.equal(await readName(second.body?.replayId), "Planned change, 3F9c2ab");
  t.not(second.body?.baselineReplayId, first.body?.baselineReplayId, "with fewer copies than it needs");
  const third = await check(plan({ station: { ...plannedStation, prompt: "Otherwise." }, repeats: 2 }));
  t.match([third.status, third.body], [201, { attempt: 1, baselineReplayId: second.body?.baselineReplayId }]);
  const list = await ada.request("GET", `${place.set}/replay-checks`);
  t.match(listItems(list), [
    { id: third.body?.id, verdict: "running", regressions: 0, attempt: 1, replayUrl: null },
    { id: second.body?.id, reference: { commit: "3F9c2ab4d5e6", pullRequest: null }, stationKey: "work" },
    { id: first.body?.id },
  ]);
  const page = await ada.request("GET", `${place.set}/replay-checks?limit=1&before=${second.body?.id}`);
  t.same(
    listItems(page).map(({ id }) => id),
    [first.body?.id],
  );
  const none = await ada.request("GET", `${place.set}/replay-checks?before=check_none`);
  t.same([none.status, listItems(none)], [200, []]);
});

t.test("planned repositories and setup are what the candidate runs under", async (t) => {
  const place = await openCheckScene(t, { runs: 1 });
  const { check, plan } = place;
  const { station } = plan() as { station: { prompt?: string } };
  const line = { repositories: [{ name: "acme/app", setup: "npm ci" }] };
  const { prompt: _prompt, ...same } = station;
  const started = await check(plan({ station: same, line }));
  t.equal(started.status, 201, started.text);
  const setups: unknown[] = [];
  for (let n = 0; n < 2; n++) {
    const job = await place.peer.job();
    setups.push(job.checkouts.map(({ setup }) => setup));
    place.peer.start(job);
    place.peer.end(job, { ending: { kind: "finish", note: "" } });
  }
  t.same(setups.sort(), [["npm ci"], [null]].sort());
  await place.untilVerdict(started.body?.id, "passed");
});

t.test("a check starts two replays at most: none with the answer follows its baseline", async (t) => {
  const station = { check: "make" };
  const place = await openCheckScene(t, { runs: 0, station });
  const { ada, set, peer } = place;
  const { runId } = await workTask(place, { diff: "diff --git a/a b/a\n+better\n" });
  await ada.request("POST", `${set}/entries`, { runId });
  const { body } = await place.check(place.plan());
  const finish = async () => {
    const job = await peer.job();
    peer.start(job);
    peer.end(job, { ending: { kind: "finish", note: "" }, check: { passed: true, exitCode: 0, output: "" } });
  };
  for (let n = 0; n < 2; n++) await finish();
  await place.untilVerdict(body?.id, "passed");
  await ada.request("PATCH", set, { name: "Heard" });
  const kinds = async () => listItems(await ada.request("GET", `${set}/replays`)).map((replay) => toKind(replay));
  t.same(await kinds(), ["planned", "live"]);
  await ada.request("POST", `${set}/replays`, { candidate: "live", ceiling: { amount: 1, currency: "EUR" } });
  await finish();
  await until("one follows a person's", async () => (await kinds()).length === 4);
  t.same(await kinds(), ["with-answer", "live", "planned", "live"]);
});

function toKind(replay: Readonly<Record<string, unknown>>): unknown {
  return (replay.candidate as { readonly kind: string }).kind;
}

t.test("a team with a check under way is in use; deleted, it has no checks to read", async (t) => {
  const place = await openCheckScene(t, { runs: 1 });
  const { ada, team, teamId, lineId, service, workspaceId } = place;
  const { body } = await place.check(place.plan());
  t.equal((await remove(ada, `/api/resources/lines/${lineId}`, 2)).status, 204);
  const removeTeam = () => remove(ada, `/api/resources/teams/${teamId}`, 1);
  t.match(await removeTeam(), {
    status: 409,
    body: { type: "urn:service:problem:in-use", detail: /replays under way: 2/ },
  });
  for (const id of [body?.replayId, body?.baselineReplayId]) await ada.request("POST", `${team}/replays/${id}/stop`);
  t.match(await place.untilVerdict(body?.id, "undecided"), { undecidedBecause: "stopped" });
  t.equal((await removeTeam()).status, 204);
  t.equal((await ada.request("GET", `${team}/replay-checks/${body?.id}`)).status, 404);
  const { reading } = service.runtime;
  await until("its replays are gone", () => replays.list(reading, workspaceId).length === 0);
});

t.test("a planned block that omits where it passes tasks is replayed with the live station's", async (t) => {
  const place = await openCheckScene(t, { runs: 1, station: { passesTo: ["review"] } });
  const started = await place.check(place.plan({ station: plannedStation }));
  t.equal(started.status, 201, started.text);
  const passes: unknown[] = [];
  for (let n = 0; n < 2; n++) {
    const job = await place.peer.job();
    passes.push([isPlanned(job), job.station.passesTo, job.station.next]);
    place.peer.start(job);
    place.peer.end(job, { ending: { kind: "finish", note: "" } });
  }
  t.same(passes.sort(), [
    [false, ["review"], ["review"]],
    [true, ["review"], ["review"]],
  ]);
});
