import t from "tap";
import { type CheckScene, openCheckScene, plannedStation } from "../../support/check-scene.js";
import { replace } from "../../support/resources.js";
import type { Reply } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";

const repeats = "Replay repeats must be from 1 to 5.";
const commit = "must be a commit: 7 to 64 hex digits";
const pullRequest = "must be a pull request number";
const block = "is a station block, as a line holds it";
const stranger = "must be a repository of the line as it is now";

type Fields = Readonly<Record<string, unknown>>;

/** A change of the request body, and the only error in the 422 response. */
const invalid: readonly (readonly [change: Fields, path: string, message: string | RegExp])[] = [
  [{ lineId: undefined }, "lineId", "is required"],
  [{ stationKey: undefined }, "stationKey", "is required"],
  [{ station: undefined }, "station", "is required"],
  [{ lineId: 7 }, "lineId", /must be a string|must be text/],
  [{ more: 1 }, "more", "is not a field here"],
  [{ station: 7 }, "station", block],
  [{ station: null }, "station", block],
  [{ station: [] }, "station", block],
  [{ station: { ...plannedStation, key: "other" } }, "station.key", "keeps the station's key, `work`"],
  [{ station: { ...plannedStation, harness: "none-such" } }, "station.harness", "names a harness a runner can start"],
  [{ station: { ...plannedStation, kind: "review" } }, "station.kind", /^must be work/],
  [{ station: { ...plannedStation, prompt: 7 } }, "station.prompt", /./],
  [{ station: { ...plannedStation, passesTo: ["nowhere"] } }, "station.passesTo[0]", /nowhere/],
  [{ station: { ...plannedStation, skills: ["none"] } }, "station.skills[0]", /./],
  [{ line: 7 }, "line", /./],
  [{ line: {} }, "line.repositories", "is required"],
  [{ line: { repositories: [], more: 1 } }, "line.more", "is not a field here"],
  [{ line: { repositories: [{ name: "acme/other" }] } }, "line.repositories[0].name", stranger],
  [{ line: { repositories: [{ name: "acme/app", setup: "" }] } }, "line.repositories[0].setup", "must not be empty"],
  [
    { line: { repositories: [{ name: "acme/app" }, { name: "acme/app" }] } },
    ...(["line.repositories[1].name", "stands twice"] as const),
  ],
  [
    { line: { repositories: Array.from({ length: 7 }, () => ({ name: "acme/app", setup: "x".repeat(10_000) })) } },
    ...(["line", "must be at most 64000 characters"] as const),
  ],
  [{ reference: 7 }, "reference", /./],
  [{ reference: { commit: "3f9c2a" } }, "reference.commit", commit],
  [{ reference: { commit: "3f9c2ag" } }, "reference.commit", commit],
  [{ reference: { commit: "a".repeat(65) } }, "reference.commit", commit],
  [{ reference: { commit: 7 } }, "reference.commit", commit],
  [{ reference: { pullRequest: 0 } }, "reference.pullRequest", pullRequest],
  [{ reference: { pullRequest: 1.5 } }, "reference.pullRequest", pullRequest],
  [{ reference: { pullRequest: "7" } }, "reference.pullRequest", pullRequest],
  [{ reference: { more: 1 } }, "reference.more", "is not a field here"],
  [{ repeats: 0 }, "repeats", repeats],
  [{ repeats: 6 }, "repeats", repeats],
  [{ repeats: 1.5 }, "repeats", repeats],
  [{ repeats: "two" }, "repeats", repeats],
  [{ repeats: null }, "repeats", repeats],
];

const toDetail = ({ status, body }: Reply) => [status, body?.detail];
const listPaths = ({ body }: Reply) => ((body?.errors ?? []) as { readonly path: string }[]).map(({ path }) => path);

t.test("a body that is not in its form is refused at the field, by its message", async (t) => {
  const { check, plan } = await openCheckScene(t, { runs: 1 });
  for (const [change, path, message] of invalid) {
    const reply = await check(plan(change));
    const named = JSON.stringify(change).slice(0, 100);
    t.equal(reply.status, 422, named);
    t.match((reply.body as { readonly errors?: unknown }).errors, [{ path, message }], named);
    t.equal(listPaths(reply).length, 1, named);
  }
  t.equal((await check([])).status, 422);
});

t.test("what there is not is not found, and a key is required", async (t) => {
  const { ada, team, lineId, check, plan } = await openCheckScene(t, { runs: 1 });
  t.same(toDetail(await check(plan({ lineId: "line_none" }))), [404, "Line line_none not found."]);
  t.same(toDetail(await check(plan({ stationKey: "gone" }))), [404, "Station gone not found."]);
  t.same(toDetail(await ada.request("GET", `${team}/replay-checks/check_none`)), [
    404,
    "Replay check check_none not found.",
  ]);
  const keyless = await ada.request("POST", `${team}/replay-checks`, plan());
  t.match([keyless.status, keyless.body], [400, { type: "urn:service:problem:idempotency-key-required" }]);
  const bad = await check({ lineId }, "a key");
  t.equal(bad.status, 400, "a malformed key comes before the body");
});

