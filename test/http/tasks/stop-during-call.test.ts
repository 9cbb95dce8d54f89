import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { startTestService } from "../../support/service.js";
import { until } from "../../support/until.js";
import { openWorkplace } from "../../support/workplace.js";

t.test("a service that ends waits for calls that are under way, and what came of them is known after it", async (t) => {
  const held: ServerResponse[] = [];
  const tracker = createServer((request, response) => {
    request.resume();
    held.push(response);
  });
  await new Promise<void>((resolve) => tracker.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => tracker.close(resolve)));
  const host = `127.0.0.1:${(tracker.address() as AddressInfo).port}`;
  const settings = { OUTBOUND_ALLOW: `http://${host}` };
  const folder = await mkdtemp(join(tmpdir(), "signalbox-test-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const { ada, service, teamId, runner, open } = await openWorkplace(t, { settings, folder });
  await ada.create(`/api/resources/teams/${teamId}/integrations`, {
    integration: "tracker",
    name: "Tracker",
    hosts: [host],
    actions: { comment: { request: { url: `http://${host}/comments` } } },
    tools: { comment: { action: "comment" } },
  });
  const work = { key: "work", name: "Work", kind: "work", runners: { pool: "main" }, tools: ["tracker.comment"] };
  await ada.create(`/api/resources/teams/${teamId}/lines`, {
    key: "tools",
    name: "Tools",
    repositories: [{ name: "acme/app" }],
    stations: [work],
  });
  await open({ line: "tools" });
  const peer = await runner();
  const job = await peer.job();
  peer.start(job);
  const { runId, fence } = job;
  peer.say({ type: "run.tool-call", runId, fence, id: "1", server: "tracker", tool: "comment", inputs: "{}" });
  await until("the call is under way", () => held.length > 0);
  const stopping = service.stop();
  held[0]?.writeHead(201).end('{"id":7}');
  await stopping;
  const after = await startTestService(t, { settings, folder });
  const again = await after.signIn("ada@example.com");
  t.match((await again.request("GET", `/api/runs/${runId}/tool-calls`)).body?.items, [
    { state: "done", code: null, output: { id: 7 } },
  ]);
  t.equal(held.length, 1, "it is made once");
});
