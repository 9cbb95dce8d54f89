import t from "tap";
import type { Job } from "../../../../actors/runners/job.js";
import { RunFolder } from "../../../../http/runner/checkout/run-folder.js";
import { toEnvironment } from "../../../../http/runner/process/run-environment.js";
import { sceneFolder, toJob } from "../run-scene.js";

/** Variables that the runner always passes on, besides `PATH`. */
const machine = ["LANG", "LC_ALL", "TZ"];

async function environment(
  t: Parameters<typeof sceneFolder>[0],
  job: Job,
  { passed = [], secrets = true }: { readonly passed?: readonly string[]; readonly secrets?: boolean } = {},
) {
  const folder = await RunFolder.create(sceneFolder(t), job);
  return { folder, env: toEnvironment(job, folder, { checkouts: [], passed, secrets }) };
}

t.test("programs see of the runner's environment only what is passed by name", async (t) => {
  process.env.RUNNER_TEST_SEEN = "seen";
  process.env.RUNNER_TEST_UNSEEN = "unseen";
  t.teardown(() => {
    delete process.env.RUNNER_TEST_SEEN;
    delete process.env.RUNNER_TEST_UNSEEN;
  });
  const { env } = await environment(t, toJob({}), { passed: ["RUNNER_TEST_SEEN", "RUNNER_TEST_ABSENT"] });
  t.equal(env.RUNNER_TEST_SEEN, "seen");
  t.same(
    Object.keys(env)
      .filter((name) => !machine.includes(name))
      .sort(),
    [
      ...["HOME", "PATH", "RUNNER_TEST_SEEN", "SIGNALBOX_CHECKOUTS", "SIGNALBOX_CONTEXT_FILE"],
      ...[
        "SIGNALBOX_MCP_CONFIG",
        "SIGNALBOX_PROMPT_FILE",
        "SIGNALBOX_RUN",
        "SIGNALBOX_SKILLS",
        "SIGNALBOX_STATION",
        "SIGNALBOX_TASK",
        "SIGNALBOX_TASK_FILE",
        "TMPDIR",
      ],
    ],
  );
});

t.test("a profile may say more, and its secrets come last, but a run stays itself", async (t) => {
  const harness = { env: { PATH: "/opt/bin", KEY: "plain", SIGNALBOX_RUN: "another" }, secrets: { KEY: "secret" } };
  const { env, folder } = await environment(t, toJob({ harness }));
  t.match(env, { PATH: "/opt/bin", KEY: "secret", SIGNALBOX_RUN: "run_1", HOME: folder.home });
});

t.test("programs of a run without a task are told of none", async (t) => {
  const { task: _task, ...job } = toJob({});
  const { env } = await environment(t, job);
  t.equal(env.SIGNALBOX_TASK, undefined);
  t.equal(env.SIGNALBOX_RUN, "run_1");
});

t.test("in a replay nothing is passed by which git or a code host is given credentials", async (t) => {
  const credentials = [
    ...["SSH_AUTH_SOCK", "SSH_ASKPASS", "GIT_ASKPASS", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL"],
    ...["GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITLAB_TOKEN", "BITBUCKET_TOKEN"],
  ];
  const others = ["MODEL_API_KEY", "GITHUB_WORKSPACE", "DIGIT_COUNT"];
  const passed = [...credentials, ...others];
  const before = { ...process.env };
  t.teardown(() => {
    process.env = before;
  });
  for (const name of passed) process.env[name] = "passed";
  const replay = { does: "repeat", secretsFor: { check: false, setup: [] } } as const;
  const named = (env: Record<string, string>) => passed.filter((name) => env[name] === "passed");
  t.same(named((await environment(t, toJob({}), { passed })).env), passed);
  const job = toJob({ replay: { ...replay, secretsFor: { check: false, setup: [] } } });
  t.same(named((await environment(t, job, { passed })).env), others);
});

t.test("a program that gets no secrets sees the profile's other variables", async (t) => {
  const harness = { env: { PLAIN: "plain", KEY: "plain" }, secrets: { KEY: "secret" } };
  const { env } = await environment(t, toJob({ harness }), { secrets: false });
  t.match(env, { PLAIN: "plain", KEY: "plain" });
  t.notMatch(JSON.stringify(env), /secret/);
});
