import t from "tap";
import { jobSchema } from "../../../actors/runners/job.js";
import { isCommitNeeded } from "../../../actors/runs/run.queries.js";
import { runCheckouts, runSteps } from "../../../actors/runs/run.table.js";
import { runInputs } from "../../../actors/runs/run-input.table.js";
import { taskBranches } from "../../../actors/runs/task-branch.table.js";
import { recountBlobs } from "../../../actors/tables/blob-recount.js";
import { nextCheckout } from "../../../actors/tasks/next-run.js";
import { taskCheckouts, tasks } from "../../../actors/tasks/task.table.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { base, diff, putResource, SteppedWork, skill } from "../../support/stepped-work.js";
import { workspaceId } from "../../support/work.js";

const by = "usr_1";

t.test("a job sent again is the same after changes of task, line, station, profile and skill", async (t) => {
  const work = new SteppedWork();
  t.equal(work.job(), undefined, "there is none before the claim");
  work.claim();
  const job = work.job();
  t.match(job, {
    task: { id: "task_1", title: "Do it", description: "Well.", url: "https://x/1", notes: { length: 0 } },
    line: { key: "dev", name: "Dev" },
    station: { key: "work", name: "work", passesTo: ["review"], next: ["review"] },
    harness: { args: ["sh"], secrets: { TOKEN: "opened one" } },
    skills: [{ key: "greet", name: "Greet", description: "How to greet" }],
    checkouts: [{ repository: "acme/app", base: null, diff: "" }],
  });
  t.same(job?.skills[0]?.files.find(({ path }) => path === "SKILL.md")?.content, "Say hello.");
  t.equal(job?.skills[0]?.files.length, 2);

  const task = tasks.get(work.rows, workspaceId, "task_1");
  if (task === undefined) throw new Error("there is no task");
  const renamed = { ...task, title: "Another title", description: "", url: "", marks: { a: "b" } };
  tasks.put(work.rows, workspaceId, task, renamed);
  work.tell({ type: "note", from: "hook tell", text: "after the claim", key: null } as Message);
  putResource(work.rows, "skill", "greet", skill("Say nothing."));
  putResource(work.rows, "harness-profile", "shell", { key: "shell", args: ["zsh"], env: {}, secrets: {} });
  work.putLine({ name: "Other", key: "other", repositories: [], stations: [] });
  t.same(work.job(), job);
});

t.test(
  "secrets have their values at the time of sending; their versions at the claim are stored, values never",
  async (t) => {
    const work = new SteppedWork();
    work.claim();
    work.putSecret("two", 2);
    t.same(work.job()?.harness.secrets, { TOKEN: "opened two" });
    const input = runInputs.get(work.rows, workspaceId, work.runId);
    t.same(input?.claimed?.secrets, { forge: 1 });
    t.notMatch(JSON.stringify(input), /one|two/);
  },
);

t.test("notes and title are those at the claim, diffs those when the run was queued", async (t) => {
  const work = new SteppedWork();
  work.tell({ type: "note", from: "person usr_2", text: "mind the gap", key: null } as Message);
  work.claim();
  t.match(work.job()?.task?.notes, [{ from: "person usr_2", text: "mind the gap" }]);
  work.complete("review");
  work.claim();
  const job = work.job();
  t.match(job, { station: { key: "review", next: { length: 0 } }, checkouts: [{ base: base("b"), diff }] });
  t.match(job?.task?.notes, [{ text: "mind the gap" }, { from: "station work", text: "look" }]);
});

