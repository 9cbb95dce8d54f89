import type { Test } from "tap";
import { type CommandScene, openCommandScene } from "../../../support/command-cases.js";
import { RunnerPeer } from "../../../support/runner-peer.js";
import type { Ran, RunOptions } from "../../../support/signalbox.js";
import { until } from "../../../support/until.js";

type Peer = RunnerPeer;
type Job = Awaited<ReturnType<Peer["job"]>>;
type Shown = Readonly<Record<string, unknown>>;

/** A person on the command line, and a line `dev`. The test acts as the runner of the line's runs. */
export interface WorkScene extends CommandScene {
  /** A runner with many slots. */
  readonly peer: Peer;
  run(args: string, options?: RunOptions): Promise<Ran>;
  /** Opens a task on the command line; returns the task's id. Does not start the task's run. */
  open(title?: string): Promise<string>;
  /** Resolves with the task's next job. Jobs of other tasks that arrive earlier are dropped. */
  jobOf(taskId: string): Promise<Job>;
  /** Opens a task, and starts its run. */
  begin(title?: string): Promise<{ readonly taskId: string; readonly job: Job }>;
  /** Opens a task whose run makes two steps, changes a file and ends with a question; returns the task's id. */
  ended(diff?: string): Promise<string>;
  /** Opens a task whose agent asks a question; returns the task's id. */
  ask(title?: string, question?: string): Promise<string>;
  /** Opens a task whose agent asks for an approval. */
  askApproval(title?: string): Promise<{ readonly taskId: string; readonly job: Job; readonly approvalId: string }>;
  /** A diff that adds a line to `a.txt`. */
  readonly addLine: string;
  task(taskId: string): Promise<Shown>;
  reaches(taskId: string, state: string): Promise<void>;
  /** The ids of the approvals that a task waits for. */
  approvals(taskId: string): Promise<readonly string[]>;
}

/** A diff that adds a line to `a.txt` of a repository from `layRepository`. */
const addLine = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+two\n";

/** Splits a command line at its spaces; text in double quotes stays together. */
const toArgs = (line: string) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");

export async function openWorkScene(t: Test): Promise<WorkScene> {
  const scene = await openCommandScene(t);
  const { service, signalbox, person, workspaceId, teamId } = scene;
  const pools = `/api/resources/workspaces/${workspaceId}/runner-pools`;
  const pool = await person.request("POST", pools, { key: "main" }, { "idempotency-key": "pool" });
  const stations = [
    { key: "work", name: "Work", kind: "work", runners: { pool: "main" }, passesTo: ["review"] },
    { key: "review", name: "Review", kind: "review", runners: { pool: "main" }, passesTo: ["work"] },
  ];
  const line = { key: "dev", name: "Dev", repositories: [{ name: "acme/app" }], stations };
  await person.create(`/api/resources/teams/${teamId}/lines`, line);
  const peer = await RunnerPeer.join(service, String(pool.headers["service-pool-token"]), { slots: 100 });
  t.teardown(async () => peer.cut());

  const run: WorkScene["run"] = (args, options) => signalbox.run(toArgs(args), options);
  const task: WorkScene["task"] = async (taskId) => (await person.request("GET", `/api/tasks/${taskId}`)).body ?? {};
  const approvals: WorkScene["approvals"] = async (taskId) =>
    ((await task(taskId)).approvals as readonly { readonly id: string }[]).map(({ id }) => id);
  const reaches: WorkScene["reaches"] = async (taskId, state) =>
    void (await until(`${taskId} is ${state}`, async () => (await task(taskId)).state === state));
  const open: WorkScene["open"] = async (title = "Do it") => {
    const { code, out, err } = await signalbox.run(["task", "open", title, "--json"]);
    if (code !== 0) throw new Error(err);
    return String(JSON.parse(out).id);
  };
  const jobOf: WorkScene["jobOf"] = async (taskId) => {
    for (;;) {
      const job = await peer.job();
      if (job.task?.id === taskId) return job;
    }
  };
  const begin: WorkScene["begin"] = async (title) => {
    const taskId = await open(title);
    const job = await jobOf(taskId);
    peer.start(job);
    return { taskId, job };
  };
  return {
    ...scene,
    peer,
    run,
    open,
    jobOf,
    begin,
    approvals,
    addLine,
    task,
    reaches,
    ask: async (title, question = "Red or blue?") => {
      const { taskId, job } = await begin(title);
      peer.end(job, { ending: { kind: "ask", question } });
      await reaches(taskId, "inbox");
      return taskId;
    },
    ended: async (diff = addLine) => {
      const { taskId, job } = await begin();
      peer.step(job, 0);
      peer.step(job, 1);
      const checkouts = [{ repository: "acme/app", base: "b".repeat(40), diff }];
      peer.end(job, { ending: { kind: "ask", question: "Done?" }, checkouts });
      await reaches(taskId, "inbox");
      return taskId;
    },
    askApproval: async (title) => {
      const { taskId, job } = await begin(title);
      peer.askPermission(job);
      await reaches(taskId, "inbox");
      const [approvalId = ""] = await approvals(taskId);
      return { taskId, job, approvalId };
    },
  };
}
