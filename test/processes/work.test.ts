import { rmSync, writeFileSync } from "node:fs";
import t from "tap";
import { until } from "../support/until.js";
import { addLine, arrange, listRuns, openTask, runner, SHORT_LEASE, started } from "./work-setting.js";

t.test("a runner killed with -9 in the middle of a run leads to another attempt on another runner", async (t) => {
  const setting = await arrange(t, { leaseSeconds: SHORT_LEASE });
  const taskId = await openTask(setting);
  const [waiting] = await listRuns(setting, taskId);
  t.match(waiting?.waiting?.reason, /No runner of pool main is connected/);
  const first = runner(t, setting, "first");
  await until("one agent", () => started(setting) === 1);
  await first.end("SIGKILL");
  runner(t, setting, "second");
  await until("a second agent", () => started(setting) === 2);
  writeFileSync(setting.gate, "");
  const runs = await until("every run's end", async () => {
    const all = await listRuns(setting, taskId);
    return all.every(({ state }) => state === "ended") && all;
  });
  t.same(
    runs.map(({ outcome }) => outcome),
    ["completed", "abandoned"],
  );
  const run = await setting.service.request("GET", `/api/runs/${runs[0]?.id}`, { headers: setting.cookie });
  t.match(run.body?.checkouts, [{ diff: /\+done/ }]);
  const task = await setting.service.request("GET", `/api/tasks/${taskId}`, { headers: setting.cookie });
  t.equal(task.body?.state, "done");
});

t.test("runs live through a service killed with -9, and end before the runner that is told to end", async (t) => {
  const setting = await arrange(t);
  const only = runner(t, setting, "only");

  await t.test(
    "a service killed with -9 comes back and goes on with the run that its runner still holds",
    async (t) => {
      const taskId = await openTask(setting);
      await until("one agent", () => started(setting) === 1);
      await until("the run to be under way", async () => (await listRuns(setting, taskId))[0]?.state === "running");
      await setting.restart(() => writeFileSync(setting.gate, ""));
      const runs = await until("every run's end", async () => {
        const all = await listRuns(setting, taskId);
        return all.every(({ state }) => state === "ended") && all;
      });
      t.same(
        runs.map(({ outcome }) => outcome),
        ["completed"],
        "the same run, once",
      );
      t.equal(started(setting), 1, "the agent was started once");
    },
  );

  await t.test("a runner told to end finishes what it has first, and takes nothing more", async (t) => {
    rmSync(setting.gate);
    const taskId = await openTask(setting);
    await until("another agent", () => started(setting) === 2);
    const ended = only.end("SIGTERM");
    await until("the runner to drain", () => only.output.some((line) => line.includes("draining")));
    const late = await openTask(setting);
    writeFileSync(setting.gate, "");
    t.equal(await ended, 0);
    t.same(
      (await listRuns(setting, taskId)).map(({ outcome }) => outcome),
      ["completed"],
    );
    t.match(await listRuns(setting, late), [{ state: "queued", outcome: null }]);
  });
});

t.test("what fails on the runner reaches the task with its output", async (t) => {
  const setting = await arrange(t, { station: { harness: "command", check: "echo the check is not content; exit 3" } });
  runner(t, setting, "only");

  await t.test("a setup, before any agent began", async (t) => {
    const setup = "echo the compiler is not installed >&2; exit 5";
    await addLine(setting, "unset", { repository: { setup } });
    const taskId = await openTask(setting, "unset");
    const [run] = await until("every run's end", async () => {
      const all = await listRuns(setting, taskId);
      return all[0]?.state === "ended" && all;
    });
    t.match(run, { outcome: "failed", failure: { code: "setup-failed", output: /the compiler is not installed/ } });
    t.equal(started(setting), 0);
    const task = await setting.service.request("GET", `/api/tasks/${taskId}`, { headers: setting.cookie });
    t.match(task.body, { state: "inbox", failure: { code: "setup-failed", output: /the compiler is not installed/ } });
  });

  await t.test("a check", async (t) => {
    writeFileSync(setting.gate, "");
    const taskId = await openTask(setting);
    const [run] = await until("every run's end", async () => {
      const all = await listRuns(setting, taskId);
      return all[0]?.state === "ended" && all;
    });
    t.equal(run?.outcome, "failed");
    t.equal(run?.failure?.code, "check-failed");
    t.match(run?.failure?.output, /not content/);
    const task = await setting.service.request("GET", `/api/tasks/${taskId}`, { headers: setting.cookie });
    t.equal(task.body?.state, "inbox");
    t.match(task.body?.failure, { code: "check-failed" });
  });
});
