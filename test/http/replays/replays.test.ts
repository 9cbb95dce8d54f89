import t from "tap";
import { listCopies } from "../../../actors/replays/copies/replay-copy.table.js";
import type { ReplayRow } from "../../../actors/replays/replay/replay.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import type { Job } from "../../../actors/runners/job.js";
import { fillSet, openReplayScene, type ReplayScene } from "../../support/replay-scene.js";
import { listItems } from "../../support/resources.js";
import { until } from "../../support/until.js";

const ceiling = { amount: 10, currency: "EUR" };

function replayRow({ service, workspaceId }: ReplayScene, id: string): ReplayRow | undefined {
  return replays.get(service.runtime.reading, workspaceId, id);
}

/** Works on the job as the runner, at this cost. */
function work({ peer }: ReplayScene, job: Job, amount = 1): void {
  peer.start(job);
  peer.end(job, { ending: { kind: "finish", note: "" }, spent: { amount, currency: "EUR" } });
}

t.test("a replay repeats each run of its set with its input, and finishes", async (t) => {
  const place = await openReplayScene(t);
  const { ada, service, workspaceId } = place;
  const { set, runIds } = await fillSet(place, 2);
  const body = { candidate: "live", ceiling, repeats: 2 };
  const key = { "idempotency-key": "one" };
  const started = await ada.request("POST", `${set}/replays`, body, key);
  const id = String(started.body?.id);
  t.same(
    [started.status, started.body],
    [201, { id, ceiling, baseline: { id, ceiling, status: "started" }, oracle: null, warnings: [] }],
  );
  const again = await ada.request("POST", `${set}/replays`, body, key);
  t.same([again.status, again.body, again.headers["idempotent-replayed"]], [201, started.body, "true"]);

  const bases: unknown[] = [];
  for (let n = 0; n < 4; n++) {
    const job = await place.peer.job();
    bases.push(job.checkouts[0]?.base?.slice(0, 1));
    t.match(job, { task: { title: "Mend it", notes: [] }, station: { key: "work" }, line: { key: "dev" } });
    t.match(await ada.request("DELETE", set), { status: 409, body: { detail: /^A replay of the set is under way/ } });
    work(place, job);
  }
  t.same(bases, ["1", "2", "1", "2"], "each run once before any is repeated");
  await until("it is finished", () => replayRow(place, id)?.state === "finished");
  t.match(replayRow(place, id), {
    counts: { queued: 0, running: 0, settled: 4, succeeded: 4, failed: 0, unscored: 0 },
    spending: { spent: "4/1", besides: "0/1", unpriced: 0 },
    judged: true,
  });
  const copies = listCopies(service.runtime.reading, workspaceId, id);
  t.match(copies, [
    { originalRunId: runIds[0], repeat: 1, result: "succeeded", spent: { amount: 1, currency: "EUR" }, steps: 0 },
    { originalRunId: runIds[0], repeat: 2, result: "succeeded" },
    { originalRunId: runIds[1], repeat: 1, result: "succeeded" },
    { originalRunId: runIds[1], repeat: 2, result: "succeeded" },
  ]);
  const stop = await ada.request("POST", `${place.team}/replays/${id}/stop`);
  t.match([stop.status, stop.body], [409, { detail: "The replay has ended." }]);
  t.equal((await ada.request("DELETE", set)).status, 204);
  await until("it is gone with its set", () => replayRow(place, id) === undefined);
  for (const copy of copies) {
    await until("its runs are gone", async () => (await ada.request("GET", `/api/runs/${copy.runId}`)).status === 404);
  }
  const changes = listItems(await ada.request("GET", "/api/workspaces/acme/configuration-changes?limit=5"));
  t.match(changes[0], { resource: "replay", resourceId: id, key: id, action: "created", by: { kind: "person" } });
});
