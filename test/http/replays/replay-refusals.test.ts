import t from "tap";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import { openReplayScene, openSet, sceneLine, workTask } from "../../support/replay-scene.js";
import { listItems, remove, replace } from "../../support/resources.js";
import { until } from "../../support/until.js";

const candidate = 'Candidate must be a candidate ID or "live".';
const repeats = "Replay repeats must be from 1 to 5.";
const amount = "must be above 0 and at most 1000";
const currency = "must be a currency such as EUR";
const money = { amount: 10, currency: "EUR" };

/** Invalid bodies of the request that starts a replay, each with its only error. */
const bodies: readonly [body: unknown, path: string, message: string][] = [
  [{ ceiling: money }, "candidate", candidate],
  [{ candidate: null, ceiling: money }, "candidate", candidate],
  [{ candidate: "", ceiling: money }, "candidate", candidate],
  [{ candidate: 7, ceiling: money }, "candidate", candidate],
  [{ candidate: "live" }, "ceiling", "is required"],
  [{ candidate: "live", ceiling: { currency: "EUR" } }, "ceiling.amount", "is required"],
  [{ candidate: "live", ceiling: { ...money, amount: "10" } }, "ceiling.amount", "must be a number"],
  [{ candidate: "live", ceiling: { ...money, amount: 0 } }, "ceiling.amount", amount],
  [{ candidate: "live", ceiling: { ...money, amount: -1 } }, "ceiling.amount", amount],
  [{ candidate: "live", ceiling: { ...money, amount: 1000.01 } }, "ceiling.amount", amount],
  [{ candidate: "live", ceiling: { amount: 10 } }, "ceiling.currency", "is required"],
  [{ candidate: "live", ceiling: { ...money, currency: "eur" } }, "ceiling.currency", currency],
  [{ candidate: "live", ceiling: { ...money, currency: "EURO" } }, "ceiling.currency", currency],
  [{ candidate: "live", ceiling: money, repeats: 0 }, "repeats", repeats],
  [{ candidate: "live", ceiling: money, repeats: 6 }, "repeats", repeats],
  [{ candidate: "live", ceiling: money, repeats: 1.5 }, "repeats", repeats],
  [{ candidate: "live", ceiling: money, repeats: "two" }, "repeats", repeats],
  [{ candidate: "live", ceiling: money, repeats: null }, "repeats", repeats],
  [{ candidate: "live", ceiling: money, more: 1 }, "more", "is not a field here"],
  [{ candidate: "live", ceiling: money }, "", "Replay must replay at least one run."],
];

t.test("a start that is not in its form is refused at the field, by its message", async (t) => {
  const place = await openReplayScene(t);
  const set = await openSet(place);
  for (const [body, path, message] of bodies) {
    const reply = await place.ada.request("POST", `${set}/replays`, body);
    const named = JSON.stringify(body);
    t.equal(reply.status, 422, named);
    t.same((reply.body as { errors?: unknown }).errors, [{ path, message, severity: "error" }], named);
  }
  const empty = await place.ada.request("POST", `${set}/replays`, { candidate: "live", ceiling: money });
  const detail = /^Replay must replay at least one run\.\nAdd ended runs of the station to the set's entries first/;
  t.match(empty.body, { detail }, "what to do about an empty set is said beside it");
});

