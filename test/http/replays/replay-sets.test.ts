import t from "tap";
import { openReplayScene, openSet, sceneLine, workTask } from "../../support/replay-scene.js";
import { bearer, listItems, replace, toProblem } from "../../support/resources.js";

t.test("a set is opened, filled, read and deleted", async (t) => {
  const place = await openReplayScene(t);
  const { ada, station, stationId, lineId, team } = place;
  const { taskId, runId } = await workTask(place);
  const set = await openSet(place, "  Hard ones ");
  t.match(listItems(await ada.request("GET", `${station}/replayable-runs`)), [
    {
      runId,
      taskId,
      title: "Mend it",
      replayable: true,
      refusal: null,
      outcome: "accepted",
      origin: "person",
      inSet: [],
    },
  ]);
  t.equal((await ada.request("POST", `${set}/entries`, { runId })).status, 204);
  const read = await ada.request("GET", set);
  t.match(read.body, {
    name: "Hard ones",
    lineId,
    stationId,
    stationKey: "work",
    version: 2,
    stationLeft: false,
    guardsChanges: false,
    minGain: 0.05,
    entries: [
      { runId, taskId, title: "Mend it", replayable: true, refusal: null, archive: "pending", outcome: "accepted" },
    ],
    health: { noise: null, saturation: null, judge: null, checks: null, oracle: null },
  });
  t.match(read.body?.composition, {
    outcomes: [
      { outcome: "accepted", count: 1 },
      { outcome: "sent-back", count: 0 },
      { outcome: "asked", count: 0 },
      { outcome: "failed", count: 0 },
      { outcome: "other", count: 0 },
    ],
    origins: [{ origin: "person", count: 1 }],
    balanceWarning: null,
  });
  for (const list of [
    `${team}/replay-sets`,
    `${station}/replay-sets`,
    `${team}/replay-sets?line=${lineId}&station=work`,
  ]) {
    t.same(listItems(await ada.request("GET", list)), [read.body], list);
  }
  t.same(listItems(await ada.request("GET", `${team}/replay-sets?line=${lineId}&station=review`)), []);
  const inSet = [{ id: read.body?.id, name: "Hard ones" }];
  t.match(listItems(await ada.request("GET", `${station}/replayable-runs`)), [{ runId, inSet }]);
  t.same(listItems(await ada.request("GET", `${set}/suggestions`)), [], "what is in the set is not suggested");

  t.equal((await ada.request("PATCH", set, { name: "Easy ones" })).status, 204);
  t.equal((await ada.request("DELETE", `${set}/entries/${runId}`)).status, 204);
  t.match((await ada.request("GET", set)).body, { name: "Easy ones", version: 3, entries: { length: 0 } });
  t.match(listItems(await ada.request("GET", `${set}/suggestions`)), [{ runId, outcome: "accepted" }]);
  t.equal((await ada.request("DELETE", set)).status, 204);
  t.equal((await ada.request("GET", set)).status, 404);
  t.same(listItems(await ada.request("GET", `${team}/replay-sets`)), []);
});

