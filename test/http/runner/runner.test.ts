import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import t from "tap";
import { RunnerProcess } from "../../processes/runner-process.js";
import { inRepository } from "../../support/repository.js";
import { until } from "../../support/until.js";
import { ProtocolService } from "./protocol-service.js";
import { isAlive, RunScene, readFile, sceneFolder, toJob } from "./run-scene.js";

const say = (line: Record<string, unknown>): string => `printf '%s\\n' '${JSON.stringify(line)}'`;
const handOver = (note: string): string => say({ type: "handover", to: "review", note });

t.test("a run goes through: steps, cost, a handover that is answered, and everything that changed", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({
    agent: `
      ${say({ type: "step", kind: "thought", text: "Hm." })}
      ${say({ type: "step", kind: "tool", text: "edit", tool: "ed", call: { server: "files", tool: "edit" }, skill: "greet" })}
      echo plain
      echo more >> a.txt; printf '\\000\\377' > binary; mkdir d; echo new > d/new.txt
      ${say({ type: "cost", amount: 0.25, currency: "USD" })}
      ${say({ type: "cost", amount: 0.5, currency: "USD" })}
      ${handOver("Done.")}
      read answer; echo "$answer" >&2`,
  });
  const asked = await scene.answerHandover(0, null);
  t.match(asked, { runId: "run_1", fence: 1, to: "review", note: "Done." });
  const ended = await scene.message("run.ended");
  t.match(ended, {
    outcome: "completed",
    ending: { kind: "handover", to: "review", note: "Done." },
    failure: null,
    check: null,
    spent: { amount: 0.75, currency: "USD" },
  });
  t.same(scene.steps(), ["thought: Hm.", "tool: edit", "output: plain", 'error: {"type":"handover.accepted"}']);
  const sent = scene.messages("run.step").map(({ step }) => step);
  t.same(
    sent.map(({ index }) => index),
    [0, 1, 2, 3],
  );
  const call = { server: "files", tool: "edit", failed: false, refusedBy: null };
  t.match(sent[1], { tool: "ed", call, skill: "greet" });
  t.notOk("call" in (sent[0] ?? {}) || "skill" in (sent[0] ?? {}));
  const repository = scene.path("repositories/acme/app");
  const bases = [{ repository: "acme/app", base: inRepository(repository, "rev-parse", "HEAD").trim() }];
  t.match(scene.messages("run.started"), [{ bases }]);
  const [checkout] = ended.checkouts;
  t.equal(checkout?.base, inRepository(repository, "rev-parse", "HEAD").trim());
  writeFileSync(scene.path("change.diff"), checkout?.diff ?? "");
  inRepository(repository, "apply", "--binary", scene.path("change.diff"));
  t.equal(readFileSync(join(repository, "a.txt"), "utf8"), "one\nmore\n");
  t.same(readFileSync(join(repository, "binary")), Buffer.from([0, 255]));
  t.equal(readFileSync(join(repository, "d/new.txt"), "utf8"), "new\n");
});

t.test("the next run starts from what the task has changed, and reports the whole of it", async (t) => {
  const scene = await RunScene.start(t);
  const first = await scene.work({ runId: "first", agent: "echo two >> a.txt; echo new > b.txt" });
  const [before] = first.checkouts;
  const second = await scene.work({
    runId: "second",
    agent: "echo three >> a.txt; rm b.txt",
    checkouts: [{ base: before?.base ?? null, diff: before?.diff ?? "" }],
  });
  t.match(second.checkouts[0]?.diff, "+two\n+three\n");
  t.notMatch(second.checkouts[0]?.diff, "b.txt");
});