t.test("what there is not is not found, what does not fit conflicts", async (t) => {
  const place = await openReplayScene(t);
  const { ada, team, lineId } = place;
  const { runId } = await workTask(place);
  const set = await openSet(place);
  await ada.request("POST", `${set}/entries`, { runId });
  const { stations } = sceneLine;
  const [work, review] = stations;
  const line = `/api/resources/lines/${lineId}`;
  const more = { ...work, key: "more" };
  t.equal((await replace(ada, line, 1, { ...sceneLine, stations: [work, review, more] })).status, 200);
  const candidates = `${line}/stations/work/replay-candidates`;
  const mine = await ada.create(candidates, { name: "Mine", station: work });
  const skilled = await ada.create(candidates, { name: "Skilled", station: { ...work, passesTo: ["more"] } });
  const elsewhere = await ada.create(candidates.replace("/work/", "/more/"), { name: "Elsewhere", station: more });
  t.equal((await replace(ada, line, 2, sceneLine)).status, 200, "a station leaves that a candidate passes to");

  const start = (candidate: string, body = {}) =>
    ada.request("POST", `${set}/replays`, { candidate, ceiling: money, ...body });
  for (const id of ["cand_none", elsewhere.id]) {
    const reply = await start(id);
    t.match([reply.status, reply.body], [404, { detail: `Candidate ${id} not found.` }]);
  }
  const invalid = await start(skilled.id);
  t.match(
    [invalid.status, invalid.body],
    [422, { errors: [{ path: "station.passesTo[0]", message: /no station more/ }] }],
  );
  const none = await ada.request("POST", `${team}/replays/rep_none/stop`);
  t.match([none.status, none.body], [404, { detail: "Replay rep_none not found." }]);

  const started = await start(mine.id);
  const baseline = String((started.body?.baseline as { id?: string } | null)?.id);
  const stop = (id: string) => ada.request("POST", `${team}/replays/${id}/stop`);
  const id = String(started.body?.id);
  const underWay = { status: 409, body: { detail: /^A replay of the set is under way\. Stop it first/ } };
  t.match(await ada.request("DELETE", set), underWay);
  const withdrawn = await remove(ada, `/api/resources/replay-candidates/${mine.id}`, 1);
  t.match([withdrawn.status, withdrawn.body], [409, { type: "urn:service:problem:in-use", detail: /Mine/ }]);
  const key = { "idempotency-key": "stop" };
  t.equal((await ada.request("POST", `${team}/replays/${id}/stop`, undefined, key)).status, 204);
  const again = await ada.request("POST", `${team}/replays/${id}/stop`, undefined, key);
  t.same([again.status, again.headers["idempotent-replayed"]], [204, "true"]);
  t.match(await stop(id), { status: 409, body: { detail: "The replay has ended." } });
  t.equal(
    (await remove(ada, `/api/resources/replay-candidates/${mine.id}`, 1)).status,
    204,
    "no replay of it is under way",
  );
  t.match(await ada.request("DELETE", set), underWay, "the baseline is");
  t.equal((await stop(baseline)).status, 204);
  const changes = listItems(await ada.request("GET", "/api/workspaces/acme/configuration-changes?limit=3"));
  t.match(changes, [
    { resource: "replay", resourceId: baseline, key: baseline, action: "updated", details: { state: "stopped" } },
    { resource: "replay-candidate", action: "deleted" },
    { resource: "replay", resourceId: id, key: id, action: "updated", by: { kind: "person" } },
  ]);

  t.equal((await replace(ada, line, 3, { ...sceneLine, stations: [review] })).status, 200);
  const left = await start("live");
  t.match([left.status, left.body], [409, { detail: /^The station of the replay set was removed from its line/ }]);
  t.equal((await ada.request("DELETE", set)).status, 204);
});

t.test("a team with a replay under way is in use, and is deleted once it is stopped", async (t) => {
  const place = await openReplayScene(t);
  const { ada, team, lineId, teamId } = place;
  const { runId } = await workTask(place);
  const set = await openSet(place);
  await ada.request("POST", `${set}/entries`, { runId });
  const started = await ada.request("POST", `${set}/replays`, { candidate: "live", ceiling: money });
  t.equal((await remove(ada, `/api/resources/lines/${lineId}`, 1)).status, 204);
  const refused = await remove(ada, `/api/resources/teams/${teamId}`, 1);
  t.match(
    [refused.status, refused.body],
    [409, { type: "urn:service:problem:in-use", detail: "The team core has replays under way: 1. Stop them first." }],
  );
  t.equal((await ada.request("POST", `${team}/replays/${started.body?.id}/stop`)).status, 204);
  t.equal((await remove(ada, `/api/resources/teams/${teamId}`, 1)).status, 204);
  const { reading } = place.service.runtime;
  await until("its replay is gone", () => replays.list(reading, place.workspaceId).length === 0);
});
