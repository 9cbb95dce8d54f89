import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { listCopies } from "../../../actors/replays/copies/replay-copy.table.js";
import type { ReplayRow } from "../../../actors/replays/replay/replay.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import type { Job } from "../../../actors/runners/job.js";
import { hookReceiver } from "../../support/hook-receiver.js";
import { hook, ok } from "../../support/hook-scene.js";
import { openReplayScene, openSet, type ReplayScene } from "../../support/replay-scene.js";
import { listItems, replace } from "../../support/resources.js";
import { until } from "../../support/until.js";

/** Tests tool calls that a run makes on a real service, and the replay of these calls. */

/** Starts a host that answers each request with its number. */
async function countingHost(t: Test) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ n: requests.length }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Opens a work station whose agents may call `tracker.find`, and a hook on every call. */
async function openScene(t: Test) {
  const host = await countingHost(t);
  const receiver = await hookReceiver(t, ok);
  const settings = { OUTBOUND_ALLOW: `${host.url},${receiver.url}` };
  const place = await openReplayScene(t, { settings });
  const { ada, teamId, workspaceId } = place;
  await ada.create(`/api/resources/teams/${teamId}/integrations`, {
    integration: "tracker",
    name: "Tracker",
    hosts: [new URL(host.url).host],
    actions: { find: { request: { method: "GET", url: `${host.url}/items` } } },
    tools: { find: { description: "Finds.", action: "find", inputs: { id: { type: "number", required: true } } } },
  });
  for (const on of ["tool.using", "tool.used"]) {
    await ada.create(`/api/resources/teams/${teamId}/hooks`, hook(receiver.url, { key: on.replace(".", "-"), on }));
  }
  const [line] = listItems(await ada.request("GET", `/api/resources/workspaces/${workspaceId}/lines`));
  const { id, version, address: _address, warnings: _warnings, ...fields } = line as Record<string, unknown>;
  const [first, ...others] = fields.stations as object[];
  const stations = [{ ...first, tools: [{ tool: "tracker.find" }] }, ...others];
  const put = await replace(ada, `/api/resources/lines/${id}`, Number(version), { ...fields, stations });
  if (put.status !== 200) throw new Error(put.text);
  return { ...place, host, receiver };
}

/** Calls the tool; resolves with the answer. */
async function call({ peer }: ReplayScene, { runId, fence }: Job, id: string, inputs: object): Promise<string> {
  const from = peer.frames.length;
  peer.say({
    type: "run.tool-call",
    runId,
    fence,
    id,
    server: "tracker",
    tool: "find",
    inputs: JSON.stringify(inputs),
  });
  const { outcome, text } = await peer.message("run.tool-answered", from);
  return `${outcome} ${text}`;
}

t.test("calls are made once: a replay answers them as they were answered, and none leaves the service", async (t) => {
  const place = await openScene(t);
  const { ada, peer, host, receiver, service, workspaceId, teamId } = place;
  const taskId = await place.open({ title: "Mend it" });
  const job = await peer.job();
  t.match(job.tools, [{ server: "tracker", name: "find", description: "Finds.", schema: { required: ["id"] } }]);
  const { runId, fence } = job;
  peer.say({ type: "run.started", runId, fence, bases: [{ repository: "acme/app", base: "b".repeat(40) }] });
  t.equal(await call(place, job, "1-1", { id: 1 }), 'done {"n":1}');
  t.equal(await call(place, job, "1-2", { id: 1 }), 'done {"n":2}');
  t.match(await call(place, job, "1-3", { id: "one" }), /^failed The inputs of tracker.find are wrong/);
  peer.end(job, { ending: { kind: "finish", note: "" } });
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "done");
  await receiver.arrived(4);
  const outside = async () => ({
    requests: [...host.requests],
    heard: receiver.requests.length,
    task: await place.task(taskId),
    hooks: (await ada.request("GET", `/api/teams/${teamId}/hook-occurrences?limit=200`)).body,
    runs: await place.runs(taskId),
  });
  const delivered = async () =>
    listItems(await ada.request("GET", `/api/teams/${teamId}/hook-occurrences?limit=200`)).every(
      ({ state }) => state === "delivered",
    );
  await until("all hooks are told", delivered);
  const before = await outside();
  t.same(before.requests, ["GET /items", "GET /items"]);

  const set = await openSet(place);
  t.equal((await ada.request("POST", `${set}/entries`, { runId })).status, 204);
  const body = { candidate: "live", ceiling: { amount: 10, currency: "EUR" } };
  const started = await ada.request("POST", `${set}/replays`, body);
  const copy = await peer.job();
  t.same(copy.tools, job.tools);
  peer.start(copy);
  t.equal(await call(place, copy, "1-1", { id: 1 }), 'done {"n":1}');
  t.equal(await call(place, copy, "1-2", { id: 1 }), 'done {"n":2}');
  t.equal(await call(place, copy, "1-3", { id: 1 }), 'done {"n":2}');
  t.match(await call(place, copy, "1-4", { id: "one" }), /^failed The inputs of tracker.find are wrong/);
  t.match(await call(place, copy, "1-5", { id: 2 }), /^refused This run replays an earlier run/);
  peer.end(copy, { ending: { kind: "finish", note: "" } });
  const id = String(started.body?.id);
  const row = (): ReplayRow | undefined => replays.get(service.runtime.reading, workspaceId, id);
  await until("the replay has finished", () => row()?.state === "finished");
  t.match(listCopies(service.runtime.reading, workspaceId, id), [{ result: "succeeded", toolMisses: 1 }]);
  t.same(await outside(), before);
  const read = async (of: string, what: string) => [...listItems(await ada.request("GET", `/api/runs/${of}/${what}`))];
  const made = (await read(runId, "tool-calls")).map(({ id }) => id).reverse();
  t.match((await read(copy.runId, "tool-calls")).reverse(), [
    { state: "done", recorded: made[0], output: { n: 1 }, begunAt: null },
    ...[1, 2].map(() => ({ state: "done", recorded: made[1], output: { n: 2 } })),
    { state: "failed", code: "invalid", recorded: made[2] },
    { state: "refused", recorded: null, inputs: { id: 2 } },
  ]);
  t.same(await read(copy.runId, "approvals"), []);
});