t.test("a failure before the agent begins has its code and output", async (t) => {
  const scene = await RunScene.start(t);
  const setup = await scene.work({ runId: "a", checkouts: [{ setup: "echo out; echo err >&2; exit 7" }] });
  t.match(setup, { outcome: "failed", ending: null, failure: { code: "setup-failed", message: /exited with 7/ } });
  t.match(setup.failure?.output, /out/);
  t.match(setup.failure?.output, /err/);
  const image = await scene.work({ runId: "b", checkouts: [{ image: "node:20" }] });
  t.match(image.failure, { code: "no-image", message: /node:20/ });
  const absent = await scene.work({ runId: "c", checkouts: [{ repository: "acme/absent" }] });
  t.match(absent.failure, { code: "checkout-failed", message: /acme\/absent/, output: /acme\/absent/ });
  const program = await scene.work({ runId: "d", harness: { args: ["/no/such/program"] } });
  t.match(program.failure, { code: "harness-not-found", message: /\/no\/such\/program/ });
  const none = await scene.work({ runId: "e", harness: { args: [] } });
  t.match(none.failure, { code: "harness-not-found", message: /--command/ });
  const harness = await scene.work({ runId: "f", harness: { name: "unheard-of" } });
  t.match(harness.failure, { code: "harness-not-found", message: /unheard-of/ });
  t.same(scene.messages("run.started"), [], "none of them began");
});

t.test("the runner's own log has the result of each run, without secrets", async (t) => {
  const scene = await RunScene.start(t);
  await scene.work({ runId: "a" });
  const setup = "echo $KEY; exit 7";
  await scene.work({ runId: "b", checkouts: [{ setup }], harness: { secrets: { KEY: "s3cr3t-value" } } });
  await scene.work({ runId: "c", harness: { args: ["/no/s3cr3t-value"], secrets: { KEY: "s3cr3t-value" } } });
  scene.assign({ runId: "d", agent: "sleep 60" });
  await scene.message("run.started", ({ runId }) => runId === "d");
  scene.service.tell({ type: "run.drop", runId: "d", fence: 1 });
  scene.assign({ runId: "e", agent: "sleep 60" });
  await scene.message("run.started", ({ runId }) => runId === "e");
  scene.service.tell({ type: "run.stop", runId: "e", fence: 1, reason: "" });
  await until("the ends", () => scene.said.filter((line) => / \([\d.]+ s\)$/.test(line)).length === 5);
  for (const line of [
    "a: completed",
    "b: failed, setup-failed: the setup of acme/app exited with 7",
    "c: failed, harness-not-found: cannot start the program /no/*** (ENOENT)",
    "d: aborted: the run was withdrawn, or this runner lost its claim",
    "e: stopped",
  ]) {
    t.ok(
      scene.said.some((said) => said.startsWith(`${line} (`)),
      line,
    );
  }
  t.ok(scene.said.includes("a: Do it, at work"));
});

t.test("names of repositories never lead out of the work folder", async (t) => {
  const scene = await RunScene.start(t);
  for (const [index, repository] of [
    "../../evil",
    "a/..",
    "--upload-pack=x/y",
    "a/b/c",
    "/etc/x",
    "a/.git",
  ].entries()) {
    const ended = await scene.work({ runId: `run_${index}`, checkouts: [{ repository }] });
    t.equal(ended.failure?.code, "checkout-failed", repository);
  }
  const job = { ...toJob({}), runId: "../../outside" };
  scene.service.sendText(JSON.stringify({ frame: "message", n: 99, ack: 0, message: { type: "run.assign", job } }));
  t.equal(await scene.service.until(() => scene.service.closed.at(-1)), 4400, "nor does the name of a run");
  t.same(readdirSync(scene.folder).sort(), ["repositories", "work"]);
});

t.test("a check that fails refuses the handover with its output; the agent may go on and try again", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({
    station: { check: "test -f right || { echo it is not right; exit 3; }" },
    agent: `${handOver("first")}; read answer; echo "$answer"; touch right; ${handOver("second")}; read answer`,
  });
  const asked = await scene.answerHandover(0, null);
  t.equal(asked.note, "second", "the service is not asked before the check passes");
  const ended = await scene.message("run.ended");
  t.match(scene.steps()[0], /handover.refused.*it is not right/);
  t.match(ended, { outcome: "completed", ending: { kind: "handover", note: "second" }, check: { passed: true } });
});

