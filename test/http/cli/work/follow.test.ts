import { EventEmitter, once } from "node:events";
import t from "tap";
import type { Ran, RunOptions } from "../../../support/signalbox.js";
import { until } from "../../../support/until.js";
import { openWorkScene } from "./work-scene.js";

/** Returns the lines of the output without colours. */
const plain = ({ out }: Ran) => out.replace(/<\w+>|<\/>/g, "").split("\n");

/** Simulates a person who never answers. Aborts `asked` when the command asks its question. */
function* hesitate(asked: AbortController): Generator<Promise<string>> {
  asked.abort();
  yield new Promise(() => undefined);
}

t.test("a followed task", async (t) => {
  const scene = await openWorkScene(t);
  const { run, peer, person, task } = scene;

  /** Opens a task and follows it; resolves once its run has started. */
  const follow = async (options: RunOptions = {}, flags = "") => {
    const ended = run(`task open "Follow me" --follow ${flags}`, options);
    const job = await peer.job();
    peer.start(job);
    return { ended, job, taskId: job.task?.id ?? "" };
  };

  /** Ends a run of the first station, and the review of its changes. */
  const finish = async (job: Parameters<typeof peer.handOver>[0]) => {
    await peer.handOver(job, "review", "look at it");
    peer.end(await peer.job());
  };

  await t.test("shows steps, reviews and the question, whose answer is typed, until it is done", async (t) => {
    const { ended, job } = await follow({ answers: ["", "Blue."] });
    for (const index of [0, 1, 2]) peer.step(job, index);
    await peer.handOver(job, "review", "look at it");
    const review = await peer.job();
    peer.start(review);
    peer.step(review, 0);
    await peer.handOver(review, "work", "not yet");
    const again = await peer.job();
    peer.end(again, { ending: { kind: "ask", question: "Red or blue?" } });
    const answered = await peer.job();
    t.equal(answered.task?.notes.at(-1)?.text, "Blue.");
    await finish(answered);
    const { code, out, err } = await ended;
    t.equal(code, 0, err);
    const lines = plain({ code, out, err });
    const shown = lines.filter((line) => !/: (queued|running)/.test(line) && !/^(just now|\d+ s ago) /.test(line));
    t.match(lines[0], /^task_\S+: opened at core\/dev/);
    t.same(shown.slice(1), [
      ...["step 0", "step 1", "step 2", "work: completed, handed over to review", "  look at it"],
      ...["step 0", "review: completed, handed over to work", "  not yet"],
      ...["work: completed, with a question", "work asks: Red or blue?", "  Blue."],
      ...["work: completed, handed over to review", "  look at it", "review: completed", "done"],
    ]);
    t.equal(err.split("Answer:").length, 3, "an empty line is no answer");
    t.match(err, /signalbox run diff shows the changes/);
  });

  await t.test("without a terminal prints the question, and continues when it is answered elsewhere", async (t) => {
    const asked = new EventEmitter();
    const { ended, job, taskId } = await follow({ onNote: (line) => asked.emit(line.slice(0, 6)) });
    const hint = once(asked, "answer");
    peer.end(job, { ending: { kind: "ask", question: `Which ${"long ".repeat(1_000)}one?` } });
    await hint;
    t.match(await run('task answer "The second one"'), { code: 0, out: `answered: Follow me (${taskId})` });
    await finish(await peer.job());
    const ran = await ended;
    t.equal(ran.code, 0, ran.err);
    t.match(ran.out, /work asks: Which (long ){1000}one\?/);
    t.match(ran.err, `answer it with: signalbox task answer "…" --task ${taskId}`);
  });

  await t.test("takes the question back when it is answered elsewhere", async (t) => {
    const asked = new AbortController();
    const { ended, job, taskId } = await follow({ answers: hesitate(asked) });
    peer.end(job, { ending: { kind: "ask", question: "Red or blue?" } });
    await once(asked.signal, "abort");
    await run(`task answer Blue. --task ${taskId}`);
    await finish(await peer.job());
    const ran = await ended;
    t.equal(ran.code, 0, ran.err);
    t.match(ran.err, /already answered/);
  });

  await t.test("that failed ends with 1, unless the person runs the station again", async (t) => {
    const failure = { code: "harness-failed", message: "It broke.", output: "line 1\nboom" } as const;
    const first = await follow();
    peer.step(first.job, 0);
    peer.end(first.job, { outcome: "failed", failure: { ...failure, output: "tep 0\nstep 0\nline 1\nboom" } });
    const ran = await first.ended;
    t.equal(ran.out.split("step 0").length, 2, "what the steps have shown is not repeated");
    t.equal(ran.out.split("It broke.").length, 2, "and so the reason");
    t.match(ran, { code: 1, out: /boom\nwork: failed: It broke\.$/ });
    t.match(ran.err, /the task failed and is in the inbox: run signalbox task retry/);
    const second = await follow({ answers: ["y", "n"] });
    peer.end(second.job, { outcome: "failed", failure });
    peer.end(await peer.job(), { outcome: "failed", failure });
    t.match(await second.ended, { code: 1, err: /again\? \[y\/N\][\s\S]*again\? \[y\/N\]/ });
  });

  await t.test("asks for approvals: yes, or the reason why not", async (t) => {
    const { ended, job } = await follow({ answers: ["y", "Too dangerous."] });
    peer.askPermission(job, { id: "1-1" });
    t.match(await peer.message("run.permission-answered"), { verdict: "approved" });
    const from = peer.frames.length;
    peer.askPermission(job, { id: "1-2", inputs: JSON.stringify({ command: "rm ".repeat(2_000) }) });
    t.match(await peer.message("run.permission-answered", from), {
      id: "1-2",
      verdict: "dismissed",
      reason: "Too dangerous.",
    });
    await finish(job);
    const ran = await ended;
    t.equal(ran.code, 0, ran.err);
    const lines = plain(ran).join("\n");
    t.match(lines, /asks for approval: shell \{"command":"ls"\} \(To look\.\)/);
    t.match(lines, /asks for approval: shell \{"command":"(rm ){2000}/);
  });

  await t.test(
    "goes on without the one who follows: an interruption and the end of the input end the command",
    async (t) => {
      const ending = new AbortController();
      const first = await follow({ answers: hesitate(ending), interrupted: ending.signal });
      peer.end(first.job, { ending: { kind: "ask", question: "Red or blue?" } });
      const later = /\nthe task waits for an answer: signalbox task answer "…"$/;
      t.match(await first.ended, { code: 130, err: later });
      t.match(await run("task show --follow", { answers: [] }), { code: 130, err: later });
      t.match(await task(first.taskId), { state: "inbox" });
      const closed = run(`task show ${first.taskId} --follow`);
      await person.request("POST", `/api/tasks/${first.taskId}/close`, {});
      t.match(await closed, { code: 1, out: /closed$/ });
    },
  );

  await t.test("prints one JSON value at its end, and the progress to standard error", async (t) => {
    const { ended, job, taskId } = await follow({}, "--json");
    peer.step(job, 0);
    await finish(job);
    const { code, out, err } = await ended;
    t.equal(code, 0, err);
    t.match(JSON.parse(out), { id: taskId, state: "done" });
    t.match(err, /step 0/);
  });

  await t.test("starts with the latest 200 steps, and each long text is whole", async (t) => {
    const { taskId, job } = await scene.begin();
    const text = "word ".repeat(1_000);
    for (let index = 0; index < 250; index += 1) peer.step(job, index);
    const { runId, fence } = job;
    await until("the steps are stored", async () => {
      const { body } = await person.request("GET", `/api/runs/${runId}?diff=false`);
      return body?.steps === 250;
    });
    const shown = new AbortController();
    const printed = (line: string) => line === "step 249" && shown.abort();
    const following = run(`task show ${taskId} --follow`, { printed });
    await once(shown.signal, "abort");
    peer.say({ type: "run.step", runId, fence, step: { index: 250, kind: "message", text, tool: null, spent: null } });
    await finish(job);
    const { code, out, err } = await following;
    t.equal(code, 0, err);
    t.match(out, /\n\(50 earlier steps: signalbox run logs run_\w+\)\nstep 50\nstep 51\n/);
    t.match(out, /(word ){999}word\nwork: completed, handed/);
    t.equal(out.split("step 249\n").length, 2, "each step once");
  });
});