t.test("what a set does not take is refused by its message", async (t) => {
  const place = await openReplayScene(t);
  const { ada, service, workspaceId, station, team, lineId, reviewId, stationId } = place;
  const ended = await workTask(place);
  const unknownBase = await workTask(place, { base: null });
  const waiting = await place.open();
  const waitingRun = String((await place.runs(waiting))[0]?.id);
  const set = await openSet(place);
  const guarded = await openSet(place, "Guard");
  await ada.request("POST", `${set}/entries`, { runId: ended.runId });
  await ada.request("POST", `${guarded}/guards-changes`);
  const none = `${team}/replay-sets/rset_none`;
  const reviewing = `${team}/lines/${lineId}/stations/${reviewId}`;
  const tooLong = "x".repeat(101);
  const nameFault = [{ path: "name", message: "Replay set name must be 1 to 100 characters." }];
  const hiddenFault = [{ path: "name", message: "Replay set name cannot contain control characters." }];
  const apart = "Line and station must be given together.";
  const rows: readonly (readonly [method: string, path: string, body: unknown, status: number, expected: unknown])[] = [
    ["POST", `${station}/replay-sets`, { name: " " }, 422, { errors: nameFault }],
    ["POST", `${station}/replay-sets`, { name: tooLong }, 422, { errors: nameFault }],
    ["PATCH", set, { name: tooLong }, 422, { errors: nameFault }],
    ["POST", `${station}/replay-sets`, { name: "a\u0007b" }, 422, { errors: hiddenFault }],
    ["PATCH", set, { name: "a\u2060b" }, 422, { errors: hiddenFault }],
    ["POST", `${reviewing}/replay-sets`, { name: "x" }, 422, { detail: "A replay set requires a work station." }],
    [
      "POST",
      `${team}/lines/line_no/stations/sta_no/replay-sets`,
      { name: "x" },
      404,
      { detail: "Line line_no not found." },
    ],
    [
      "GET",
      `${team}/lines/${lineId}/stations/sta_no/replay-sets`,
      undefined,
      404,
      { detail: "Station sta_no not found." },
    ],
    [
      "GET",
      `${team}/lines/${lineId}/stations/sta_no/replayable-runs`,
      undefined,
      404,
      { detail: "Station sta_no not found." },
    ],
    [
      "GET",
      `${team}/lines/${lineId}/stations/work/replayable-runs`,
      undefined,
      404,
      { detail: "Station work not found. That is the key of a station of the line. Send the station's id." },
    ],
    ["GET", `${team}/replay-sets?line=${lineId}`, undefined, 422, { errors: [{ path: "station", message: apart }] }],
    ["GET", `${team}/replay-sets?station=work`, undefined, 422, { errors: [{ path: "line", message: apart }] }],
    ["GET", `${team}/replay-sets?line=${lineId}&station=no`, undefined, 404, { detail: "Station no not found." }],
    ["GET", `${team}/replay-sets?line=line_no&station=work`, undefined, 404, { detail: "Line line_no not found." }],
    ["GET", none, undefined, 404, { detail: "Replay set rset_none not found." }],
    ["DELETE", none, undefined, 404, { detail: "Replay set rset_none not found." }],
    ["PATCH", none, { name: "x" }, 404, { detail: "Replay set rset_none not found." }],
    ["PATCH", none, { junk: 1 }, 404, { detail: "Replay set rset_none not found." }],
    ["POST", `${none}/entries`, { junk: 1 }, 404, { detail: "Replay set rset_none not found." }],
    ["POST", `${none}/replays`, { junk: 1 }, 404, { detail: "Replay set rset_none not found." }],
    [
      "POST",
      `${team}/lines/line_no/stations/sta_no/replay-sets`,
      { junk: 1 },
      404,
      { detail: "Line line_no not found." },
    ],
    ["GET", `${none}/suggestions`, undefined, 404, { detail: "Replay set rset_none not found." }],
    ["POST", `${none}/guards-changes`, undefined, 404, { detail: "Replay set rset_none not found." }],
    ["POST", `${none}/entries`, { runId: ended.runId }, 404, { detail: "Replay set rset_none not found." }],
    ["POST", `${set}/entries`, { runId: "run_no" }, 404, { detail: "Run run_no not found." }],
    [
      "DELETE",
      `${set}/entries/run_no`,
      undefined,
      404,
      { detail: "This resource does not exist, or you do not have access to it." },
    ],
    ["POST", `${set}/entries`, { runId: ended.runId }, 409, { detail: "The run is already in the set." }],
    ["POST", `${set}/entries`, { runId: waitingRun }, 409, { detail: "The run has not ended." }],
    ["POST", `${set}/entries`, { runIds: [ended.runId, "run_no"] }, 404, { detail: "Run run_no not found." }],
    [
      "POST",
      `${set}/entries`,
      { runIds: [waitingRun, ended.runId] },
      409,
      { detail: `${waitingRun}: The run has not ended. ${ended.runId}: The run is already in the set.` },
    ],
    ...(
      [
        [{}, "runId", "is required"],
        [{ runId: "run_1", runIds: ["run_2"] }, "runIds", "is not a field here"],
        [{ runIds: [] }, "runIds", "must not be empty"],
        [{ runIds: "run_1" }, "runIds", "must be a list"],
        [{ runIds: ["run_1", 5] }, "runIds[1]", "must be text"],
        [{ runIds: ["run_1", "run_1"] }, "runIds", "must name each run once"],
        [{ runIds: Array.from({ length: 51 }, (_, n) => `run_${n}`) }, "runIds", "must be at most 50 runs"],
      ] as const
    ).map(([body, path, message]) => ["POST", `${set}/entries`, body, 422, { errors: [{ path, message }] }] as const),
    [
      "POST",
      `${set}/entries`,
      { runId: unknownBase.runId },
      409,
      { detail: "The commit that the run started from is unknown." },
    ],
    [
      "POST",
      `${set}/guards-changes`,
      undefined,
      409,
      { detail: /^The replay set "Guard" already guards changes to the station/ },
    ],
  ];
  for (const [method, path, body, status, expected] of rows) {
    const reply = await ada.request(method, path, body);
    t.equal(reply.status, status, `${method} ${path}`);
    t.match(reply.body, expected, `${method} ${path}`);
  }
  t.match(listItems(await ada.request("GET", `${station}/replayable-runs`)), [
    { runId: unknownBase.runId, replayable: false, refusal: { code: "no-base" } },
    { runId: ended.runId, replayable: true, refusal: null },
  ]);
  t.same(listItems(await ada.request("GET", `${set}/suggestions`)), [], "what cannot be repeated is not suggested");

  const reader = await bearer(service, ada, { workspaceId, name: "reader", scopes: ["read"] });
  t.equal((await reader.request("GET", set)).status, 200);
  const forbidden = await reader.request("POST", `${set}/guards-changes`);
  t.match([forbidden.status, forbidden.body], [403, { title: "Not allowed to plan", permission: "plan" }]);
  const planner = await bearer(service, ada, { workspaceId, name: "planner", scopes: ["plan"] });
  const key = { "idempotency-key": "one" };
  const opened = await planner.request("POST", `${station}/replay-sets`, { name: "By a token" }, key);
  const again = await planner.request("POST", `${station}/replay-sets`, { name: "By a token" }, key);
  t.same([again.status, again.body, again.headers["idempotent-replayed"]], [201, opened.body, "true"]);
  t.not(stationId, "");
});

