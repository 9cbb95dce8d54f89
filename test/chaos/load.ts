import { setTimeout as pause } from "node:timers/promises";
import type { Chance } from "../simulation/chance.js";
import { taskKinds } from "./agent.js";
import type { FoundTask } from "./findings.js";
import type { Ledger } from "./ledger.js";
import type { OutsideCodeHost } from "./outside-code-host.js";
import type { OutsideTracker } from "./outside-tracker.js";
import type { RepeatingClient } from "./repeating-client.js";

export interface LoadOptions {
  readonly client: RepeatingClient;
  readonly ledger: Ledger;
  readonly workspaceId: string;
  readonly teamId: string;
  /** The path for the tracker's deliveries. */
  readonly deliveriesPath: string;
  readonly tracker: Pick<OutsideTracker, "headersFor">;
  readonly codeHost: Pick<OutsideCodeHost, "merge">;
}

/** A task that waits for its assignee. */
interface InboxTask extends FoundTask {
  readonly runId: string;
  readonly approvals: readonly { readonly id: string; readonly runId: string }[];
}

/** Milliseconds between two actions of one client. */
const PACE_MS = { secrets: 25, tasks: 150, changes: 500, notes: 70, deliveries: 400, merges: 1_000, inbox: 250 };
/** Number of concurrent clients that create secrets. */
const CREATORS = 6;
const PAGE = 200;

/**
 * The load of people and programs. Every write to the service has its own key. A client repeats the write until the
 * service answers it.
 */
export class Load {
  readonly #options: LoadOptions;
  #keys = 0;
  /**
   * Tasks that this client has retried. A task whose runs are always refused is retried only once, so that the task
   * stays in the inbox.
   */
  readonly #retried = new Set<string>();

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /**
   * Creates secrets, opens tasks, adds notes, sends deliveries and merges pull requests until the signal. Resolves when
   * the last action is answered.
   */
  async run(chance: Chance, signal: AbortSignal): Promise<void> {
    const until = async (paceMs: number, deed: () => Promise<unknown>): Promise<void> => {
      while (!signal.aborted) {
        await deed();
        await pause(paceMs);
      }
    };
    await Promise.all([
      ...Array.from({ length: CREATORS }, () => until(PACE_MS.secrets, () => this.#createSecret(chance))),
      until(PACE_MS.tasks, () => this.openTask(chance)),
      until(PACE_MS.changes, () => this.#open("code", 0)),
      until(PACE_MS.notes, () => this.#addNote(chance)),
      until(PACE_MS.deliveries, () => this.#deliver()),
      until(PACE_MS.merges, () => this.#options.codeHost.merge(chance)),
    ]);
  }

  /**
   * Attends to the tasks in the inbox as the assignee of every task, until the signal: answers questions, approves
   * calls and retries tasks.
   */
  async keepInbox(signal: AbortSignal): Promise<void> {
    const { client, teamId } = this.#options;
    while (!signal.aborted) {
      const waiting = await client.list<InboxTask>(`/api/teams/${teamId}/tasks?state=inbox&limit=${PAGE}`);
      await Promise.all(waiting.map((task) => this.#attend(task)));
      await pause(PACE_MS.inbox);
    }
  }

  /** Returns the open tasks. Leaves out tasks that stay in the inbox because their runs are always refused. */
  async listOpen(): Promise<readonly FoundTask[]> {
    const { client, teamId } = this.#options;
    const lists = ["queued", "running", "inbox"].map((state) =>
      client.list<InboxTask>(`/api/teams/${teamId}/tasks?state=${state}&limit=${PAGE}`),
    );
    return (await Promise.all(lists)).flat().filter((task) => task.state !== "inbox" || !this.#isAtRest(task));
  }

  /** Opens a task with a description of this many characters. */
  async openTask(chance: Chance, length = chance.pick([0, 100, 5_000])): Promise<void> {
    await this.#open(chance.pick(taskKinds), length);
  }

  async #open(kind: (typeof taskKinds)[number], length: number): Promise<void> {
    const { client, ledger, teamId } = this.#options;
    const key = this.#nextKey("task");
    const title = `${kind}-${key}`;
    const body = { title, line: kind === "code" ? "code" : "plain", description: "x".repeat(length) };
    const answer = await client.post(`/api/teams/${teamId}/tasks`, body, key);
    if (answer.status === 201) ledger.tasks.push({ key, id: String(answer.body?.id), title });
    else ledger.complaints.push(`opening a task answered ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async #createSecret(chance: Chance): Promise<void> {
    const { client, ledger, workspaceId } = this.#options;
    const name = this.#nextKey("secret");
    const value = "v".repeat(chance.pick([10, 200, 2_000]));
    const body = { name, value, valueVersion: 1, hosts: [] };
    const answer = await client.post(`/api/resources/workspaces/${workspaceId}/secrets`, body, name);
    if (answer.status === 201) ledger.secrets.push({ name, id: String(answer.body?.id) });
    else ledger.complaints.push(`creating a secret answered ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async #addNote(chance: Chance): Promise<void> {
    const { client, ledger } = this.#options;
    if (ledger.tasks.length === 0) return;
    const { id: taskId } = chance.pick(ledger.tasks);
    const text = this.#nextKey("note");
    const answer = await client.post(`/api/tasks/${taskId}/notes`, { text }, text);
    if (answer.status === 200) ledger.notes.push({ taskId, text });
    else ledger.complaints.push(`a note answered ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  /** Sends a delivery of the tracker about an issue. The delivery opens a task, and the task's agent calls tools. */
  async #deliver(): Promise<void> {
    const { client, ledger, deliveriesPath, tracker } = this.#options;
    const key = this.#nextKey("tools");
    const body = { title: key };
    const answer = await client.deliver(deliveriesPath, body, tracker.headersFor(body, key));
    if (answer.status === 202) ledger.deliveries.push({ key, title: key });
    else ledger.complaints.push(`a delivery answered ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async #attend(task: InboxTask): Promise<void> {
    const { client, ledger } = this.#options;
    const { id: taskId, runId } = task;
    if (task.approvals.length > 0) {
      for (const { id, runId: of } of task.approvals) {
        await client.post(`/api/runs/${of}/approvals/${id}/approve`, {}, `approve-${of}-${id}`);
      }
    } else if (task.asks === "Which number?") {
      const text = `answer to ${runId}`;
      const answer = await client.post(`/api/tasks/${taskId}/answer`, { text }, `answer-${runId}`);
      if (answer.status === 200) ledger.notes.push({ taskId, text });
    } else if (!this.#isAtRest(task)) {
      this.#retried.add(taskId);
      await client.post(`/api/tasks/${taskId}/retry`, {}, `retry-${runId}`);
    }
  }

  /** Whether the task stays in the inbox: the task's runs are always refused, and it was already retried. */
  #isAtRest({ id, title }: FoundTask): boolean {
    return title.startsWith("veto") && this.#retried.has(id);
  }

  #nextKey(what: string): string {
    this.#keys += 1;
    return `${what}-${this.#keys}`;
  }
}
