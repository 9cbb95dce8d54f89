import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { type Job, MAX_OUTPUT_CHARACTERS, MAX_STEP_CHARACTERS } from "../../../actors/runners/protocol.js";
import { eventually, runnerScene } from "./runner-scene.js";

const line = (body: Record<string, unknown>) => `printf '%s\\n' '${JSON.stringify(body)}'`;
const handOver = (to: string, note: string) => `${line({ type: "handover", to, note })}; read answer; echo "$answer"`;

t.test("a run is worked from its checkout to its report, and leaves nothing behind", async (t) => {
  const { assign, handover, answer, ended, steps, git, service, workFolder, said } = await runnerScene(t);
  const agent = [
    line({ type: "step", text: "reading" }),
    line({ type: "step", kind: "tool", tool: "edit", text: "a.txt" }),
    line({ type: "cost", amount: 0.25, currency: "USD" }),
    line({ type: "cost", amount: 0.5, currency: "USD" }),
    'echo more >> a.txt; echo "plain words"; echo "a complaint" >&2',
    handOver("review", "Wrote it"),
  ].join("\n");
  assign({ agent, station: { check: "grep more a.txt" } });
  const wish = await handover();
  t.match(wish, { to: "review", note: "Wrote it", runId: "run_1", fence: 1 });
  answer(wish, null);
  const report = await ended();
  t.match(report, { outcome: "completed", failure: null, spent: { amount: 0.75, currency: "USD" } });
  t.same(report.ending, { kind: "handover", to: "review", note: "Wrote it" });
  t.same(report.check, { passed: true, exitCode: 0, output: "more\n" });
  t.equal(report.checkouts[0]?.base, git("rev-parse", "HEAD").trim());
  t.match(report.checkouts[0]?.diff, /^diff --git a\/a\.txt b\/a\.txt\n[^]*\n one\n\+more\n$/);
  const messages = service.messages(1).map(({ message }) => message);
  t.equal(messages[0]?.type, "run.started");
  t.equal(messages.at(-1)?.type, "run.ended");
  const all = messages.flatMap((message) => (message.type === "run.step" ? [message.step] : []));
  t.same(
    all.map(({ index }) => index),
    all.map((_step, place) => place),
  );
  t.same(new Set(steps()), new Set(["reading", "a.txt", "plain words", "a complaint", '{"type":"handover.accepted"}']));
  t.match(
    all.find(({ text }) => text === "a.txt"),
    { kind: "tool", tool: "edit" },
  );
  t.match(
    all.find(({ text }) => text === "a complaint"),
    { kind: "error" },
  );
  await eventually(() => said.includes("run_1: ended"));
  t.same(readdirSync(join(workFolder, "runs")), []);
});

t.test("the next run goes on from what the task has changed so far", async (t) => {
  const { assign, ended, steps } = await runnerScene(t);
  const station = { next: [] };
  assign({ agent: "rm b.txt; mv a.txt moved.txt; echo new > new.txt; printf '\\0\\1' > raw", station });
  const [first] = (await ended()).checkouts;
  assign({ runId: "run_2", agent: "ls; cat new.txt; echo more >> new.txt", station, checkouts: [{ ...first }] });
  const [second] = (await ended("run_2")).checkouts;
  t.same(steps("run_2"), ["moved.txt", "new.txt", "raw", "new"]);
  t.equal(second?.base, first?.base);
  t.match(second?.diff, /rename from a\.txt/);
  t.match(second?.diff, /\+new\n\+more\n/);
  t.match(second?.diff, /GIT binary patch/);
});

