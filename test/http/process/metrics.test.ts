import t from "tap";
import { createMetrics } from "../../../http/process/metrics.js";
import type { RuntimeStats } from "../../../runtime/runtime.js";

const idle: RuntimeStats = {
  turns: 0,
  batches: 0,
  unhandled: 0,
  crashes: 0,
  deadLetters: 0,
  damagedRows: 0,
  damagedTurns: 0,
  cells: 0,
  mailboxDepth: 0,
  pendingEffects: 0,
  runningEffects: 0,
  lanes: [],
  timers: 0,
  counters: new Map(),
  flushSeconds: [],
  feedBytes: 0,
};

t.test("requests are counted by method, route and status, in buckets of their seconds", async (t) => {
  const metrics = createMetrics(() => idle);
  const name = "signalbox_http_request_seconds";
  const lines = async () => (await metrics.text()).split("\n").filter((line) => line.includes(name));
  const head = [`# HELP ${name} Time to answer a request`, `# TYPE ${name} histogram`];
  t.same(await lines(), head, "no request yet");
  const request = { requestId: "req_1", method: "GET", route: "/api/tasks/{id}", status: 200, isCut: false };
  for (const seconds of [0.0005, 0.001, 0.02, 11]) metrics.served({ ...request, seconds });
  metrics.served({ ...request, method: "HEAD", status: 404, seconds: 0.3 });
  const labels = 'method="GET",route="/api/tasks/{id}",status="200"';
  const others = 'method="HEAD",route="/api/tasks/{id}",status="404"';
  const buckets = (of: string, counts: readonly number[]) =>
    ["0.001", "0.005", "0.02", "0.1", "0.5", "2", "10", "+Inf"].map(
      (bound, index) => `${name}_bucket{le="${bound}",${of}} ${counts[index]}`,
    );
  t.same(await lines(), [
    ...head,
    ...buckets(labels, [2, 2, 3, 3, 3, 3, 3, 4]),
    `${name}_sum{${labels}} 11.0215`,
    `${name}_count{${labels}} 4`,
    ...buckets(others, [0, 0, 0, 0, 1, 1, 1, 1]),
    `${name}_sum{${others}} 0.3`,
    `${name}_count{${others}} 1`,
  ]);
});

t.test("money and answers of the model are counted, and currencies beyond a limit count together", async (t) => {
  const metrics = createMetrics(() => idle);
  const ask = (currency: string, amount = 0.25) =>
    metrics.asked({
      state: "answered",
      value: {},
      model: "canary",
      spent: { calls: 1, cost: { amount, currency }, isEstimate: false },
    });
  ask("EUR");
  ask("EUR");
  for (let index = 0; index < 30; index++) ask(`C${index}`, 1);
  metrics.asked({ state: "waiting", reason: "", retryAtMs: null, spent: { calls: 0, cost: null, isEstimate: false } });
  const text = await metrics.text();
  t.match(text, 'signalbox_model_cost_total{currency="EUR"} 0.5\n');
  t.match(text, 'signalbox_model_cost_total{currency="(other)"} 11\n');
  t.match(text, 'signalbox_model_questions_total{outcome="answered"} 32\n');
  t.match(text, 'signalbox_model_questions_total{outcome="waiting"} 1\n');
  t.notMatch(text, "canary");
});

t.test("what only grows is a counter under its old name", async (t) => {
  const text = await createMetrics(() => ({ ...idle, turns: 3, deadLetters: 1, cells: 2 })).text();
  for (const name of ["turns", "batches", "crashes", "dead_letters", "damaged_rows", "damaged_turns"])
    t.match(text, `# TYPE signalbox_${name} counter\n`);
  t.match(text, "signalbox_turns 3\n");
  for (const name of ["cells", "mailbox_depth", "timers", "pending_effects"])
    t.match(text, `# TYPE signalbox_${name} gauge\n`);
});
