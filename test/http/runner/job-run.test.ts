import { readdirSync } from "node:fs";
import t from "tap";
import { MAX_OUTPUT_CHARACTERS } from "../../../actors/runners/protocol.js";
import { isAlive, RunScene, readFile } from "./run-scene.js";

/** Tests what programs, people and the service can see of a run; `runner.test.ts` covers the course of a run. */

const say = (line: Record<string, unknown>): string => `printf '%s\\n' '${JSON.stringify(line)}'`;
const handOver = (note: string): string =>
  `${say({ type: "handover", to: "review", note })}; read answer; echo "$answer"`;

t.test("the check sees what the agent sees", async (t) => {
  const scene = await RunScene.start(t);
  const shown = (file: string) => `env | grep -v '^\\(_\\|PWD\\|OLDPWD\\|SHLVL\\|SIGNALBOX_MARK\\)=' | sort > ${file}`;
  await scene.work({ agent: shown(scene.path("agent")), station: { check: shown(scene.path("check")) } });
  const seen = await readFile(scene.path("agent"));
  t.equal(await readFile(scene.path("check")), seen);
  t.match(seen, /^SIGNALBOX_RUN=run_1$/m);
});

t.test("a commit, or a diff, that cannot be laid out is a failed checkout, and nothing is left of it", async (t) => {
  const scene = await RunScene.start(t);
  const wrong = [{ base: "0".repeat(40) }, { base: "--upload-pack=touch x" }, { base: "main" }, { diff: "no diff\n" }];
  for (const [index, checkout] of wrong.entries()) {
    const ended = await scene.work({ runId: `run_${index}`, checkouts: [checkout] });
    t.match(
      ended,
      { outcome: "failed", failure: { code: "checkout-failed" }, checkouts: { length: 0 } },
      JSON.stringify(checkout),
    );
    t.not(ended.failure?.output, "");
  }
  scene.service.send({ frame: "ack", ack: wrong.length });
  const drained = scene.runner.drain();
  await scene.service.frame("message", ({ message }) => message.type === "offer" && message.slots === 0);
  scene.service.send({ frame: "ack", ack: wrong.length + 1 });
  await drained;
  t.same(readdirSync(scene.path("work")), ["mirrors", "runs"], "the folder is free for another runner");
  t.same(readdirSync(scene.path("work/runs")), []);
});

t.test("only one handover is ever given, and nothing said after it changes that", async (t) => {
  const scene = await RunScene.start(t);
  const question = say({ type: "ask", question: "Or not?" });
  scene.assign({ agent: `${handOver("first")}; ${handOver("second")}; ${question}` });
  await scene.answerHandover(0, null);
  t.match(await scene.message("run.ended"), { outcome: "completed", ending: { kind: "handover", note: "first" } });
  t.match(scene.steps(), [/accepted/, /refused.*handed over already/]);
  t.equal(scene.messages("run.handover").length, 1);
});

t.test("a run that is stopped while its check runs ends, and asks for no handover", async (t) => {
  const scene = await RunScene.start(t);
  const check = `echo on > ${scene.path("on")}; sleep 1000`;
  scene.assign({ agent: `${handOver("first")}; ${handOver("second")}`, station: { check } });
  await readFile(scene.path("on"));
  scene.service.tell({ type: "run.stop", runId: "run_1", fence: 1, reason: "enough" });
  t.match(await scene.message("run.ended"), { outcome: "stopped", ending: null, failure: null });
  t.equal(scene.messages("run.handover").length, 0);
});

t.test("a run that is stopped while it waits for the answer to a handover ends", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ agent: "true", station: { next: ["review"] } });
  await scene.message("run.handover");
  scene.service.tell({ type: "run.stop", runId: "run_1", fence: 1, reason: "enough" });
  t.match(await scene.message("run.ended"), { outcome: "stopped", ending: null, failure: null });
});

t.test("a setup that hangs is ended by the timeout, and a timeout of months does not come at once", async (t) => {
  const scene = await RunScene.start(t);
  scene.service.welcome({ leaseSeconds: 1e9 });
  const on = scene.path("on");
  scene.assign({ timeoutMinutes: 100_000, checkouts: [{ setup: `echo so far; echo on > ${on}; sleep 1000` }] });
  await readFile(on);
  scene.clock.advance(99_999 * 60_000);
  t.same(scene.messages("run.ended"), []);
  scene.clock.advance(60_000);
  const { outcome, failure } = await scene.message("run.ended");
  t.match({ outcome, failure }, { outcome: "failed", failure: { code: "timed-out", output: /so far/ } });
});