t.test("an agent sees its run, and nothing of the runner's environment but what it is to see", async (t) => {
  process.env.RUNNER_TEST_SEEN = "seen";
  process.env.RUNNER_TEST_UNSEEN = "unseen";
  t.teardown(() => {
    delete process.env.RUNNER_TEST_SEEN;
    delete process.env.RUNNER_TEST_UNSEEN;
  });
  const { assign, ended, steps, workFolder } = await runnerScene(t, {
    passEnv: ["RUNNER_TEST_SEEN", "RUNNER_TEST_NONE"],
  });
  const agent = 'env; pwd; echo "prompt: $(cat "$SIGNALBOX_PROMPT_FILE")"; tr -d "\\n" < "$SIGNALBOX_CONTEXT_FILE"';
  const job = assign({
    agent,
    station: { next: [] },
    harness: { env: { OWN: "1" }, secrets: { KEY: "s3cr3t-value" } },
  });
  await ended();
  const seen = steps();
  const names = seen.flatMap((text) => /^([A-Z_]+)=/.exec(text)?.[1] ?? []).sort();
  t.same(
    names.filter((name) => !["LANG", "LC_ALL", "TZ", "SHLVL", "OLDPWD"].includes(name)),
    [
      ...["HOME", "KEY", "OWN", "PATH", "PWD", "RUNNER_TEST_SEEN", "SIGNALBOX_CHECKOUTS", "SIGNALBOX_CONTEXT_FILE"],
      ...["SIGNALBOX_MARK", "SIGNALBOX_PROMPT_FILE", "SIGNALBOX_RUN", "SIGNALBOX_STATION", "SIGNALBOX_TASK", "TMPDIR"],
      "_",
    ].filter((name) => name !== "_" || names.includes("_")),
  );
  const checkout = join(workFolder, "runs/run_1-1/checkouts/acme/app");
  t.ok(seen.includes(checkout), "it runs in the checkout");
  t.ok(seen.includes(`SIGNALBOX_CHECKOUTS=${JSON.stringify({ "acme/app": checkout })}`));
  t.ok(seen.includes(`HOME=${join(workFolder, "runs/run_1-1/home")}`));
  t.ok(seen.includes("prompt: Write it."));
  const { task, line: of, station } = job;
  t.same(JSON.parse(seen.at(-1) ?? ""), { task, line: of, station } satisfies Partial<Job>);
});

t.test("with several repositories the agent runs in the folder that holds them", async (t) => {
  const { assign, ended, steps } = await runnerScene(t);
  const checkouts = [{}, { repository: "acme/app", base: null }].slice(0, 1);
  assign({ agent: "pwd", station: { next: [] }, checkouts: [...checkouts, { repository: "acme/../evil" }] });
  t.match(await ended(), { outcome: "failed", failure: { code: "checkout-failed", output: /owner\/name/ } });
  t.same(steps(), []);
  assign({ runId: "run_2", agent: "pwd; ls", station: { next: [] }, checkouts: [] });
  await ended("run_2");
  t.match(steps("run_2"), [/runs\/run_2-1\/checkouts$/]);
});

t.test("a failing check refuses the handover with its output; the agent mends it and tries again", async (t) => {
  const { assign, handover, answer, ended, steps } = await runnerScene(t);
  const agent = [handOver("review", "done"), "echo more >> a.txt", handOver("review", "really done")].join("\n");
  assign({ agent, station: { check: "grep more a.txt || { echo no more in it; exit 3; }" } });
  const wish = await handover();
  t.equal(wish.note, "really done", "the service was not asked before the check passed");
  answer(wish, null);
  const report = await ended();
  t.match(report, { outcome: "completed", check: { passed: true, exitCode: 0 }, ending: { note: "really done" } });
  t.match(steps(), [/handover\.refused.*check failed.*no more in it/, /handover\.accepted/]);
});

t.test("a handover that the service refuses is told to the agent; only one is ever given", async (t) => {
  const { assign, handover, answer, ended, steps, service } = await runnerScene(t);
  assign({ agent: [1, 2, 3].map((n) => handOver("review", `try ${n}`)).join("\n") });
  answer(await handover(1), "the note names no file");
  answer(await handover(2), null);
  t.match(await ended(), { outcome: "completed", ending: { kind: "handover", note: "try 2" } });
  t.match(steps(), [/refused.*names no file/, /accepted/, /refused.*handed over already/]);
  t.equal(service.messages(1).filter(({ message }) => message.type === "run.handover").length, 2);
});