t.test("a handover that the service refuses is refused to the agent, which may try again", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ agent: `for n in 1 2; do ${handOver("here")}; read answer; echo "$answer"; done` });
  const first = await scene.answerHandover(0, "The note says too little.");
  const second = await scene.answerHandover(1, null);
  t.not(first.id, second.id);
  t.match(await scene.message("run.ended"), { outcome: "completed", ending: { kind: "handover", to: "review" } });
  t.same(scene.steps(), [
    'output: {"type":"handover.refused","reason":"The note says too little."}',
    'output: {"type":"handover.accepted"}',
  ]);
});

t.test("a run without a handover goes to the only next station, or finishes", async (t) => {
  const scene = await RunScene.start(t);
  const next = ["review"];
  scene.assign({ runId: "given", station: { next } });
  t.match(await scene.answerHandover(0, null), { runId: "given", to: "review" });
  t.match(await scene.message("run.ended"), { outcome: "completed", ending: { kind: "handover", to: "review" } });
  scene.assign({ runId: "refused", station: { next } });
  await scene.answerHandover(1, "Not today.");
  const refused = await scene.message("run.ended", ({ runId }) => runId === "refused");
  t.match(refused, { outcome: "completed", ending: { kind: "finish", note: "Not today." } });
  await until("the line", () =>
    scene.said.some((line) => line.startsWith("refused: completed, not handed over: Not today. (")),
  );
  t.ok(scene.said.some((line) => line.startsWith("given: completed, handed over to review (")));
  t.match(await scene.work({ runId: "last" }), { outcome: "completed", ending: { kind: "finish", note: "" } });
  const several = await scene.work({ runId: "several", station: { next: ["review", "ship"] } });
  t.match(several, { ending: { kind: "finish", note: /none of the next stations/ } });
  const checked = await scene.work({ runId: "checked", station: { next, check: "echo no good; exit 4" } });
  t.match(checked, {
    outcome: "failed",
    failure: { code: "check-failed", output: "no good\n" },
    check: { passed: false, exitCode: 4, output: "no good\n" },
  });
  t.equal(scene.messages("run.handover").length, 2, "a failing check asks nobody");
});

t.test("a question ends in asking; another exit code than 0 fails with the end of what was printed", async (t) => {
  const scene = await RunScene.start(t);
  const asks = await scene.work({ runId: "asks", agent: say({ type: "ask", question: "Which one?" }) });
  t.match(asks, { outcome: "completed", ending: { kind: "ask", question: "Which one?" } });
  const fails = await scene.work({ runId: "fails", agent: "echo work > a.txt; echo so far; echo bad >&2; exit 9" });
  t.match(fails, { outcome: "failed", ending: null, failure: { code: "harness-failed", message: /9/ } });
  t.match(fails.failure?.output, /so far/);
  t.match(fails.failure?.output, /bad/);
  t.match(fails.checkouts[0]?.diff, "+work", "what it did is kept");
});