t.test("an agent that prints more than can be sent at once waits, and nothing of it is lost", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ agent: "seq 3000; exit 7" });
  // The runner keeps at most a thousand messages. The first message reports the start of the run.
  for (const acknowledged of [0, 1_000, 2_000]) {
    await scene.service.frame("message", ({ n }) => n === acknowledged + 1_000);
    t.equal(scene.messages("run.step").length, acknowledged + 999);
    scene.service.send({ frame: "ack", ack: acknowledged + 1_000 });
  }
  const { failure } = await scene.message("run.ended");
  t.same(
    scene.steps(),
    Array.from({ length: 3_000 }, (_, index) => `output: ${index + 1}`),
  );
  t.match(failure, { code: "harness-failed", message: /exited with 7/, output: /2999\n3000\n$/ });
});

t.test("of long output the end is kept, from where a line begins", async (t) => {
  const scene = await RunScene.start(t);
  const check = "seq 10000 50000; exit 1";
  const { failure } = await scene.work({ agent: "echo more >> a.txt", station: { check } });
  const { output = "" } = failure ?? {};
  t.ok(output.length <= MAX_OUTPUT_CHARACTERS && output.length > MAX_OUTPUT_CHARACTERS - 6);
  t.match(output, /^\d{5}\n(\d{5}\n)*49999\n50000\n$/);
});

t.test("costs are added up; one in another currency is refused with a step", async (t) => {
  const scene = await RunScene.start(t);
  const costs = [
    { amount: 1, currency: "USD" },
    { amount: 1, currency: "EUR" },
    { amount: -1, currency: "USD" },
    { amount: 0.5, currency: "USD" },
  ];
  const models = [{ model: "small" }, {}, {}, { model: "large" }];
  const lines = costs.map((cost, index) => say({ type: "cost", ...cost, ...models[index] }));
  const ended = await scene.work({ agent: lines.join("\n") });
  t.same(ended.spent, { amount: 1.5, currency: "USD" });
  t.equal(ended.model, "large", "the model that the agent last named");
  t.match(scene.steps(), [
    /^error: a cost in EUR cannot be added to one in USD$/,
    /^error: cannot parse the agent's line of type cost.* amount/,
  ]);
});

t.test("the sum of costs ends at the most that an amount is; a cost beyond it is refused with a step", async (t) => {
  const scene = await RunScene.start(t);
  const lines = [1e308, 1e9, 1e308, 1e9].map((amount) => say({ type: "cost", amount, currency: "USD" }));
  const ended = await scene.work({ agent: lines.join("\n") });
  t.same(ended.spent, { amount: 1e9, currency: "USD" });
  const refused = "error: cannot parse the agent's line of type cost: amount: must be at most 1000000000";
  t.same(scene.steps(), [refused, refused]);
});

t.test("the values of secrets are taken out of everything that is said", async (t) => {
  const scene = await RunScene.start(t);
  const secrets = { KEY: "s3cr3t-value", PEM: "first line of it\nsecond line of it", SHORT: "a" };
  scene.assign({
    agent: `echo "key $KEY"; echo "$PEM"; echo "the runner's ${scene.service.token}"
      ${say({ type: "step", kind: "tool", text: "call", tool: "s3cr3t-value" })}
      ${handOver("with s3cr3t-value")}; echo "$KEY" >&2; exit 4`,
    harness: { secrets },
    station: { check: 'echo "checked with $KEY"' },
  });
  const wish = await scene.answerHandover(0, "not with s3cr3t-value");
  t.equal(wish.note, "with ***");
  const ended = await scene.message("run.ended");
  t.match(ended, { check: { output: "checked with ***\n" }, failure: { output: /\*\*\*/ } });
  t.notMatch(JSON.stringify([ended, scene.messages("run.step")]), /s3cr3t|line of it|pool-token/);
  t.ok(scene.steps().includes("output: key ***"));
});

t.test("a process that left its group and hid its mark does not hold the run up", async (t) => {
  const scene = await RunScene.start(t);
  const file = scene.path("pid");
  const ended = await scene.work({
    agent: `env -i setsid sh -c 'echo $$ > ${file}; exec sleep 1000' & read x < /dev/null; while [ ! -s ${file} ]; do :; done`,
  });
  const pid = Number((await readFile(file)).trim());
  t.equal(ended.outcome, "completed");
  t.ok(isAlive(pid), "nothing tells whose it is");
  process.kill(pid, "SIGKILL");
});