t.test("a check that fails at the end fails the run with its output; the changes are reported", async (t) => {
  const { assign, ended } = await runnerScene(t);
  assign({ agent: "echo more >> a.txt", station: { check: "echo not content; exit 3" } });
  const report = await ended();
  t.match(report, { outcome: "failed", ending: null, check: { passed: false, exitCode: 3 } });
  t.match(report.failure, { code: "check-failed", output: "not content\n" });
  t.match(report.checkouts[0]?.diff, /\+more/);
});

t.test("without a word from the agent the runner hands over to the only next station", async (t) => {
  const { assign, handover, answer, ended } = await runnerScene(t);
  assign({ agent: "true" });
  const wish = await handover();
  t.match(wish, { to: "review", note: "" });
  answer(wish, null);
  t.same((await ended()).ending, { kind: "handover", to: "review", note: "" });
});

t.test("what cannot be handed over is finished, with a note that says why", async (t) => {
  const { assign, handover, answer, ended } = await runnerScene(t);
  assign({ agent: "true" });
  answer(await handover(), "not on a Friday");
  t.same((await ended()).ending, { kind: "finish", note: "not on a Friday" });
  assign({ runId: "run_2", agent: "true", station: { next: [] } });
  t.same((await ended("run_2")).ending, { kind: "finish", note: "" });
  assign({ runId: "run_3", agent: "true", station: { next: ["review", "ship"] } });
  t.match((await ended("run_3")).ending, { kind: "finish", note: /none of the next stations/ });
});

t.test("a question ends the run without a check", async (t) => {
  const { assign, ended } = await runnerScene(t);
  assign({ agent: line({ type: "ask", question: "Which database?" }), station: { check: "exit 1" } });
  t.match(await ended(), {
    ...{ outcome: "completed", check: null },
    ending: { kind: "ask", question: "Which database?" },
  });
});

t.test("what goes wrong before the agent begins is said with its output, and the run never starts", async (t) => {
  const { assign, ended, service } = await runnerScene(t);
  const station = { next: [] };
  const cases: [string, Parameters<typeof assign>[0], Record<string, unknown>][] = [
    ["an image", { agent: "true", checkouts: [{ image: "node:20" }] }, { code: "no-image", message: /node:20/ }],
    ["no repository", { agent: "true", checkouts: [{ repository: "acme/none" }] }, { code: "checkout-failed" }],
    ["no such commit", { agent: "true", checkouts: [{ base: "0".repeat(40) }] }, { code: "checkout-failed" }],
    ["an option", { agent: "true", checkouts: [{ base: "--upload-pack=x" }] }, { code: "checkout-failed" }],
    ["a diff of another", { agent: "true", checkouts: [{ diff: "no diff\n" }] }, { code: "checkout-failed" }],
    [
      "setup",
      { agent: "true", checkouts: [{ setup: "seq 100000; echo it is missing >&2; exit 9" }] },
      { code: "setup-failed", message: /ended with 9/, output: /it is missing\n$/ },
    ],
    ["no program", { agent: ["/no/such/agent"] }, { code: "harness-not-found", message: /\/no\/such\/agent.*ENOENT/ }],
    ["no argument", { agent: [] }, { code: "harness-not-found", message: /--command/ }],
    ["another harness", { agent: "true", harness: { name: "other" } }, { code: "harness-not-found", message: /other/ }],
  ];
  for (const [index, [name, wishes, failure]] of cases.entries()) {
    const runId = `run_${index}`;
    assign({ ...wishes, runId, station });
    const report = await ended(runId);
    t.match(report, { outcome: "failed", ending: null, failure }, name);
    t.ok((report.failure?.output.length ?? 0) <= MAX_OUTPUT_CHARACTERS);
  }
  t.notOk(service.messages(1).some(({ message }) => message.type === "run.started"));
});

