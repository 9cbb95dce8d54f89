import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { inRepository, layRepository } from "../../../support/repository.js";
import { until } from "../../../support/until.js";
import { openWorkScene } from "./work-scene.js";

t.test("a run", async (t) => {
  const scene = await openWorkScene(t);
  const { run, peer, task, ended, begin, askApproval, jobOf } = scene;

  /** A checkout whose branch `main` has `a.txt`. */
  const checkout = (files?: Readonly<Record<string, string>>) => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-checkout-"));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    layRepository(folder, files);
    const git = (...args: readonly string[]) => inRepository(folder, ...args);
    return { folder, git, read: (name: string) => readFileSync(join(folder, name), "utf8") };
  };
  /** Returns the diff of what `change` does in a new checkout. */
  const diffOf = (
    change: (folder: string, git: ReturnType<typeof checkout>["git"]) => void,
    files?: Readonly<Record<string, string>>,
  ) => {
    const { folder, git } = checkout(files);
    change(folder, git);
    git("add", "--all");
    return git("diff", "--staged", "--binary", "--full-index", "--find-renames");
  };

  await t.test("is named by its id, a prefix of it, its task, or is the last task's last", async (t) => {
    const taskId = await ended();
    const { code, out } = await run("run show --json");
    t.equal(code, 0);
    const { id } = JSON.parse(out);
    t.match(await run(`run show ${id.slice(0, -1)} --json`), { code: 0, out: new RegExp(id) });
    t.match(await run(`run show ${taskId.slice(0, -1)} --json`), { code: 0, out: new RegExp(id) });
    t.match(await run("run show run_0000"), {
      code: 1,
      err: /none of the \d+ latest tasks has a run with the prefix run_0000: give the whole id/,
    });
    t.match(await run("run show first!"), { code: 1, err: /first! is not a run id: signalbox task show/ });
    const other = await begin();
    t.match(await run(`run show ${id.slice(0, -1)}`), { code: 0, out: new RegExp(id) }, "a run of another task");
    t.match(await run("run show"), { code: 0, out: new RegExp(id) }, "the run that was named last");
    await run(`task show ${other.taskId}`);
    t.match(await run("run show"), { code: 0, out: new RegExp(other.job.runId) }, "the task that was named last");
    t.match(await run("run diff"), { code: 1, err: /has not ended: its changes are not known yet$/ });
    t.match(await run("run approve"), { code: 1, err: /the run run_\w{26} has no open approval/ });
  });

  await t.test("a run that is named makes its task the current one, and stays while that is current", async (t) => {
    const taskId = await ended();
    const first = JSON.parse((await run("run show --json")).out).id;
    t.match(await run("task answer Blue."), { code: 0, out: `answered: Do it (${taskId})` });
    const job = await jobOf(taskId);
    t.match(await run("run show"), { out: new RegExp(job.runId) }, "the run after the answer");
    const other = await begin();
    await run(`run show ${first}`);
    t.match(await run("task show"), { code: 0, out: new RegExp(`^task +${taskId}`) });
    t.match(await run("task note Hello."), { code: 0, out: `added a note: Do it (${taskId})` });
    t.match(await run("run show"), { out: new RegExp(first) });
    await run(`run show ${other.taskId}`);
    t.match(await run("task show"), { code: 0, out: new RegExp(`^task +${other.taskId}`) });
    await run(`run show ${taskId}`);
    t.match(await run("run show"), { out: new RegExp(job.runId) }, "a task stands for its last run");
    t.match(await run("run show --help"), { out: /the last run of the task that a command named last/ });
  });

  await t.test("without changes names the run of its task that has some", async (t) => {
    const { taskId, job } = await begin();
    peer.end(job, { ending: { kind: "ask", question: "Which?" } });
    await scene.reaches(taskId, "inbox");
    t.match(await run("run diff --apply"), { code: 0, out: "", err: /^the run run_\S+ \(work\) changed nothing$/ });
    await run("task answer Blue.");
    const second = await jobOf(taskId);
    const checkouts = [{ repository: "acme/app", base: "b".repeat(40), diff: scene.addLine }];
    peer.end(second, { ending: { kind: "ask", question: "Done?" }, checkouts });
    await scene.reaches(taskId, "inbox");
    t.match(await run(`run diff ${job.runId} --apply`), {
      code: 0,
      err: `changed nothing\na later run, ${second.runId} (work), has changes: signalbox run diff ${second.runId} --apply`,
    });
    await run("task retry");
    const third = await jobOf(taskId);
    t.match(await run("run diff"), { code: 1, err: `an earlier run, ${second.runId} (work), has changes` });
    peer.end(third, { outcome: "failed", failure: { code: "harness-failed", message: "No.", output: "" } });
    await scene.reaches(taskId, "inbox");
    t.match(await run("run diff"), { code: 0, out: "", err: `an earlier run, ${second.runId} (work), has changes` });
  });

  await t.test("a default that is gone is forgotten", async (t) => {
    const gone = { task: `task_${"0".repeat(26)}`, run: `run_${"0".repeat(26)}` };
    const path = join(scene.signalbox.home, ".config/signalbox/defaults.json");
    for (const words of ["run show", "task close", "task show"]) {
      writeFileSync(path, JSON.stringify([[scene.service.baseUrl, "/", gone]]));
      const ran = await run(words, { folder: "/" });
      t.match(ran, { code: 1, err: /^the last task, task_0{26}, no longer exists\nerror: no task given, / }, words);
      t.match(await run(words, { folder: "/" }), { code: 1, err: /^error: no task given, / }, words);
    }
  });

  await t.test("applies its changes to the checkout, staged, wherever in it the command runs", async (t) => {
    const taskId = await ended();
    const { folder, git, read } = checkout({ "a.txt": "one\n", "sub/b.txt": "b\n" });
    const ran = await run(`run diff ${taskId} --apply`, { folder: join(folder, "sub") });
    t.match(ran, { code: 0, out: /^applied the changes of run_\S+: "a\.txt"\nthe changes are staged/ });
    t.equal(read("a.txt"), "one\ntwo\n");
    t.equal(git("status", "--porcelain"), "M  a.txt\n");
    t.match(await run(`run diff ${taskId} --apply`, { folder: tmpdir() }), {
      code: 1,
      err: /is not in a git checkout/,
    });
  });

  await t.test("applies its changes to the checkout of the folder, also in a git hook of another one", async (t) => {
    const taskId = await ended();
    const [{ folder, git }, other] = [checkout(), checkout()];
    const { GIT_DIR } = process.env;
    process.env.GIT_DIR = join(other.folder, ".git");
    const ran = await run(`run diff ${taskId} --apply`, { folder });
    if (GIT_DIR === undefined) delete process.env.GIT_DIR;
    else process.env.GIT_DIR = GIT_DIR;
    t.match(ran, { code: 0 }, ran.err);
    t.equal(git("status", "--porcelain"), "M  a.txt\n");
    t.equal(other.git("status", "--porcelain"), "");
  });

  await t.test("refuses over uncommitted changes of the same files, and leaves others alone", async (t) => {
    const diff = diffOf(
      (folder, git) => {
        git("mv", "old name.txt", "ünew.txt");
        writeFileSync(join(folder, "a.txt"), "changed\n");
        writeFileSync(join(folder, "created.txt"), "new\n");
      },
      { "a.txt": "one\n", "old name.txt": "1\n2\n3\n", "other.txt": "x\n" },
    );
    const taskId = await ended(diff);
    const dirty: readonly (readonly [string, string])[] = [
      ["a.txt", "mine\n"],
      ["old name.txt", "mine\n"],
      ["created.txt", "mine\n"],
    ];
    for (const [name, text] of dirty) {
      const { folder, git, read } = checkout({ "a.txt": "one\n", "old name.txt": "1\n2\n3\n", "other.txt": "x\n" });
      writeFileSync(join(folder, name), text);
      const before = git("status", "--porcelain");
      const ran = await run(`run diff ${taskId} --apply --branch fix`, { folder });
      t.match(ran, { code: 1, err: `uncommitted changes in "${name}": commit or stash them first` });
      t.equal(git("status", "--porcelain"), before);
      t.equal(read(name), text);
      t.equal(git("branch", "--format=%(refname:short)"), "main\n");
    }
    const { folder, git, read } = checkout({ "a.txt": "one\n", "old name.txt": "1\n2\n3\n", "other.txt": "x\n" });
    writeFileSync(join(folder, "other.txt"), "mine\n");
    writeFileSync(join(folder, "untracked.txt"), "mine\n");
    t.match(await run(`run diff ${taskId} --apply`, { folder }), { code: 0, out: /ünew\.txt/ });
    t.same(
      [read("a.txt"), read("ünew.txt"), read("created.txt"), read("other.txt")],
      ["changed\n", "1\n2\n3\n", "new\n", "mine\n"],
    );
    t.match(git("status", "--porcelain"), /^ M other\.txt$/m);
  });

  await t.test("applies its changes on a new branch, and takes the branch back when they do not apply", async (t) => {
    const taskId = await ended();
    const { folder, git, read } = checkout();
    t.match(await run(`run diff ${taskId} --branch fix/one`, { folder }), {
      code: 0,
      out: /on the new branch fix\/one/,
    });
    t.equal(git("branch", "--show-current"), "fix/one\n");
    t.equal(read("a.txt"), "one\ntwo\n");
    const other = checkout({ "a.txt": "something else\n" });
    const refused = await run(`run diff ${taskId} --apply --branch fix`, { folder: other.folder });
    t.match(refused, {
      code: 1,
      err: /git could not apply the changes, and this checkout is as before:\n[\s\S]*a\.txt/,
    });
    t.equal(other.git("branch", "--format=%(refname:short)"), "main\n");
    t.equal(other.git("status", "--porcelain"), "");
    for (const name of ["main", "-x", "a..b"]) {
      t.match(await run(`run diff ${taskId} --apply --branch=${name}`, { folder: other.folder }), {
        code: 1,
        err: /cannot create the branch/,
      });
    }
  });

  await t.test("merges its changes where the checkout has moved on, and says what conflicts", async (t) => {
    const files = { "a.txt": "1\n2\n3\n4\n5\n6\n" };
    const taskId = await ended(diffOf((folder) => writeFileSync(join(folder, "a.txt"), "one\n2\n3\n4\n5\n6\n"), files));
    const merged = checkout(files);
    writeFileSync(join(merged.folder, "a.txt"), "1\n2\n3\n4\n5\nsix\n");
    merged.git("commit", "--all", "--quiet", "--message", "Six");
    t.match(await run(`run diff ${taskId} --apply`, { folder: merged.folder }), { code: 0 });
    t.equal(merged.read("a.txt"), "one\n2\n3\n4\n5\nsix\n");
    const conflicting = checkout(files);
    writeFileSync(join(conflicting.folder, "a.txt"), "uno\n2\n3\n4\n5\n6\n");
    conflicting.git("commit", "--all", "--quiet", "--message", "Uno");
    const ran = await run(`run diff ${taskId} --apply`, { folder: conflicting.folder });
    t.match(ran, { code: 1, err: /the changes conflict in "a\.txt": resolve the marked lines/ });
    t.match(conflicting.read("a.txt"), /<<<<<<< /);
    const goBack = ({ err }: { readonly err: string }) => {
      const command = /or go back with\n {2}(git restore .*)/.exec(err)?.[1] ?? "false";
      execFileSync("sh", ["-c", command], { cwd: join(conflicting.folder, "it's"), stdio: "ignore" });
      t.equal(conflicting.git("status", "--porcelain"), " M mine.txt\n", command);
      t.equal(conflicting.read("a.txt"), "uno\n2\n3\n4\n5\n6\n");
    };
    mkdirSync(join(conflicting.folder, "it's"));
    writeFileSync(join(conflicting.folder, "mine.txt"), "mine\n");
    conflicting.git("add", "mine.txt");
    conflicting.git("commit", "--quiet", "--message", "Mine", "mine.txt");
    writeFileSync(join(conflicting.folder, "mine.txt"), "changed\n");
    goBack(ran);
    goBack(await run(`run diff ${taskId} --apply --branch fix`, { folder: conflicting.folder }));
    t.equal(conflicting.git("branch", "--format=%(refname:short)"), "main\n");
  });

  await t.test("its diff is exact for programs, and harmless in a terminal", async (t) => {
    const diff = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+\u001b[2Jtwo\r\n";
    const taskId = await ended(diff);
    t.equal((await run(`run diff ${taskId}`)).out, diff.replace(/\n$/, ""));
    t.match(await run(`run diff ${taskId} --repository acme/none`), { code: 1, err: /acme\/app/ });
    const { out } = await run(`run diff ${taskId}`, { answers: [] });
    t.notOk(out.includes("\u001b"));
    t.match(out, /<green>\+ \[2Jtwo<\/>/);
    t.match(await run(`run diff ${await ended("")}`), { code: 0, out: "", err: /changed nothing/ });
  });

  await t.test("logs follow it to its end", async (t) => {
    const { taskId, job } = await begin();
    peer.step(job, 0);
    await peer.arrived();
    const following = run(`run logs ${taskId} -f`);
    const text = "line\n".repeat(1_000);
    const { runId, fence } = job;
    peer.say({ type: "run.step", runId, fence, step: { index: 1, kind: "output", text, tool: "shell", spent: null } });
    peer.end(job, { ending: { kind: "ask", question: "Done?" } });
    const { code, out, err } = await following;
    t.equal(code, 0, err);
    t.match(out, /^step 0\n( {2}line\n){1000}work: completed, with a question$/);
    const failed = await begin();
    peer.end(failed.job, { outcome: "failed", failure: { code: "harness-failed", message: "It broke.", output: "" } });
    t.match(await run(`run logs ${failed.taskId} --follow --json`), {
      code: 1,
      out: '{\n  "items": []\n}',
      err: /It broke/,
    });
  });

  await t.test("that waits for several approvals asks for the one, by its id or a prefix of it", async (t) => {
    const { taskId, job, approvalId } = await askApproval();
    peer.askPermission(job, { id: "1-2", inputs: '{"command":"pwd"}' });
    await peer.arrived();
    await until("both wait", async () => (await scene.approvals(taskId)).length === 2);
    const refused = await run(`run approve ${taskId}`);
    t.match(refused, { code: 1, err: /the run has 2 open approvals: choose one with --approval\n {2}apr_/ });
    t.match(await run(`run show ${taskId}`), { code: 0, out: /waits for apr_\S+: shell \{"command":"pwd"\}/ });
    t.match(await run(`run approve ${taskId} --approval ${approvalId}`), { code: 0 });
    t.match(await run(`run approve ${approvalId}`), { code: 1, err: /It was approved by you already/ }, "once");
    const [other] = await scene.approvals(taskId);
    t.match(await run(`run edit {"command":"ls"} ${other?.slice(0, -1)}`), { code: 0, out: /"command":"ls"/ });
    const last = await askApproval();
    const inputs = '{"id":1182376459023450171,"ids":[-9007199254740993]}';
    const edited = await run(`run edit ${inputs} ${last.approvalId}`);
    t.match(edited, { code: 0, out: `approved shell ${inputs}` }, "integers beyond 2^53 are exact");
    const json = await run(`run edit ${inputs} ${(await askApproval()).approvalId} --json`);
    t.match(json, { code: 0, out: '"id": 1182376459023450171' });
    const waiting = await begin();
    peer.askPermission(waiting.job, { id: "1-1", inputs: '{"id":1182376459023450171}' });
    await until("it waits", async () => (await scene.approvals(waiting.taskId)).length === 1);
    const inRun = await run(`run show ${waiting.taskId}`);
    t.match(inRun, { code: 0, out: 'shell {"id":1182376459023450171}' });
    t.match(await run(`run show ${waiting.taskId} --json`), { code: 0, out: '"id": 1182376459023450171' });
    t.match(await run("inbox --assignee all"), { code: 0, out: 'shell {"id":1182376459023450171}' });
    t.match(await run("inbox --assignee all --json"), { code: 0, out: '"id": 1182376459023450171' });
    t.match(await run(`run approve ${waiting.taskId} --json`), { code: 0, out: '"id": 1182376459023450171' });
    t.match(await run("run edit [] --approval apr_0"), { code: 64, err: /must be a JSON object/ });
    t.match(await run("run approve apr_0000"), {
      code: 1,
      err: /no open approval has the prefix apr_0000: signalbox inbox/,
    });
  });

  await t.test("that has ended can not be stopped, and a message says where to write instead", async (t) => {
    const taskId = await ended();
    t.match(await run(`run stop ${taskId}`), { code: 1, err: /has ended already/ });
    t.match(await run(`run message "Hello." --run ${taskId}`), { code: 1, err: /ended/ });
    t.match(await task(taskId), { state: "inbox" });
    t.match(await run(`task answer Go. --task ${taskId}`), { code: 0 });
    await jobOf(taskId);
    t.match(await run("inbox --assignee none"), { code: 0, out: "", err: /nothing is waiting$/ });
  });
});