t.test("a station's changes are guarded by one set, and marks are in the change log", async (t) => {
  const place = await openReplayScene(t);
  const { ada } = place;
  const [one, other] = [await openSet(place, "One"), await openSet(place, "Other")];
  const mark = (method: string, set: string) => ada.request(method, `${set}/guards-changes`);
  t.equal((await mark("POST", one)).status, 204);
  t.equal((await mark("POST", one)).status, 204, "it does already");
  t.match((await ada.request("GET", one)).body, { guardsChanges: true, version: 1 });
  t.equal((await mark("POST", other)).status, 409);
  t.equal((await mark("DELETE", other)).status, 204, "it does not");
  t.equal((await mark("DELETE", one)).status, 204);
  t.equal((await mark("POST", other)).status, 204);
  t.equal((await ada.request("DELETE", other)).status, 204, "it guards no more");
  t.equal((await ada.request("DELETE", one)).status, 204, "it did not");
  const changes = listItems(await ada.request("GET", "/api/workspaces/acme/configuration-changes?limit=5"));
  const ofSets = changes.filter(({ resource }) => resource === "replay-set");
  const findId = (set: string) => set.split("/").at(-1);
  t.match(ofSets, [
    { action: "updated", resourceId: findId(other), details: { guardsChanges: false }, by: { kind: "person" } },
    { action: "updated", resourceId: findId(other), details: { guardsChanges: true }, by: { kind: "person" } },
    { action: "updated", resourceId: findId(one), details: { guardsChanges: false } },
    { action: "updated", resourceId: findId(one), details: { guardsChanges: true } },
  ]);
  t.equal(ofSets.length, 4);
});

t.test("a set whose station left its line can be renamed, emptied and deleted, and goes with its team", async (t) => {
  const place = await openReplayScene(t);
  const { ada, lineId, team, station } = place;
  const { runId } = await workTask(place);
  const second = await workTask(place);
  const set = await openSet(place);
  t.equal((await ada.request("POST", `${set}/entries`, { runId })).status, 204);
  const { stations } = sceneLine;
  const path = `/api/resources/lines/${lineId}`;
  const replayCheck = { mostRegressions: 0, ceiling: 10, currency: "EUR", minGain: 0.2 };
  t.equal((await replace(ada, path, 1, { ...sceneLine, stations, replayCheck })).status, 200);
  t.match((await ada.request("GET", set)).body, { stationLeft: false, minGain: 0.2 });
  t.equal((await replace(ada, path, 2, { ...sceneLine, stations: stations.slice(1), replayCheck })).status, 200);
  t.equal((await ada.request("GET", `${station}/replay-sets`)).status, 404);
  t.match(listItems(await ada.request("GET", `${team}/replay-sets`)), [{ stationLeft: true, stationKey: "work" }]);
  for (const [end, body] of [
    ["entries", { runId: second.runId }],
    ["guards-changes", undefined],
  ] as const) {
    const refused = await ada.request("POST", `${set}/${end}`, body);
    t.match(
      [refused.status, toProblem(refused).detail],
      [409, /^The station of the replay set was removed from its line/],
      end,
    );
  }
  t.equal((await ada.request("PATCH", set, { name: "Left" })).status, 204);
  t.equal((await ada.request("DELETE", `${set}/entries/${runId}`)).status, 204);
  t.equal((await ada.request("DELETE", set)).status, 204);
});
