import { mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { testCommands } from "../../../support/command-cases.js";
import { workCases } from "./work-cases.js";
import { openWorkScene } from "./work-scene.js";

t.test("tasks, runs and the inbox", async (t) => {
  const scene = await openWorkScene(t);
  const { run, open, person, service, teamId } = scene;

  await t.test("every command of work", async (t) => testCommands(t, scene, workCases));

  await t.test("a task is named by its id, a unique prefix of it, or is the last one", async (t) => {
    const [first, second] = [await open("First"), await open("Second")];
    t.match(await run(`task show ${first}`), { code: 0, out: /title +First/ });
    t.match(await run("task show"), { code: 0, out: /title +First/ }, "the last one shown");
    const unique = first.slice(0, -1);
    t.match(await run(`task show ${unique}`), { code: 0, out: /title +First/ });
    t.match(await run(`task show ${unique.slice("task_".length).toLowerCase()}`), { code: 0, out: /title +First/ });
    t.match(await run(`task show ${second.slice(0, 8)}`), {
      code: 1,
      err: /task_\w{3} is ambiguous: it is the prefix of task_\w{26}, task_/,
    });
    t.match(await run("task show task_0000"), {
      code: 1,
      err: /the team core has no task task_0000: signalbox task list/,
    });
    t.match(await run("task show task_ZZZZ"), { code: 1, err: /has no task task_ZZZZ/ });
    t.match(await run("task show first!"), { code: 1, err: /first! is not a task id/ });
    t.match(await run(`task show task_${"0".repeat(26)}`), {
      code: 1,
      err: /This resource does not exist, or you do not have access to it/,
    });
    t.match(await run("task show", { folder: "/" }), {
      code: 1,
      err: /no task given, and none used in this folder yet: signalbox task list shows them/,
    });
    await Promise.all([first, second].map((id) => person.request("POST", `/api/tasks/${id}/close`, {})));
  });

  await t.test("others' text moves no cursor and sets no colour", async (t) => {
    const title = "Evil \u001b[2J\u0007title";
    await person.request("POST", `/api/teams/${teamId}/tasks`, {
      title,
      description: "a\u001b[31mb\n\u202ec",
      line: "dev",
    });
    const { out } = await run("task list --limit 1");
    t.match(out, /Evil {1,2}\[2J title/);
    t.notMatch(out, /[^\P{C}\n]/u);
    const id = /task_\S+/.exec(out)?.[0];
    const shown = await run(`task show ${id}`);
    t.match(shown.out, /a \[31mb\n c/);
    t.notMatch(shown.out, /[^\P{C}\n]/u);
  });

  await t.test("a list ends at its limit, says so, and its filters are people's words", async (t) => {
    const { code, out, err } = await run("task list --limit 2");
    t.equal(code, 0);
    t.equal(out.split("\n").length, 3);
    t.match(err, /more results: use --limit 10/);
    t.match(JSON.parse((await run("task list --limit 2 --json")).out), { hasMore: true });
    t.match(await run("task list --assignee none"), { code: 0, out: "", err: /^no matching tasks in the team core$/ });
    t.match(await run("task list --assignee ada@example.com --state queued --station work"), { code: 0, out: /ada/ });
    t.match(await run("task list --assignee eve"), { code: 1, err: /there is no person eve in the workspace/ });
    t.match(await run("task list --limit 0"), { code: 64 });
    t.match(await run("task list --team none"), { code: 1, err: /there is no team none/ });
  });

  await t.test("folders of a repository share the last task", async (t) => {
    const folder = join(scene.signalbox.home, "repository");
    mkdirSync(join(folder, ".git"), { recursive: true });
    mkdirSync(join(folder, "sub/folder"), { recursive: true });
    const { out } = await run("task open Shared", { folder: join(folder, "sub/folder") });
    const taskId = /^task_\w+/.exec(out)?.[0] ?? "none";
    t.match(await run("task show", { folder }), { code: 0, out: taskId });
    t.match(await run("task close", { folder: join(folder, "sub") }), { code: 0, out: `closed: Shared (${taskId})` });
    t.notMatch((await run("task show")).out, taskId, "another folder");
  });

  await t.test("what a task refuses names the task, and what to do", async (t) => {
    const { taskId } = await scene.begin("Is it so?");
    t.match(await run("task open Next"), { err: /^follow it with: signalbox task show --follow$/ });
    const named = `error: Is it so? (${taskId}): `;
    t.match(await run(`task answer Yes. --task ${taskId}`), {
      code: 1,
      err: `${named}the task is running: write to its agent with signalbox run message`,
    });
    await run(`task assign none --task ${taskId}`);
    const toMe = `\nassign it to yourself: signalbox task assign me --task ${taskId}`;
    t.match(await run(`task stop ${taskId}`), { code: 1, err: new RegExp(`assign it first\\.${toMe}$`) });
    t.match(await run(`run message Hello. --run ${taskId}`), { code: 1, err: toMe });
    await run(`task close ${taskId}`);
    const closed = await run("task retry --json");
    t.equal(closed.code, 1);
    t.match(JSON.parse(closed.err), {
      error: /^Is it so\? \(task_\S+\): the task is closed: open another task with signalbox task open/,
      detail: /The task is in the state closed, which does not accept retry/,
      status: 409,
    });
  });

  await t.test("a failed task is shown with what to do", async (t) => {
    const { taskId, job } = await scene.begin("Fail");
    const failure = { code: "harness-failed", message: "It broke.", output: "" } as const;
    scene.peer.end(job, { outcome: "failed", failure });
    await scene.reaches(taskId, "inbox");
    const shown = await run("task show");
    t.match(shown, { code: 0, out: /\nfailed +It broke\.\n/, err: "run the station again with: signalbox task retry" });
    t.notMatch(shown.out, /^asks/m);
    await run(`task close ${taskId}`);
  });

  await t.test("a description comes from standard input, and what the service refuses is said by field", async (t) => {
    const opened = await run('task open "Long" --description - --json', { input: "one\ntwo\n" });
    t.match(JSON.parse(opened.out), { description: "one\ntwo" });
    t.match(await run('task open "X" --station none'), { code: 1, err: /station/ });
    t.match(await run('task open "X" --line none'), {
      code: 1,
      err: /there is no line none in the team core; it has: \w+/,
    });
    t.match(await run(`task open ${"x".repeat(301)}`), { code: 1, err: /title: must be at most 300 characters/ });
  });

  await t.test("a token reads and opens tasks", async (t) => {
    const path = `/api/resources/workspaces/${scene.workspaceId}/tokens`;
    const body = { name: "ci", scopes: ["work"] };
    const { headers } = await person.request("POST", path, body, { "idempotency-key": "token" });
    const env = { SIGNALBOX_URL: service.baseUrl, SIGNALBOX_TOKEN: String(headers["service-workspace-token"]) };
    t.match(await run('task open "From CI"', { env }), { code: 0, out: /^task_\S+: opened/ });
    t.match(await run("task show", { env }), { code: 0, out: /opened +\S+Z by token ci/ });
  });
});
