import type { SkillFields } from "../../actors/lines/skill.kind.js";
import { resourceAddresses, resources } from "../../actors/resources/resource.table.js";
import type { Job } from "../../actors/runners/job.js";
import { approvals } from "../../actors/runs/approval.table.js";
import { buildJob } from "../../actors/runs/job.js";
import { runActor } from "../../actors/runs/run.machine.js";
import { runInputs } from "../../actors/runs/run-input.table.js";
import { taskActor } from "../../actors/tasks/task.machine.js";
import { tasks } from "../../actors/tasks/task.table.js";
import { taskRunOwner } from "../../actors/tasks/task-run-owner.js";
import { address } from "../../runtime/cells/address.js";
import type { Message } from "../../runtime/turns/turn.js";
import { memoryRows, type Stepping, stepByHand, type TurnTaken } from "./turn.js";
import { line, lineId, putLine, putTeam, teamId, workspaceId } from "./work.js";

/** This file steps a task and its runs by hand, on a line with a skill, a profile and a secret. */

const by = "usr_1";
/** The diff that each completed run leaves. */
export const diff = "diff --git a/a b/a\n";
/** Returns a commit id. */
export const base = (digit: string): string => digit.repeat(40);
const open = {
  type: "task.open",
  teamId,
  lineId,
  title: "Do it",
  description: "Well.",
  url: "https://x/1",
  station: null,
  assignee: by,
  by,
} as Message;

type Rows = ReturnType<typeof memoryRows>;

/** Writes a resource as the workspace's actor does. */
export function putResource(
  rows: Rows,
  kind: string,
  key: string,
  given: object,
  hidden: Record<string, string> = {},
): void {
  const id = `${kind}_${key}`;
  const row = { kind, id, address: kind === "secret" ? key : `core/${key}`, teamId, fields: { ...given }, hidden };
  resources.put(rows, workspaceId, [kind, id], {
    ...row,
    version: 1,
    workspaceId,
    added: {},
    createdAt: "",
    updatedAt: "",
  });
  resourceAddresses.put(rows, workspaceId, [kind, row.address], id);
}

export const skill = (content: string): SkillFields => ({
  key: "greet",
  name: "Greet",
  description: "How to greet",
  files: [
    { path: "b.txt", content: "b" },
    { path: "SKILL.md", content },
  ],
});

/** A task and the runs that it queues, stepped by hand over shared rows. */
export class SteppedWork {
  readonly rows = memoryRows();
  readonly task = stepByHand(taskActor, address(workspaceId, "task", "task_1"), { rows: this.rows });
  readonly #runs = new Map<string, Stepping>();
  /** Names of the task's published facts, in order. */
  readonly published: string[] = [];
  /** The time of the next message. */
  now = this.task.now;

  constructor() {
    putLine(this.rows);
    putTeam(this.rows);
    const [work, review] = line.stations;
    putResource(this.rows, "skill", "greet", skill("Say hello."));
    putResource(this.rows, "harness-profile", "shell", {
      key: "shell",
      harness: "command",
      args: ["sh"],
      env: {},
      secrets: { TOKEN: "forge" },
      timeoutMinutes: null,
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

  /** Delivers a message to the task, and the task's messages to its runs. */
  tell(message: Message): void {
    this.task.now = this.now;
    const { sent, facts } = this.task.take(message);
    this.published.push(...facts.map(({ name }) => name));
    for (const { to, message } of sent) if (to.kind === "run") this.#tellRun(to.id, message);
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

  /** Delivers the runner's message to the current run, and the run's resulting messages to its task. */
  say(message: object): TurnTaken {
    const said = { runId: this.runId, fence: 1, ...message };
    return this.#tellRun(this.runId, { type: "run.said", runnerId: "runner_1", said } as Message);
  }

  /** Delivers a message to a run, and the run's messages to the task. */
  #tellRun(id: string, message: Message): TurnTaken {
    const run = this.run(id);
    run.now = this.now;
    const taken = run.take(message);
    for (const { to, message: sent } of taken.sent) if (to.kind === "task") this.tell(sent);
    return taken;
  }

  /** Completes the current run with a handover; the task queues the next run. */
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

  /** Returns the ids of the current run's approvals, oldest first. */
  approvalIds(): readonly string[] {
    return approvals.list(this.rows, workspaceId, [this.runId]).map(({ id }) => id);
  }

  /** Returns the run's base commits, by repository; null for a repository without a base. */
  bases(runId = this.runId): Readonly<Record<string, string | null>> {
    const checkouts = runInputs.get(this.rows, workspaceId, runId)?.beginning?.checkouts ?? [];
    return Object.fromEntries(checkouts.map((checkout) => [checkout.repository, checkout.base]));
  }
}