t.test("the commits of a run are unknown until its runner reports them, and are fixed then", async (t) => {
  const work = new SteppedWork();
  const repositories = ["acme/app", "acme/docs"].map((name) => ({ name, setup: null, image: null }));
  work.putLine({ repositories });
  work.tell({ type: "task.move", by, to: "work" } as Message);
  work.claim();
  t.same(work.bases(), { "acme/app": null, "acme/docs": null });
  const bases = [
    { repository: "acme/app", base: base("a") },
    { repository: "acme/app", base: base("c") },
    { repository: "acme/other", base: base("a") },
  ];
  work.say({ type: "run.started", bases });
  t.same(work.bases(), { "acme/app": base("c"), "acme/docs": null }, "the last of two; none that it was not given");
  const checkouts = ["acme/app", "acme/docs"].map((repository) => ({ repository, base: base("d"), diff: "" }));
  const left = { ending: null, failure: null, checkouts, check: null, spent: null };
  const { runId } = work;
  work.say({ type: "run.ended", outcome: "failed", ...left });
  t.same(work.bases(runId), { "acme/app": base("c"), "acme/docs": base("d") }, "the end says what was open still");
});

t.test("the commit that a task's next run begins from is known when it is queued, and never another", async (t) => {
  const work = new SteppedWork();
  work.claim();
  work.complete("review");
  work.claim();
  t.same(work.bases(), { "acme/app": base("b") });
  work.say({ type: "run.started", bases: [{ repository: "acme/app", base: base("a") }] });
  t.same(work.bases(), { "acme/app": base("b") });
});

t.test("a run of a task with a branch begins at its head, or where there is none, at what was left", async (t) => {
  const pushed = { pullRequestId: "pr_1", branch: "signalbox/1-fix", base: null, isDirty: true, serial: 1 };
  const begin = (reported: object) => {
    const work = new SteppedWork();
    work.claim();
    taskBranches.put(work.rows, workspaceId, ["task_1", "acme/app"], { ...pushed, head: base("c") });
    work.complete("review");
    work.claim();
    const merges = { branch: "HEAD", commit: null };
    t.match(work.job()?.checkouts, [{ base: base("b"), diff, branch: pushed.branch, merges }]);
    for (const at of [reported, { base: base("e") }]) {
      work.say({ type: "run.started", bases: [{ repository: "acme/app", ...at }] });
    }
    return runInputs.get(work.rows, workspaceId, work.runId)?.beginning?.checkouts[0];
  };
  const at = { repository: "acme/app", branch: pushed.branch, isBegun: true };
  const merged = { branch: "HEAD", commit: base("d") };
  t.same(begin({ base: base("c"), branch: pushed.branch, merged: base("d") }), {
    ...at,
    base: base("c"),
    diff: null,
    merges: merged,
  });
  t.match(begin({ base: base("b"), branch: pushed.branch }), { ...at, base: base("b"), diff: null });
  t.match(begin({ base: base("c") }), { ...at, base: base("c"), diff: null }, "its setup failed");
  t.match(begin({ base: base("b") }), { ...at, base: base("b"), diff: /./ }, "the branch is gone");
});

t.test("a task begins at its branch, and where it was merged, at what it was merged into", async (t) => {
  const work = new SteppedWork();
  const task = tasks.get(work.rows, workspaceId, "task_1");
  if (task === undefined) throw new Error("there is no task");
  const at = (more: object) => nextCheckout(work.rows, workspaceId, { ...task, ...more }, "acme/app");
  const open = { repository: "acme/app", base: null, diff: null };
  t.same(at({}), open);
  t.same(at({ branch: "release" }), { ...open, branch: "release" });
  const merged = { pullRequestId: null, branch: "signalbox/1-fix", base: "release", head: null, isDirty: false };
  taskBranches.put(work.rows, workspaceId, ["task_1", "acme/app"], { ...merged, serial: 1 });
  t.same(at({ branch: "other" }), { ...open, branch: "release" });
});