t.test("an agent that fails does so with the end of what it printed; its changes are kept", async (t) => {
  const { assign, ended } = await runnerScene(t);
  assign({ agent: "echo more >> a.txt; seq 20000; echo the last words >&2; exit 7" });
  const report = await ended();
  t.match(report, { outcome: "failed", failure: { code: "harness-failed", message: /ended with 7/ } });
  t.match(report.failure?.output, /the last words\n/);
  t.match(report.failure?.output, /20000\n/);
  t.ok((report.failure?.output.length ?? 0) <= MAX_OUTPUT_CHARACTERS);
  t.match(report.checkouts[0]?.diff, /\+more/);
});

t.test("lines that are no messages are shown; a handover that is wrong is answered", async (t) => {
  const { assign, ended, steps } = await runnerScene(t);
  const agent = [
    'echo "{ no json"; echo "[1]"; echo "{}"; echo \'{"type":"unheard"}\'',
    line({ type: "handover", note: "to nobody" }),
    'read answer; echo "$answer"',
    line({ type: "cost", amount: -1, currency: "USD" }),
    line({ type: "cost", amount: 1, currency: "USD" }),
    line({ type: "cost", amount: 1, currency: "EUR" }),
    "head -c 300000 /dev/zero | tr '\\0' x; echo; echo after",
  ].join("\n");
  assign({ agent, station: { next: [] } });
  t.match(await ended(), { outcome: "completed", spent: { amount: 1, currency: "USD" } });
  const [a, b, c, d, wrong, answered, negative, euro, long, after] = steps();
  t.same([a, b, c, d], ["{ no json", "[1]", "{}", '{"type":"unheard"}']);
  t.match(wrong, /handover line .* was not understood: to:/);
  t.match(answered, /handover\.refused/);
  t.match(negative, /cost line .* was not understood/);
  t.match(euro, /EUR cannot be added to one in USD/);
  t.equal(long?.length, MAX_STEP_CHARACTERS);
  t.equal(after, "after");
});

t.test("the values of secrets are taken out of what is said", async (t) => {
  const { assign, ended, steps, handover, answer } = await runnerScene(t);
  const secrets = { KEY: "s3cr3t-value", PEM: "first line of it\nsecond line of it" };
  const agent = `echo "key $KEY"; echo "$PEM"; ${handOver("review", "with s3cr3t-value")}; echo "$KEY" >&2; exit 4`;
  assign({ agent, harness: { secrets }, station: { check: 'echo "checked with $KEY"' } });
  const wish = await handover();
  t.equal(wish.note, "with ***");
  answer(wish, "no");
  const report = await ended();
  t.same(report.check?.output, "checked with ***\n");
  t.notMatch(JSON.stringify(report), /s3cr3t|line of it/);
  t.notMatch(JSON.stringify(steps()), /s3cr3t|line of it/);
  t.ok(steps().includes("key ***"));
});

t.test("a run that is assigned twice is worked once; one with a newer fence takes its place", async (t) => {
  const { assign, ended, service, folder } = await runnerScene(t);
  const agent = `echo x >> ${folder}/ran; sleep 1000`;
  const job = assign({ agent });
  await eventually(() => existsSync(join(folder, "ran")));
  assign({ agent });
  service.send({ frame: "message", n: 1, ack: 0, message: { type: "run.assign", job } });
  assign({ agent: `echo y >> ${folder}/ran`, fence: 2, station: { next: [] } });
  t.match(await ended("run_1", 2), { outcome: "completed" });
  t.equal(readFileSync(join(folder, "ran"), "utf8"), "x\ny\n");
  t.notOk(service.messages(1).some(({ message }) => message.type === "run.ended" && message.fence === 1));
});
