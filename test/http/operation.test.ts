import t from "tap";
import { createMemoryStore } from "../../storage/memory-store.js";
import { type Store, StoreError } from "../../storage/store.js";
import { startTestService } from "../support/service.js";

t.test("healthz and readyz answer anyone and show nothing", async (t) => {
  const service = await startTestService(t);
  t.same((await service.anonymous.request("GET", "/healthz")).body, { status: "ok" });
  t.same((await service.anonymous.request("GET", "/readyz")).body, { status: "ready" });
  t.equal((await service.anonymous.request("HEAD", "/readyz")).status, 200);
});

t.test("the metrics count requests by route, without ids", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const workspace = await ada.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  await ada.request("GET", `/api/resources/workspaces/${workspace.id}`);
  await ada.request("GET", "/nowhere/at/all");
  const metrics = await service.anonymous.request("GET", "/metrics");
  t.equal(metrics.status, 200);
  t.match(metrics.headers["content-type"], /^text\/plain; version=0\.0\.4/);
  t.match(
    metrics.text,
    /^signalbox_http_request_seconds_count\{method="GET",route="\/api\/resources\/workspaces\/\{id\}",status="200"\} 1$/m,
  );
  t.match(metrics.text, /^signalbox_http_unrouted_total 1$/m);
  t.match(metrics.text, /^signalbox_turns [1-9]\d*$/m);
  t.match(metrics.text, /^signalbox_flush_seconds_count [1-9]\d*$/m);
  t.match(metrics.text, /^signalbox_pending_effects 0$/m);
  t.match(metrics.text, /^process_resident_memory_bytes [1-9]/m);
  t.notMatch(metrics.text, new RegExp(`${workspace.id}|ada@example|nowhere`));
});

t.test("without a token the metrics are served to this machine only, and not through a proxy", async (t) => {
  const service = await startTestService(t);
  for (const header of ["x-forwarded-for", "forwarded", "via"]) {
    const answer = await service.anonymous.request("GET", "/metrics", undefined, { [header]: "203.0.113.9" });
    t.equal(answer.status, 401, header);
  }
});

t.test("with a token the metrics are for its bearer alone", async (t) => {
  const service = await startTestService(t, { settings: { METRICS_TOKEN: "0123456789abcdef" } });
  const ask = async (authorization?: string) =>
    (await service.anonymous.request("GET", "/metrics", undefined, authorization ? { authorization } : {})).status;
  t.equal(await ask(), 401);
  t.equal(await ask("Bearer 0123456789abcdee"), 401);
  t.equal(await ask("Bearer 0123456789abcdef"), 200);
});

t.test("once the store has failed, writes are unavailable and nobody is sent here any more", async (t) => {
  const memory = createMemoryStore();
  let fails = false;
  const store: Store = {
    reading: memory.reading,
    view: () => memory.view(),
    backup: (folder) => memory.backup(folder),
    close: () => memory.close(),
    commit: (changes) =>
      fails ? Promise.reject(new StoreError("disk-full", "the disk is full")) : memory.commit(changes),
  };
  const service = await startTestService(t, { store });
  await service.signIn("ada@example.com");
  fails = true;
  const refused = await service.anonymous.request("POST", "/api/sign-in", { email: "bob@example.com" });
  t.equal(refused.status, 503);
  t.equal(refused.body?.type, "urn:service:problem:unavailable");
  t.ok(Number(refused.headers["retry-after"]) > 0);
  t.equal((await service.anonymous.request("GET", "/readyz")).status, 503);
  t.equal((await service.anonymous.request("GET", "/healthz")).status, 200);
  t.ok(await service.logged(/"code":"disk-full","message":"the disk is full"/));
});
