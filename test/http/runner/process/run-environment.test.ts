import t from "tap";
import type { Job } from "../../../../actors/runners/protocol.js";
import { RunFolder } from "../../../../http/runner/checkout/run-folder.js";
import { environmentOf } from "../../../../http/runner/process/run-environment.js";
import { jobOf, sceneFolder } from "../run-scene.js";

/** What is passed on whatever it is. */
const machine = ["LANG", "LC_ALL", "TZ"];

async function environment(t: Parameters<typeof sceneFolder>[0], job: Job, passed: readonly string[] = []) {
  const folder = await RunFolder.create(sceneFolder(t), job);
  return { folder, env: environmentOf(job, folder, { checkouts: [], passed }) };
}

t.test("programs see of the runner's environment only what is passed by name", async (t) => {
  process.env.RUNNER_TEST_SEEN = "seen";
  process.env.RUNNER_TEST_UNSEEN = "unseen";
  t.teardown(() => {
    delete process.env.RUNNER_TEST_SEEN;
    delete process.env.RUNNER_TEST_UNSEEN;
  });
  const { env } = await environment(t, jobOf({}), ["RUNNER_TEST_SEEN", "RUNNER_TEST_ABSENT"]);
  t.equal(env.RUNNER_TEST_SEEN, "seen");
  t.same(
    Object.keys(env)
      .filter((name) => !machine.includes(name))
      .sort(),
    [
      ...["HOME", "PATH", "RUNNER_TEST_SEEN", "SIGNALBOX_CHECKOUTS", "SIGNALBOX_CONTEXT_FILE"],
      ...[
        "SIGNALBOX_PROMPT_FILE",
        "SIGNALBOX_RUN",
        "SIGNALBOX_SKILLS",
        "SIGNALBOX_STATION",
        "SIGNALBOX_TASK",
        "TMPDIR",
      ],
    ],
  );
});

t.test("a profile may say more, and its secrets come last, but a run stays itself", async (t) => {
  const harness = { env: { PATH: "/opt/bin", KEY: "plain", SIGNALBOX_RUN: "another" }, secrets: { KEY: "secret" } };
  const { env, folder } = await environment(t, jobOf({ harness }));
  t.match(env, { PATH: "/opt/bin", KEY: "secret", SIGNALBOX_RUN: "run_1", HOME: folder.home });
});

t.test("programs of a run without a task are told of none", async (t) => {
  const { task: _task, ...job } = jobOf({});
  const { env } = await environment(t, job);
  t.equal(env.SIGNALBOX_TASK, undefined);
  t.equal(env.SIGNALBOX_RUN, "run_1");
});
