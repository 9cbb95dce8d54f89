import t from "tap";
import type { SkillFields } from "../../../actors/lines/skill.kind.js";
import { resourceAddresses, resources } from "../../../actors/resources/resource.table.js";
import type { Job } from "../../../actors/runners/protocol.js";
import { buildJob } from "../../../actors/runs/job.js";
import { runActor } from "../../../actors/runs/run.machine.js";
import { runCheckouts } from "../../../actors/runs/run.table.js";
import { runInputs } from "../../../actors/runs/run-input.table.js";
import { recountBlobs } from "../../../actors/tables/blob-recount.js";
import { taskActor } from "../../../actors/tasks/task.machine.js";
import { taskCheckouts, tasks } from "../../../actors/tasks/task.table.js";
import { taskRunOwner } from "../../../actors/tasks/task-run-owner.js";
import { address } from "../../../runtime/address.js";
import type { Message } from "../../../runtime/turn.js";
import { memoryRows, type Stepping, stepByHand, type TurnTaken } from "../../support/turn.js";
import { line, lineId, putLine, putTeam, teamId, workspaceId } from "../../support/work.js";

const by = "usr_1";
const diff = "diff --git a/a b/a\n";
const base = (digit: string) => digit.repeat(40);
const open = {
  ...{ type: "task.open", teamId, lineId, title: "Do it", description: "Well.", url: "https://x/1", station: null },
  ...{ assignee: by, by },
} as Message;

type Rows = ReturnType<typeof memoryRows>;

/** A resource as it is written by its workspace. */
function putResource(rows: Rows, kind: string, key: string, given: object, hidden: Record<string, string> = {}): void {
  const id = `${kind}_${key}`;
  const row = { kind, id, address: kind === "secret" ? key : `core/${key}`, teamId, fields: { ...given }, hidden };
  resources.put(rows, workspaceId, [kind, id], {
    ...{ ...row, version: 1, workspaceId, added: {}, createdAt: "", updatedAt: "" },
  });
  resourceAddresses.put(rows, workspaceId, [kind, row.address], id);
}

const skill = (content: string): SkillFields => ({
  ...{ key: "greet", name: "Greet", description: "How to greet" },
  files: [
    { path: "b.txt", content: "b" },
    { path: "SKILL.md", content },
  ],
});

/** A task and the runs that it queues, stepped by hand over rows that they share. */
class Work {
  readonly rows = memoryRows();
  readonly task = stepByHand(taskActor, address(workspaceId, "task", "task_1"), { rows: this.rows });
  readonly #runs = new Map<string, Stepping>();

  constructor() {
    putLine(this.rows);
    putTeam(this.rows);
    const [work, review] = line.stations;
    putResource(this.rows, "skill", "greet", skill("Say hello."));
    putResource(this.rows, "harness-profile", "shell", {
      ...{ key: "shell", harness: "command", args: ["sh"], env: {}, secrets: { TOKEN: "forge" }, timeoutMinutes: null },
    });
    this.putSecret("one", 1);
    this.putLine({ stations: [{ ...work, skills: ["greet"], profile: "shell" }, review] });
    this.tell(open);
  }

  putLine(fields: object): void {
    const row = resources.get(this.rows, workspaceId, "line", lineId);
    if (row === undefined) throw new Error("there is no line");
    resources.put(this.rows, workspaceId, ["line", lineId], { ...row, fields: { ...row.fields, ...fields } });
  }

  putSecret(value: string, valueVersion: number): void {
    putResource(this.rows, "secret", "forge", { name: "forge", valueVersion, hosts: [] }, { value });
  }

  /** Tells the task, and its runs what it sends them. */
  tell(message: Message): void {
    for (const { to, message: sent } of this.task.take(message).sent) if (to.kind === "run") this.run(to.id).take(sent);
  }

  run(id = this.runId): Stepping {
    const known = this.#runs.get(id);
    if (known !== undefined) return known;
    const self = address(workspaceId, "run", id);
    const run = stepByHand(runActor([taskRunOwner]), self, { rows: this.rows });
    this.#runs.set(id, run);
    return run;
  }

