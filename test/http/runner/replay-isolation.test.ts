import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Job } from "../../../actors/runners/job.js";
import { inRepository } from "../../support/repository.js";
import { PASSWORD, startGitHost } from "./git-host.js";
import { RunScene, readFile, sceneFolder } from "./run-scene.js";

/** How a replay run isolates its effects: real agents that try to escape. */

const say = (line: Record<string, unknown>): string => `printf '%s\\n' '${JSON.stringify(line)}'`;
const replayed = (secretsFor: NonNullable<Job["replay"]>["secretsFor"] = { check: false, setup: [] }) => ({
  does: "repeat" as const,
  secretsFor,
});

/** Returns the branches of a repository, with their commits. */
const branches = (folder: string): string => inRepository(folder, "for-each-ref", "refs/heads");

/**
 * Opens a scene whose runner fetches from a code host with a password. `remote` is the address without the password.
 */
async function hostedScene(t: Test, passEnv: readonly string[] = []) {
  const folder = sceneFolder(t);
  const host = await startGitHost(t, join(folder, "repositories"));
  const scene = await RunScene.start(t, { folder, passEnv, gitUrl: `${host.urlWithPassword}/{name}/.git` });
  const repository = join(folder, "repositories/acme/app");
  return { scene, host, repository, remote: `${host.url}/acme/app/.git`, before: branches(repository) };
}

/** An agent that changes a file, and pushes the change to every remote that the agent knows. */
const pusher = `echo more >> a.txt; git commit --quiet --all -m More
  git push; git push origin HEAD:refs/heads/escaped; git push --force origin HEAD:refs/heads/main
  git push "$(git remote get-url origin)" HEAD:refs/heads/escaped; git push "$REMOTE" HEAD:refs/heads/escaped; echo tried`;

t.test("what an agent pushes goes nowhere, and its change is in the report", async (t) => {
  const { scene, host, repository, remote, before } = await hostedScene(t);
  const ended = await scene.work({ agent: pusher, harness: { env: { REMOTE: remote } }, replay: replayed() });
  t.match(ended, { outcome: "completed", checkouts: [{ diff: /^\+more$/m }] });
  t.equal(branches(repository), before);
  const mirror = scene.path("work/mirrors/acme/app.git");
  t.equal(branches(mirror), before, "nor do later runs begin from it");
  t.match(scene.steps().join("\n"), /'nothing-is-pushed-from-a-run' does not appear to be a git repository/);
  t.match(scene.steps().join("\n"), /remote rejected.*deny updating a hidden ref/);
  t.same(
    host.requests.filter((request) => request.startsWith("200") && request.includes("receive-pack")),
    [],
  );
  t.ok(host.requests.some((request) => request.startsWith("401") && request.includes("receive-pack")));
});

t.test("the password of the runner's git is nowhere for an agent to find", async (t) => {
  const { scene } = await hostedScene(t);
  const search = `env; git config --list; find .. ../../../home ../../../context -type f -exec grep -l ${PASSWORD} {} + | sed "s/^/found /"`;
  await scene.work({ agent: `cat .git/config; ${search}; echo searched`, replay: replayed() });
  const steps = scene.steps().join("\n");
  t.match(steps, /searched/);
  t.notMatch(steps, /pass-of|robot|\*\*\*|found/);
});