t.test("a base whose name no runner takes is in no job: it would refuse the whole, and work no more", async (t) => {
  const pushed = { pullRequestId: "pr_1", branch: "signalbox/1-fix", isDirty: true, serial: 1 };
  for (const odd of ["x".repeat(256), "x".repeat(1_024), "-x", "a..b"]) {
    const work = new SteppedWork();
    work.claim();
    const put = (more: object) =>
      taskBranches.put(work.rows, workspaceId, ["task_1", "acme/app"], {
        ...pushed,
        base: odd,
        head: base("c"),
        ...more,
      });
    put({});
    work.complete("review");
    work.claim();
    const job = jobSchema.parse(work.job());
    t.match(job.checkouts, [{ branch: pushed.branch, merges: undefined }]);
    put({ pullRequestId: null, head: null });
    const task = tasks.get(work.rows, workspaceId, "task_1");
    if (task === undefined) throw new Error("there is no task");
    t.same(nextCheckout(work.rows, workspaceId, task, "acme/app"), { repository: "acme/app", base: null, diff: null });
  }
});

t.test("a runner that reports no commits changes nothing of the input", async (t) => {
  const work = new SteppedWork();
  work.claim();
  const before = runInputs.get(work.rows, workspaceId, work.runId);
  work.say({ type: "run.started" });
  t.same(runInputs.get(work.rows, workspaceId, work.runId), before);
});

t.test("a body is stored once, with the number of its references", async (t) => {
  const work = new SteppedWork();
  work.claim();
  work.complete("review");
  work.claim();
  work.complete("work");
  const [first, ...others] = runCheckouts.list(work.rows, workspaceId, []);
  t.equal(others.length, 1, "of two runs");
  t.same(others[0]?.digest, first?.digest);
  t.equal(taskCheckouts.get(work.rows, workspaceId, "task_1", "acme/app")?.digest, first?.digest);
  const referring = [runInputs, runCheckouts, runSteps, taskCheckouts];
  const found = [...recountBlobs(work.rows, workspaceId, { referring, nowMs: 0 })];
  t.same(found, [], "counting them anew changes nothing");
  const uses = work.rows.range<{ readonly count: number }>({ prefix: [workspaceId, "row", "blob-use"] });
  const used = uses.find(({ key }) => key.at(-1) === first?.digest);
  t.equal(used?.value.count, 5, "two runs left it, two begin from it, the task has it");
});

t.test("nothing of a report is stored but the commits of repositories that the run was given", async (t) => {
  const work = new SteppedWork();
  const repositories = ["acme/app", "acme/docs"].map((name) => ({ name, setup: null, image: null }));
  work.putLine({ repositories });
  work.tell({ type: "task.move", by, to: "work" } as Message);
  work.claim();
  const before = JSON.stringify(runInputs.get(work.rows, workspaceId, work.runId));
  const foreign = ["__proto__", "constructor", "acme/other", "acme/app\u0000", "", "ACME/APP"];
  work.say({ type: "run.started", bases: foreign.map((repository) => ({ repository, base: base("e") })) });
  t.equal(JSON.stringify(runInputs.get(work.rows, workspaceId, work.runId)), before);
  const stored = JSON.stringify(work.rows.range({ prefix: [] }));
  t.notMatch(stored, base("e"), "the commit is nowhere");
  t.notMatch(stored, /__proto__|acme\/other|ACME/);
});

t.test("a commit is needed while the input of a run that began from it is stored", async (t) => {
  const work = new SteppedWork();
  work.claim();
  const needed = (commit: string, repository = "acme/app") =>
    isCommitNeeded(work.rows, workspaceId, { repository, commit });
  t.notOk(needed(base("a")), "no commit is known yet");
  const { runId } = work;
  work.say({ type: "run.started", bases: [{ repository: "acme/app", base: base("a") }] });
  t.ok(needed(base("a")));
  t.notOk(needed(base("a"), "acme/other"));
  t.notOk(needed(base("b")));
  const input = runInputs.get(work.rows, workspaceId, runId);
  if (input === undefined) throw new Error("there is no input");
  runInputs.insert(work.rows, workspaceId, { ...input, runId: "run_2" });
  runInputs.remove(work.rows, workspaceId, input);
  t.ok(needed(base("a")), "the other run began from it too");
  runInputs.remove(work.rows, workspaceId, { ...input, runId: "run_2" });
  t.notOk(needed(base("a")));
});