  get runId(): string {
    return tasks.get(this.rows, workspaceId, "task_1")?.runId ?? "";
  }

  job(): Job | undefined {
    const sealer = { open: (sealed: string) => `opened ${sealed}` };
    return buildJob({ reading: this.rows, sealer }, workspaceId, { runId: this.runId, fence: 1 });
  }

  claim(): void {
    const agreed = { type: "gate.answered", gate: "run.starting", id: "run.starting 1", refused: null } as Message;
    for (const message of [{ type: "run.claim", runnerId: "runner_1" }, agreed]) this.run().take(message);
  }

  /** The runner says something about the run under way, of which its task is told. */
  say(message: object): TurnTaken {
    const said = { runId: this.runId, fence: 1, ...message };
    const taken = this.run().take({ type: "run.said", runnerId: "runner_1", said } as Message);
    for (const { to: whom, message } of taken.sent) if (whom.kind === "task") this.tell(message);
    return taken;
  }

  /** The run under way is completed and hands over; its task has another one queued. */
  complete(to: string): void {
    const run = this.run();
    this.say({ type: "run.started" });
    const [question] = this.say({ type: "run.handover", id: "1-1", to, note: "" }).questions;
    run.take({ type: "gate.answered", gate: "handover.giving", id: question?.id, refused: null } as Message);
    const ending = { kind: "handover", to, note: "look" };
    const checkouts = [{ repository: "acme/app", base: base("b"), diff }];
    const left = { ending, failure: null, checkouts, check: null, spent: null };
    this.say({ type: "run.ended", outcome: "completed", ...left });
  }

  /** The commits that the run begins from, by repository. */
  bases(runId = this.runId): Readonly<Record<string, string | null>> {
    const checkouts = runInputs.get(this.rows, workspaceId, runId)?.beginning?.checkouts ?? [];
    return Object.fromEntries(checkouts.map((checkout) => [checkout.repository, checkout.base]));
  }
}

t.test("a job sent again is the same after changes of task, line, station, profile and skill", async (t) => {
  const work = new Work();
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
    const work = new Work();
    work.claim();
    work.putSecret("two", 2);
    t.same(work.job()?.harness.secrets, { TOKEN: "opened two" });
    const input = runInputs.get(work.rows, workspaceId, work.runId);
    t.same(input?.claimed?.secrets, { forge: 1 });
    t.notMatch(JSON.stringify(input), /one|two/);
  },
);

t.test("notes and title are those at the claim, diffs those when the run was queued", async (t) => {
  const work = new Work();
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
  const work = new Work();
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
  const work = new Work();
  work.claim();
  work.complete("review");
  work.claim();
  t.same(work.bases(), { "acme/app": base("b") });
  work.say({ type: "run.started", bases: [{ repository: "acme/app", base: base("a") }] });
  t.same(work.bases(), { "acme/app": base("b") });
});

t.test("a runner that reports no commits changes nothing of the input", async (t) => {
  const work = new Work();
  work.claim();
  const before = runInputs.get(work.rows, workspaceId, work.runId);
  work.say({ type: "run.started" });
  t.same(runInputs.get(work.rows, workspaceId, work.runId), before);
});

t.test("a body is stored once, with the number of its references", async (t) => {
  const work = new Work();
  work.claim();
  work.complete("review");
  work.claim();
  work.complete("work");
  const [first, ...others] = runCheckouts.list(work.rows, workspaceId, []);
  t.equal(others.length, 1, "of two runs");
  t.same(others[0]?.digest, first?.digest);
  t.equal(taskCheckouts.get(work.rows, workspaceId, "task_1", "acme/app")?.digest, first?.digest);
  const referring = [runInputs, runCheckouts, taskCheckouts];
  const found = [...recountBlobs(work.rows, workspaceId, { referring, nowMs: 0 })];
  t.same(found, [], "counting them anew changes nothing");
  const uses = work.rows.range<{ readonly count: number }>({ prefix: [workspaceId, "row", "blob-use"] });
  const used = uses.find(({ key }) => key.at(-1) === first?.digest);
  t.equal(used?.value.count, 5, "two runs left it, two begin from it, the task has it");
});