t.test("a helper or a program that the machine has for signing in serves other runs, and no replay", async (t) => {
  const { scene, host, repository, remote, before } = await hostedScene(t, ["GIT_ASKPASS"]);
  const askpass = scene.path("askpass");
  writeFileSync(askpass, `#!/bin/sh\ncase "$1" in User*) echo robot;; *) echo ${PASSWORD};; esac\n`);
  chmodSync(askpass, 0o755);
  const helper = scene.path("helper");
  writeFileSync(helper, `#!/bin/sh\n[ "$1" = get ] && printf 'username=robot\\npassword=${PASSWORD}\\n'\n`);
  chmodSync(helper, 0o755);
  // Simulates the machine's git configuration, which a test cannot write.
  const system = scene.path("gitconfig");
  writeFileSync(system, `[credential "${host.url}"]\n\thelper = ${helper}\n[credential]\n\thelper = ${helper}\n`);
  const push = 'git push "$REMOTE" HEAD:refs/heads/$BRANCH';
  const env = (branch: string) => ({ REMOTE: remote, BRANCH: branch, GIT_CONFIG_SYSTEM: system });

  await scene.work({ runId: "run_1", agent: `${push}; true`, harness: { env: env("kept-in") }, replay: replayed() });
  process.env.GIT_ASKPASS = askpass;
  t.teardown(() => {
    delete process.env.GIT_ASKPASS;
  });
  await scene.work({ runId: "run_2", agent: `${push}; true`, harness: { env: env("kept-in") }, replay: replayed() });
  t.equal(branches(repository), before);

  await scene.work({ runId: "run_3", agent: push, harness: { env: env("by-askpass") } });
  delete process.env.GIT_ASKPASS;
  await scene.work({ runId: "run_4", agent: push, harness: { env: env("by-helper") } });
  t.match(branches(repository), /by-askpass[\s\S]*by-helper/, "the agents of other runs get out so");
});

t.test("leave that an agent asks for is dismissed at once, and nobody is asked", async (t) => {
  const scene = await RunScene.start(t);
  const ask = (id: string) =>
    `${say({ type: "permission", id, tool: "shell", inputs: { command: "deploy" } })}; read answer; echo "$answer"`;
  const ended = await scene.work({ agent: `${ask("1")}; ${ask("2")}`, replay: replayed() });
  t.equal(ended.outcome, "completed");
  t.match(scene.steps(), [/"permission\.dismissed","id":"1","reason":"Nobody can/, /dismissed","id":"2"/]);
  t.same(scene.messages("run.permission"), []);
});

t.test("a question ends the run: what its agent would do afterwards is not done", async (t) => {
  const scene = await RunScene.start(t);
  const after = scene.path("after");
  const agent = `echo more >> a.txt; ${say({ type: "ask", question: "Which one?" })}; read answer; echo on > ${after}`;
  const ended = await scene.work({
    agent,
    station: { next: ["review"], check: `echo on > ${after}` },
    replay: replayed(),
  });
  t.match(ended, {
    outcome: "completed",
    failure: null,
    check: null,
    ending: { kind: "ask", question: "Which one?" },
    checkouts: [{ diff: /^\+more$/m }],
  });
  t.same(scene.messages("run.handover"), []);
  t.notOk(existsSync(after));
});