/** Requests a check to which all refusals apply. Then removes the cause of one refusal after another. */
t.test("each refusal comes in its order, whatever else is wrong", async (t) => {
  const place = await openCheckScene(t, { runs: 1, station: { check: "npm test" } });
  const { ada, set, check, plan, changeLine } = place;
  const wrong = { reference: { commit: "no" }, repeats: 9 };
  const unfit = { ...plannedStation, check: "npm test", harness: "none-such" };
  await changeLine({ line: { replayCheck: null } });
  await ada.request("DELETE", `${set}/guards-changes`);

  t.same(listPaths(await check({ ...wrong, station: unfit })), ["lineId", "stationKey"]);
  t.equal((await check(plan({ ...wrong, lineId: "line_none", station: unfit }))).status, 404);
  t.same(toDetail(await check(plan({ ...wrong, station: unfit }))), [
    409,
    "The line has no replay_check block. A check needs its most_regressions, ceiling and currency.",
  ]);
  await changeLine();
  t.match(toDetail(await check(plan({ ...wrong, station: unfit }))), [409, /^No replay set guards changes to/]);
  await ada.request("POST", `${set}/guards-changes`);
  t.same(listPaths(await check(plan({ ...wrong, station: unfit }))), ["station.harness"]);
  const nothing = await check(plan({ ...wrong, station: { ...unfit, harness: "command", prompt: "" } }));
  t.match(
    [nothing.status, nothing.body],
    [
      409,
      {
        type: "urn:service:problem:nothing-to-replay",
        title: "Nothing to replay",
        detail: "The plan changes nothing that affects the station's runs.",
      },
    ],
  );
  t.same(listPaths(await check(plan(wrong))), ["reference.commit", "repeats"]);
  t.equal((await check(plan())).status, 201);
});

t.test("a change of what a check keeps as it is live has nothing to replay, and lists it", async (t) => {
  const { check, plan } = await openCheckScene(t, { runs: 1 });
  const { prompt: _prompt, ...live } = plannedStation;
  const kept: readonly (readonly [change: Fields, names: string])[] = [
    [{ check: "npm test" }, "check"],
    [{ judge: { rubric: "Is it good?" } }, "judge"],
    [{ runners: { pool: "main", labels: ["big"] } }, "runners"],
    [{ diffs: true, check: "npm test", judge: { rubric: "Good?" }, runners: {} }, "check, judge, diffs, runners"],
    [{ check: "npm test", name: "Another" }, "check"],
  ];
  for (const [change, names] of kept) {
    const reply = await check(plan({ station: { ...live, ...change } }));
    t.match(
      [reply.status, reply.body],
      [
        409,
        {
          type: "urn:service:problem:nothing-to-replay",
          detail: `The plan changes only fields that a check leaves at their live values: ${names}.`,
        },
      ],
    );
  }
  for (const change of [{}, { name: "Another" }, { passesTo: ["review"] }, { alerts: [] }]) {
    const reply = await check(plan({ station: { ...live, ...change } }));
    t.match(reply.body, { detail: "The plan changes nothing that affects the station's runs." });
  }
  const line = { repositories: [{ name: "acme/app" }] };
  t.equal((await check(plan({ station: live, line }))).status, 409, "the repositories are as they are live");
});

t.test("a set without runs replays nothing, and a station that left has no set", async (t) => {
  const place = await openCheckScene(t, { runs: 1 });
  const { ada, set, check, plan } = place;
  await ada.request("DELETE", `${set}/entries/${place.runIds[0]}`);
  const empty = await check(plan());
  t.match([empty.status, empty.body], [422, { errors: [{ message: "Replay must replay at least one run." }] }]);
  await reKey(place);
  t.same(toDetail(await check(plan())), [404, "Station work not found."]);
  const anew = await check(plan({ stationKey: "more", station: { ...plannedStation, key: "more" } }));
  t.match(toDetail(anew), [409, /^No replay set guards changes to the station more/]);
});

/** Changes the work station's key, so that the old station is no longer on the line. */
async function reKey({ ada, lineId }: CheckScene): Promise<void> {
  const path = `/api/resources/lines/${lineId}`;
  const { version, key, name, repositories, replayCheck, stations } = (await ada.request("GET", path)).body ?? {};
  const [{ id: _id, ...first }, ...others] = stations as { readonly id?: string }[] & [{ readonly id?: string }];
  const body = { key, name, repositories, replayCheck, stations: [{ ...first, key: "more" }, ...others] };
  const changed = await replace(ada, path, Number(version), body);
  if (changed.status !== 200) throw new Error(changed.text);
}

t.test("who may read and not plan starts none; strangers find nothing", async (t) => {
  const { service, team, check, plan, ada } = await openCheckScene(t, { runs: 1 });
  const { body } = await check(plan());
  const stranger = await service.signIn("mallory@example.com");
  t.equal((await check(plan(), "one", stranger)).status, 404);
  t.equal((await stranger.request("GET", `${team}/replay-checks/${body?.id}`)).status, 404);
  t.equal((await ada.request("GET", `${team}/replay-checks/${body?.id}`)).status, 200);
  const reader = await StreamReader.open(stranger);
  t.teardown(() => reader.end());
  reader.subscribe(`replay-check/${body?.id}`);
  t.match(await reader.until(() => true), { kind: "error" });
});
