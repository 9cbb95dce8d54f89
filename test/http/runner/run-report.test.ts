import { readFileSync } from "node:fs";
import t from "tap";
import { RunScene } from "./run-scene.js";

/** Tests the parts of a run's report other than the run's changes. */

t.test("what is in no diff is named on the run and in its report, and the rest arrives", async (t) => {
  const scene = await RunScene.start(t);
  const secret = "s3cr3t-value";
  const agent = `mkdir -p inner .GIT; git init -q inner; echo in > inner/f; echo x > .GIT/${secret}; git worktree add -q tree; echo done`;
  const ended = await scene.work({ agent, harness: { secrets: { KEY: secret } } });
  t.match(ended, { outcome: "completed", failure: null });
  t.match(ended.checkouts[0]?.diff, /^diff --git a\/inner\/f b\/inner\/f\n(?!.*diff --git)/s);
  t.match(ended.remarks, [/^Left out of the changes to acme\/app:\n- \.GIT\/\*\*\*: .*\n- tree: .*worktree/]);
  t.same(scene.steps(), ["output: done", `error: ${ended.remarks?.[0]}`]);
  const order = scene.service.arrived.flatMap(({ frame }) => (frame.frame === "message" ? [frame.message.type] : []));
  t.same(order.slice(-2), ["run.step", "run.ended"], "before the run counts as done");
});

t.test("a run that is stopped, and one that fails, say it too", async (t) => {
  const scene = await RunScene.start(t);
  const ended = await scene.work({ agent: "echo x > 'git~1'; exit 3" });
  t.match(ended, { outcome: "failed", failure: { code: "harness-failed" }, remarks: [/git~1/] });
  scene.assign({ runId: "run_2", agent: `echo x > 'git~1'; echo on; sleep 100` });
  await scene.message("run.step", ({ runId }) => runId === "run_2");
  scene.service.tell({ type: "run.stop", runId: "run_2", fence: 1, reason: "" });
  t.match(await scene.message("run.ended", ({ runId }) => runId === "run_2"), {
    outcome: "stopped",
    remarks: [/git~1/],
  });
});

t.test("that an agent said nothing and changed nothing is told; of any other it is not", async (t) => {
  const scene = await RunScene.start(t);
  const nothing = { outcome: "completed", remarks: ["The agent exited without output, and nothing changed."] };
  t.match(await scene.work({ agent: "touch a.txt; git commit -q --allow-empty -m Empty" }), nothing);
  const blank = `printf '\\n  \\n'; echo '{"type":"step","text":" "}'`;
  t.match(await scene.work({ runId: "b", agent: blank }), nothing, "blank lines are no output");
  const ask = `printf '%s\\n' '{"type":"ask","question":"Which?"}'`;
  const said = { c: "echo hi", d: "rm a.txt", e: ask, f: "exit 1" };
  for (const [runId, agent] of Object.entries(said)) {
    t.equal((await scene.work({ runId, agent })).remarks, undefined, agent);
  }
  const { checkouts } = await scene.work({ runId: "h", agent: "echo more >> a.txt" });
  const before = { base: checkouts[0]?.base ?? "", diff: checkouts[0]?.diff ?? "" };
  t.match(await scene.work({ runId: "i", checkouts: [before] }), nothing, "what the task changed before is not its");
});

t.test("a folder that git reads without an end fails the run after its time, and holds up no other", async (t) => {
  const scene = await RunScene.start(t);
  scene.assign({ agent: "mkfifo .gitignore; echo made" });
  await scene.message("run.step");
  t.match(await scene.work({ runId: "run_2", agent: "echo hi" }), { outcome: "completed" });
  scene.clock.advance(10 * 60_000);
  const { outcome, failure } = await scene.message("run.ended", ({ runId }) => runId === "run_1");
  t.match(
    { outcome, failure },
    { outcome: "failed", failure: { code: "runner-error", message: /cannot read the changes/ } },
  );
});

t.test("an agent finds prompt, task and notes in one file, and texts that end with a newline", async (t) => {
  const scene = await RunScene.start(t);
  const agent = `cp "$SIGNALBOX_TASK_FILE" "$SIGNALBOX_PROMPT_FILE" "$SIGNALBOX_CONTEXT_FILE" ${scene.folder}`;
  await scene.work({ agent, task: { notes: [{ at: "2026-01-02", from: "person usr_1", text: "Use blue.\n" }] } });
  t.equal(
    readFileSync(scene.path("task.md"), "utf8"),
    "Work well.\n\n# Task: Do it\n\nhttp://127.0.0.1/tasks/1\n\nAll of it.\n\n## Notes\n\n### 2026-01-02, person usr_1\n\nUse blue.\n",
  );
  t.equal(readFileSync(scene.path("prompt.md"), "utf8"), "Work well.");
  t.match(readFileSync(scene.path("context.json"), "utf8"), /\}\n$/);
});