t.test("lines that are too long are cut, and wrong ones are answered", async (t) => {
  const scene = await RunScene.start(t);
  await scene.work({
    agent: `head -c 300000 /dev/zero | tr '\\0' x; echo; echo after
      ${say({ type: "handover" })}; read answer; echo "$answer"; echo '{"type":"other"}'; printf end`,
  });
  const [long, after, wrong, answer, ...rest] = scene.steps();
  t.equal(long?.length, "output: ".length + 16_384);
  t.equal(after, "output: after");
  t.match(wrong, /^error: cannot parse the agent's line of type handover: /);
  t.match(answer, /^output: \{"type":"handover.refused"/);
  t.same(rest, ['output: {"type":"other"}', "output: end"]);
});

t.test("the agent sees its run and nothing of the runner's environment", async (t) => {
  process.env.SIGNALBOX_POOL_TOKEN = "pool-token";
  t.teardown(() => delete process.env.SIGNALBOX_POOL_TOKEN);
  const scene = await RunScene.start(t);
  const kept = `cp "$SIGNALBOX_PROMPT_FILE" "$SIGNALBOX_CONTEXT_FILE" ${scene.folder}`;
  await scene.work({
    agent: `env -0 > ${scene.path("env")}; ${kept}; pwd; ls`,
    harness: { env: { COLOUR: "red" }, secrets: { KEY: "hunter2-hunter2" } },
    checkouts: [{}, { repository: "acme/other" }],
  });
  const entries = readFileSync(scene.path("env"), "utf8").split("\0").filter(Boolean);
  const env = Object.fromEntries(entries.map((entry) => [entry.split("=")[0], entry.slice(entry.indexOf("=") + 1)]));
  t.match(env, { COLOUR: "red", KEY: "hunter2-hunter2", SIGNALBOX_RUN: "run_1", SIGNALBOX_TASK: "task_1" });
  t.equal(env.SIGNALBOX_STATION, "work");
  t.notMatch(JSON.stringify(env), "pool-token");
  t.ok(env.HOME?.startsWith(scene.path("work/runs")) && env.TMPDIR?.startsWith(scene.path("work/runs")));
  const folders = JSON.parse(env.SIGNALBOX_CHECKOUTS ?? "") as Record<string, string>;
  t.same(Object.keys(folders), ["acme/app", "acme/other"]);
  t.ok(
    Object.values(folders).every((folder) => folder.startsWith(`${env.PWD}/`)),
    "it stands where they all are",
  );
  t.equal(readFileSync(scene.path("prompt.md"), "utf8"), "Work well.");
  t.match(JSON.parse(readFileSync(scene.path("context.json"), "utf8")), {
    task: { title: "Do it", notes: { length: 0 } },
    line: { key: "dev" },
    station: { key: "work" },
  });
});

/**
 * A script that ignores SIGTERM. It starts one child in its own process group and another child outside of this group.
 * It writes all three pids to a file.
 */
const stubborn = (file: string) => `
  trap '' TERM
  sleep 1000 & one=$!
  setsid sleep 1000 & two=$!
  echo "$$ $one $two" > ${file}
  while :; do wait; done`;

const pidsIn = async (path: string) => (await readFile(path)).trim().split(" ").map(Number);

t.test("a stopped run is asked to end, then killed with everything it started, and still reports", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ agent: `echo work > a.txt; ${stubborn(scene.path("pids"))}` });
  const pids = await pidsIn(scene.path("pids"));
  t.equal(pids.length, 3);
  scene.service.tell({ type: "run.stop", runId: "run_1", fence: 2, reason: "another claim" });
  const taken = scene.service.tell({ type: "run.stop", runId: "run_1", fence: 1, reason: "enough" });
  await scene.service.frame("ack", ({ ack }) => ack === taken);
  t.ok(pids.some(isAlive), "it has time to end");
  scene.clock.advance(60_000);
  const ended = await scene.message("run.ended");
  t.match(ended, { outcome: "stopped", ending: null, failure: null });
  t.match(ended.checkouts[0]?.diff, "+work");
  t.same(pids.filter(isAlive), []);
});

t.test("a dropped run is killed at once and says nothing more", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ agent: stubborn(scene.path("pids")) });
  const pids = await pidsIn(scene.path("pids"));
  scene.service.tell({ type: "run.drop", runId: "run_1", fence: 1 });
  await scene.work({ runId: "run_2" });
  t.same(pids.filter(isAlive), []);
  t.same(
    scene.messages("run.ended").map(({ runId }) => runId),
    ["run_2"],
  );
});

t.test("a run that takes too long is killed and fails so", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ timeoutMinutes: 2, agent: `echo work > a.txt; echo so far; ${stubborn(scene.path("pids"))}` });
  const pids = await pidsIn(scene.path("pids"));
  scene.clock.advance(2 * 60_000 + 60_000);
  const ended = await scene.message("run.ended");
  t.match(ended, { outcome: "failed", failure: { code: "timed-out", message: /2 minutes/, output: /so far/ } });
  t.match(ended.checkouts[0]?.diff, "+work");
  t.same(pids.filter(isAlive), []);
});

