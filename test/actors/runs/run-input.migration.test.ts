import { createHash } from "node:crypto";
import t from "tap";
import { migrations } from "../../../actors/catalogue.js";
import { buildJob } from "../../../actors/runs/job.js";
import { runCheckouts, runs } from "../../../actors/runs/run.table.js";
import { runInputs } from "../../../actors/runs/run-input.table.js";
import { recountBlobs } from "../../../actors/tables/blob-recount.js";
import { getText } from "../../../actors/tables/text-blobs.js";
import { taskCheckouts } from "../../../actors/tasks/task.table.js";
import type { Entry, Key } from "../../../storage/store.js";
import { stepped } from "../../support/migrating.js";
import { memoryRows } from "../../support/turn.js";
import { line, lineId, workspaceId } from "../../support/work.js";

const base = "b".repeat(40);
const diff = "diff --git a/a b/a\n";
const toDigest = (text: string) => createHash("sha256").update(text).digest("hex");
const skill = { key: "greet", name: "Greet", description: "", files: [{ path: "SKILL.md", content: "Hello." }] };
const skillBody = JSON.stringify(["Greet", "", "SKILL.md", "Hello."]);
const config = {
  station: { ...line.stations[0] },
  repositories: line.repositories,
  skills: [{ key: "greet", digest: toDigest(skillBody) }],
  profile: null,
};
const owner = { owner: { kind: "task", id: "task_1" } };
const ownerAddress = { partition: workspaceId, kind: "task", id: "task_1" };

const row = (table: string, ...rest: [...id: Key, value: unknown]): Entry => ({
  key: [workspaceId, "row", table, ...(rest.slice(0, -1) as Key)],
  value: rest.at(-1),
});

function toRun(id: string, state: string): Entry[] {
  const run = { id, taskId: "task_1", teamId: "team_1", lineId, stationKey: "work", passesTo: ["review"], state };
  return [row("run", id, { ...run, fence: state === "queued" ? 0 : 1 }), row("run-config", id, config)];
}

/** The message with which a task started a run. */
const start = {
  type: "run.start",
  taskId: "task_1",
  teamId: "team_1",
  lineId,
  stationId: "sta_work",
  stationKey: "work",
  passesTo: ["review"],
  config,
  fingerprint: "f",
  needs: { poolId: null, labels: [], harness: "command" },
};

const then: readonly Entry[] = [
  row("resource", "line", lineId, { fields: line }),
  row("task", "task_1", { id: "task_1", title: "Do it", description: "", url: "", marks: { a: "b" } }),
  row("task-note", "task_1", 1, { seq: 1, at: "", from: "person usr_1", text: "mind the gap" }),
  row("task-checkout", "task_1", "acme/app", { repository: "acme/app", base, diff }),
  row("run-checkout", "run_1", "acme/app", { repository: "acme/app", base, diff }),
  row("run-checkout", "run_2", "acme/app", { repository: "acme/app", base, diff: "" }),
  row("run-skill", toDigest(skillBody), skill),
  ...[...toRun("run_1", "ended"), ...toRun("run_2", "running"), ...toRun("run_3", "queued")],
  { key: [workspaceId, "mail", "run", "run_4", 1], value: { message: start } },
  { key: [workspaceId, "mail", "run", "run_4", 2], value: { message: { type: "run.end", outcome: "withdrawn" } } },
  { key: [workspaceId, "dead", "dl_1"], value: { kind: "run", actor: "run_5", message: start, error: "", atMs: 0 } },
];

async function migrated() {
  const step = migrations.find(({ title }) => title === "runs have owners and inputs");
  if (step === undefined) throw new Error("there is no such step");
  const rows = memoryRows();
  for (const { key, value } of await stepped(step, then)) if (key[0] === workspaceId) rows.put(key, value);
  return rows;
}

t.test("runs of earlier releases are owned by their tasks, and get the input of their jobs", async (t) => {
  const rows = await migrated();
  for (const id of ["run_1", "run_2", "run_3"]) {
    t.match(runs.get(rows, workspaceId, id), { taskId: "task_1", ...owner, ownerAddress }, id);
    t.same(runInputs.get(rows, workspaceId, id)?.config, config, id);
  }
  t.match(runInputs.get(rows, workspaceId, "run_1"), { beginning: null, claimed: null }, "it had ended");
  const beginning = {
    line: { key: "dev", name: "Dev" },
    station: { name: "work", passesTo: ["review"], next: ["review"] },
    checkouts: [{ repository: "acme/app", base, diff: toDigest(diff) }],
  };
  t.match(runInputs.get(rows, workspaceId, "run_3"), { beginning, claimed: null });
  const source = { reading: rows, sealer: { open: String } };
  t.match(buildJob(source, workspaceId, { runId: "run_2", fence: 1 }), {
    task: { id: "task_1", title: "Do it", notes: [{ from: "person usr_1", text: "mind the gap" }] },
    line: beginning.line,
    station: { key: "work", ...beginning.station },
    skills: [skill],
    checkouts: [{ repository: "acme/app", base, diff }],
  });
});

t.test("diffs and skills become bodies with counted references, and their earlier rows are removed", async (t) => {
  const rows = await migrated();
  t.equal(getText(rows, workspaceId, runCheckouts.get(rows, workspaceId, "run_1", "acme/app")?.digest ?? null), diff);
  t.match(runCheckouts.get(rows, workspaceId, "run_2", "acme/app"), { base, digest: null });
  t.match(taskCheckouts.get(rows, workspaceId, "task_1", "acme/app"), { base, digest: toDigest(diff) });
  t.same([...recountBlobs(rows, workspaceId, { referring: [runInputs, runCheckouts, taskCheckouts], nowMs: 0 })], []);
  for (const table of ["run-config", "run-skill"]) t.same(rows.range({ prefix: [workspaceId, "row", table] }), []);
});

t.test("a pending message that starts a run gets the run's beginning; other messages are unchanged", async (t) => {
  const rows = await migrated();
  const { taskId: _taskId, passesTo: _passesTo, ...rest } = start;
  const beginning = { line: { key: "dev" }, checkouts: [{ base, diff: toDigest(diff) }] };
  const wanted = { message: { ...rest, ...owner, ownerAddress, beginning } };
  t.match(rows.get([workspaceId, "mail", "run", "run_4", 1]), wanted);
  t.match(rows.get([workspaceId, "dead", "dl_1"]), wanted);
  t.same(rows.get([workspaceId, "mail", "run", "run_4", 2]), { message: { type: "run.end", outcome: "withdrawn" } });
});

t.test("runs are found by the commits that they began from", async (t) => {
  const step = migrations.find(({ title }) => title === "runs are found by the commits that they began from");
  if (step === undefined) throw new Error("there is no such step");
  const checkout = (repository: string, at: string | null) => ({ repository, base: at, diff: null });
  const input = (runId: string, beginning: unknown) => row("run-input", runId, { runId, beginning });
  const entries = await stepped(step, [
    input("run_1", { checkouts: [checkout("acme/app", base), checkout("acme/other", null)] }),
    input("run_2", null),
    input("run_3", { checkouts: [checkout("acme/app", base)] }),
  ]);
  const listed = entries.filter(({ key }) => key[2] === "run-base");
  t.same(listed, [row("run-base", base, "acme/app", "run_1", true), row("run-base", base, "acme/app", "run_3", true)]);
});