t.test("an agent that goes on after its question is killed, and hands nothing over meanwhile", async (t) => {
  const scene = await RunScene.start(t);
  const asks = say({ type: "ask", question: "Which one?" });
  const handsOver = `${say({ type: "handover", to: "review", note: "" })}; read answer; echo "$answer"`;
  scene.assign({
    agent: `trap 'echo on; ${handsOver.replaceAll("'", `'\\''`)}' TERM; ${asks}; while :; do :; done`,
    replay: replayed(),
  });
  await scene.message("run.step", ({ step }) => /handover\.refused.*being stopped/.test(step.text));
  scene.clock.advance(5_000);
  t.match(await scene.message("run.ended"), { outcome: "completed", ending: { kind: "ask" } });
  t.same(scene.messages("run.handover"), []);
});

t.test("a question after a handover that was accepted changes nothing", async (t) => {
  const scene = await RunScene.start(t);
  const handsOver = `${say({ type: "handover", to: "review", note: "Done." })}; read answer`;
  scene.assign({ agent: `${handsOver}; ${say({ type: "ask", question: "Or not?" })}`, replay: replayed() });
  await scene.answerHandover(0, null);
  t.match(await scene.message("run.ended"), { ending: { kind: "handover", to: "review", note: "Done." } });
});

t.test("the agent gets the secrets; setup and check only where the job says so", async (t) => {
  const scene = await RunScene.start(t);
  const shown = (name: string) => `echo "\${KEY-none}" > ${scene.path(name)}`;
  const grants = {
    none: { check: false, setup: [] },
    check: { check: true, setup: ["acme/other"] },
    setup: { check: false, setup: ["acme/app"] },
  };
  const seen: Record<string, string[]> = {};
  for (const [name, secretsFor] of Object.entries(grants)) {
    await scene.work({
      runId: `run_${name}`,
      agent: shown("agent"),
      replay: replayed(secretsFor),
      checkouts: [{ setup: shown("setup") }],
      station: { check: shown("check") },
      harness: { secrets: { KEY: "s3cr3t-value" } },
    });
    seen[name] = await Promise.all(
      ["agent", "setup", "check"].map(async (who) => (await readFile(scene.path(who))).trim()),
    );
  }
  t.same(seen, {
    none: ["s3cr3t-value", "none", "none"],
    check: ["s3cr3t-value", "none", "s3cr3t-value"],
    setup: ["s3cr3t-value", "s3cr3t-value", "none"],
  });
});

t.test("a run that began with a task's changes reports its own apart", async (t) => {
  const scene = await RunScene.start(t);
  const { checkouts: given } = await scene.work({ runId: "run_1", agent: "echo given >> a.txt; echo given > b.txt" });
  const { base = "", diff = "" } = given[0] ?? {};
  const agent = "echo own >> a.txt; rm b.txt";
  const wish = { agent, checkouts: [{ base, diff }] };
  const { checkouts } = await scene.work({ ...wish, runId: "run_2", replay: replayed() });
  const lines = (text = "") => text.match(/^[+-][^+-].*$/gm);
  t.same(lines(checkouts[0]?.diff), ["+given", "+own"]);
  t.same(lines(checkouts[0]?.own), ["+own", "-given"]);
  const others = [
    await scene.work({ ...wish, runId: "run_3" }),
    await scene.work({ agent: "echo own >> a.txt", runId: "run_4", replay: replayed() }),
  ];
  for (const { checkouts } of others) t.notOk(checkouts[0] === undefined || "own" in checkouts[0]);
});

const checking = { does: "check" as const, secretsFor: { check: false, setup: [] } };

t.test("a check alone runs setup and check on a run's change, starts no agent, and reports no change", async (t) => {
  const scene = await RunScene.start(t);
  const { checkouts } = await scene.work({ agent: "echo more >> a.txt; echo new > b.txt", replay: replayed() });
  const check = "cat a.txt b.txt made; echo changed > c.txt";
  const again = { agent: `echo on > ${scene.path("agent")}`, replay: checking };
  const [{ base, diff } = { base: "", diff: "" }] = checkouts;
  const ended = await scene.work({
    ...again,
    runId: "run_2",
    checkouts: [{ base, diff, setup: "echo made > made" }],
    station: { check, next: ["review"] },
  });
  t.match(ended, {
    outcome: "completed",
    ending: { kind: "finish", note: "" },
    failure: null,
    checkouts: { length: 0 },
  });
  t.same(ended.check, { passed: true, exitCode: 0, output: "one\nmore\nnew\nmade\n" });
  const started = scene.messages("run.started").find(({ runId }) => runId === "run_2");
  t.same(started?.bases, [{ repository: "acme/app", base }]);
  t.notOk(existsSync(scene.path("agent")));

  const failing = await scene.work({ ...again, runId: "run_3", station: { check: "echo no; exit 3" } });
  t.match(failing, {
    outcome: "failed",
    failure: { code: "check-failed" },
    check: { passed: false, exitCode: 3, output: "no\n" },
  });
});

t.test("a check alone needs no program for its harness, and says what failed before it", async (t) => {
  const scene = await RunScene.start(t);
  const harness = { name: "unknown" };
  t.match(await scene.work({ runId: "run_1", harness, replay: checking, station: { check: "true" } }), {
    check: { passed: true },
  });
  const setup = { checkouts: [{ setup: "exit 1" }], station: { check: "true" } };
  t.match(await scene.work({ runId: "run_2", replay: checking, ...setup }), {
    outcome: "failed",
    failure: { code: "setup-failed" },
    check: null,
  });
});