t.test("a repeated job runs once; the same run under a new claim runs again", async (t) => {
  const scene = await RunScene.start(t);
  const agent = `echo $$ >> ${scene.path("starts")}; read never`;
  const job = scene.assign({ agent });
  await readFile(scene.path("starts"));
  scene.service.send({ frame: "message", n: 1, ack: 0, message: { type: "run.assign", job } });
  scene.service.tell({ type: "run.assign", job });
  scene.assign({ agent: `echo new >> ${scene.path("starts")}`, fence: 2 });
  const ended = await scene.message("run.ended");
  t.equal(ended.fence, 2);
  t.match(readFileSync(scene.path("starts"), "utf8"), /^\d+\nnew\n$/);
});

t.test("a draining runner offers no slots, finishes its runs, and leaves no files", async (t) => {
  const scene = await RunScene.start(t);
  const gate = scene.path("gate");
  scene.assign({ agent: `mkfifo ${gate}; echo on > ${scene.path("on")}; read answer < ${gate}; echo "$answer"` });
  await readFile(scene.path("on"));
  const drained = scene.runner.drain();
  await scene.message("offer", ({ slots }) => slots === 0);
  t.same(scene.messages("run.ended"), []);
  await appendFile(gate, "go on\n");
  t.match(await scene.message("run.ended"), { outcome: "completed" });
  const last = scene.service.arrived.flatMap(({ frame }) => (frame.frame === "message" ? [frame.n] : [])).at(-1) ?? 0;
  scene.service.send({ frame: "ack", ack: last });
  await drained;
  t.same(scene.steps(), ["output: go on"]);
  t.same(readdirSync(scene.path("work/runs")), []);
  t.same(await scene.service.until(() => scene.service.closed.at(-1)), 1000);
});

t.test("a stopping runner stops what it has and reports it", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ agent: `echo on > ${scene.path("on")}; sleep 1000` });
  await readFile(scene.path("on"));
  const stopped = scene.runner.stop();
  t.match(await scene.message("run.ended"), { outcome: "stopped" });
  scene.service.send({ frame: "ack", ack: 1_000 });
  await stopped;
});

t.test("the next runner kills the processes of a killed one, and removes its folders", async (t) => {
  const folder = sceneFolder(t);
  const service = await ProtocolService.start(t);
  writeFileSync(join(folder, "agent.sh"), stubborn(join(folder, "pids")));
  const killed = new RunnerProcess({
    url: service.url,
    token: service.token,
    workFolder: join(folder, "work"),
    gitUrl: join(folder, "repositories/{name}"),
    command: ["/bin/sh", join(folder, "agent.sh")],
  });
  t.teardown(() => killed.end("SIGKILL"));
  await service.frame("hello");
  service.welcome({ leaseSeconds: 86_400 });
  service.tell({ type: "run.assign", job: toJob({ harness: { args: [] } }) });
  const pids = await pidsIn(join(folder, "pids"));
  await t.rejects(RunScene.start(t, { folder }), { name: "FolderTaken" }, "two runners in one folder would clash");
  await killed.end("SIGKILL");
  t.same(pids.filter(isAlive), pids, "they outlive it");
  const scene = await RunScene.start(t, { folder });
  t.same(pids.filter(isAlive), []);
  t.same(readdirSync(join(folder, "work/runs")), []);
  t.equal((await scene.work({})).outcome, "completed");
});

t.test("a git that a killed runner was waiting for is ended by the next one", async (t) => {
  const folder = sceneFolder(t);
  const service = await ProtocolService.start(t);
  const silent = createServer((socket) => t.teardown(() => socket.destroy())).listen(0, "127.0.0.1");
  t.teardown(() => silent.close());
  await once(silent, "listening");
  const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const killed = new RunnerProcess({
    url: service.url,
    token: service.token,
    workFolder: join(folder, "work"),
    gitUrl: `${address}/{name}`,
    command: ["true"],
  });
  t.teardown(() => killed.end("SIGKILL"));
  await service.frame("hello");
  service.welcome({ leaseSeconds: 86_400 });
  const reached = once(silent, "connection");
  service.tell({ type: "run.assign", job: toJob({}) });
  await reached;
  await killed.end("SIGKILL");
  const left = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && toCommand(name).includes(address));
  t.not(left.length, 0, "it outlives the runner");
  await RunScene.start(t, { folder });
  t.same(left.map(Number).filter(isAlive), []);
});

function toCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
