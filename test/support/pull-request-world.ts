import { createActorTypes, createKinds, subscribers } from "../../actors/catalogue.js";
import type { CodeHost } from "../../actors/outbound/code-host/code-host.js";
import { CodeHostRefused } from "../../actors/outbound/code-host/code-host-requests.js";
import type { HostedPullRequest } from "../../actors/outbound/code-host/hosted-pull-request.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { filesEffect, lookEffect } from "../../actors/pull-requests/look.effects.js";
import { openEffect } from "../../actors/pull-requests/open.effects.js";
import { pullRequestLogRef } from "../../actors/pull-requests/pull-request-log.messages.js";
import { resources } from "../../actors/resources/resource.table.js";
import { RUNNER_FEATURES } from "../../actors/runners/protocol.js";
import { runnerRef } from "../../actors/runners/runner.messages.js";
import { type OutboxMessage, outbox } from "../../actors/runners/runner.table.js";
import { taskRef } from "../../actors/tasks/task.messages.js";
import { tasks } from "../../actors/tasks/task.table.js";
import type { Message } from "../../runtime/turns/turn.js";
import { Harness } from "./harness.js";
import { closedAt, connect, head, host, mergedAt, repository, toPicture } from "./pull-request-scene.js";
import { base, diff } from "./stepped-work.js";
import { memoryRows } from "./turn.js";
import { line, lineId, putLine, putPool, putTeam, teamId, workspaceId } from "./work.js";

const actors = createActorTypes(createKinds({ allowList: parseAllowList(""), signsTokens: false }));
const RUNNER = "runner_1";
/** The runner's lease: longer than any test, because the runner sends no heartbeats. */
const LEASE_MS = 24 * 60 * 60 * 1_000;
const SLOW_MS = 20;

/** Deviations from the scenario in which everything succeeds. */
export interface Played {
  /**
   * How often the code host refuses to open the pull request. The first refusal is a rate limit, the second has status
   * 503.
   */
  readonly refusals?: 0 | 1 | 2;
  /** Number of rejected pushes. */
  readonly rejects?: number;
  /** The pull request's later states at the code host, each reported to the service. */
  readonly becomes?: readonly ("open" | "closed" | "merged")[];
}

/**
 * A task from its opening to the merge of its pull request, on the real runtime over a simulated disk and clock. The
 * test plays the runner and the code host, which survive crashes of the service.
 */
export class PullRequestWorld {
  readonly harness = new Harness({ catalogue: {}, limits: { turnsPerBatch: 1 } });
  /** The pull requests at the code host. */
  readonly pulls: HostedPullRequest[] = [];
  /** Pushes that the runner made, by order id. */
  readonly pushed = new Set<string>();
  readonly #said: object[] = [];
  readonly #taken = new Set<string>();
  readonly #refusals: CodeHostRefused[];
  readonly #rejects: number;
  readonly #becomes: readonly Partial<HostedPullRequest>["state"][];

  private constructor({ refusals = 0, rejects = 0, becomes = ["merged"] }: Played) {
    const { world } = this.harness;
    const limited = { status: 429, retryAtMs: world.nowMs + 2_000 };
    const answers = [new CodeHostRefused("no more", limited), new CodeHostRefused("out of order", { status: 503 })];
    this.#refusals = answers.slice(0, refusals);
    this.#rejects = rejects;
    this.#becomes = becomes;
  }

  static async open(played: Played = {}): Promise<PullRequestWorld> {
    const world = new PullRequestWorld(played);
    const { harness } = world;
    const stored = harness.disk.open().commit(rowsToBegin());
    await harness.advance();
    await stored;
    await world.start();
    const hello = { instance: "i".repeat(16), name: "peer", version: "1", labels: [], harnesses: ["command"] };
    await harness.ask(runnerRef(workspaceId, RUNNER), {
      type: "runner.hello",
      connection: "c",
      poolId: "pool_1",
      leaseMs: LEASE_MS,
      hello: { ...hello, slots: 1, received: 0, claims: [], features: RUNNER_FEATURES },
    } as Message);
    return world;
  }

  /** Starts a process on the current disk. */
  async start(): Promise<void> {
    const codeHost = this.#codeHost();
    const effects = [openEffect({ codeHost, baseUrl: () => "" }), lookEffect(codeHost), filesEffect(codeHost)];
    await this.harness.start({ actors, subscribers, effects });
  }

  /** Lets the user, the runner and the code host each act once, and repeat their earlier messages. */
  async round(): Promise<void> {
    const { durable, runtime } = this.harness;
    const open = {
      teamId,
      lineId,
      title: "Fix the login!",
      description: "",
      url: "",
      station: null,
      assignee: "usr_1",
    };
    const task = tasks.get(durable, workspaceId, "task_1");
    if (task === undefined)
      this.#tell(taskRef(workspaceId, "task_1"), { type: "task.open", ...open, by: "usr_1" }, "open");
    for (const message of outbox.list(durable, workspaceId, [RUNNER])) this.#obey(message);
    for (const [index, message] of this.#said.entries()) {
      const said = { type: "runner.said", connection: "c", n: index + 1, ack: 0, message };
      void runtime.ask(runnerRef(workspaceId, RUNNER), said as never).catch(() => undefined);
    }
    if (task?.state === "done") this.#happen();
    for (const [index, picture] of this.#told.entries()) {
      const about = { number: picture.number, picture, reviews: [] };
      const news = { type: "host.news", host, news: { installationId: 7, repository, about } };
      this.#tell(pullRequestLogRef(workspaceId, repository), news, `delivery ${index}`);
    }
    await this.harness.advance();
  }

  #tell(to: Parameters<Harness["runtime"]["ask"]>[0], message: object, messageId: string): void {
    void this.harness.runtime.ask(to, message as never, { messageId }).catch(() => undefined);
  }

  /** The states that the code host has reported. */
  readonly #told: HostedPullRequest[] = [];

  /** Applies the pull request's next state at the code host. */
  #happen(): void {
    const state = this.#becomes[this.#told.length];
    const [pull] = this.pulls;
    if (pull === undefined || state === undefined) return;
    const atMs = this.harness.world.nowMs;
    const changes = {
      open: { state, updatedAtMs: atMs, closedAtMs: null },
      closed: closedAt(atMs),
      merged: mergedAt(atMs),
    };
    this.pulls[0] = { ...pull, ...changes[state] };
    this.#told.push(this.pulls[0]);
  }

  /** Handles a message to the runner, such as a job or a push order. Ignores a message that was handled before. */
  #obey(message: OutboxMessage): void {
    const { runId, fence } = message;
    const of = { runId, fence };
    const id = message.type === "run.push" ? message.id : message.type;
    if (this.#taken.has(`${runId} ${id}`)) return;
    this.#taken.add(`${runId} ${id}`);
    if (message.type === "run.assign") {
      const left = { failure: null, check: null, spent: null, ending: { kind: "finish", note: "" } };
      const checkouts = [{ repository, base: base("b"), diff }];
      this.#said.push({ type: "run.started", ...of });
      this.#said.push({ type: "run.ended", ...of, outcome: "completed", checkouts, ...left });
    }
    if (message.type !== "run.push") return;
    if (this.#taken.size <= this.#rejects + 1) {
      const why = "The code host did not answer.";
      this.#said.push({ type: "run.push-rejected", ...of, id: message.id, repository, problem: "unreachable", why });
      return;
    }
    this.pushed.add(message.id);
    this.#said.push({ type: "run.pushed", ...of, id: message.id, repository, head: head("a"), changed: ["a"] });
  }

  #codeHost(): CodeHost {
    const { world } = this.harness;
    const later = <Value>(value: () => Value) =>
      new Promise<Awaited<Value>>((resolve) => world.later(SLOW_MS, () => resolve(value() as Awaited<Value>)));
    const pullRequests = {
      listFrom: (_there: object, branch: string) => later(() => this.pulls.filter((pull) => pull.branch === branch)),
      open: (_there: object, { branch }: { readonly branch: string }) => {
        const refused = this.#refusals.shift();
        if (refused !== undefined) return later(() => Promise.reject(refused));
        // The pull request exists immediately, whether or not the service receives the answer.
        const isThere = this.pulls.some((pull) => pull.branch === branch && pull.state === "open");
        const at = { createdAtMs: world.nowMs, updatedAtMs: world.nowMs };
        const pull = toPicture({ branch, number: this.pulls.length + 1, ...at });
        if (!isThere) this.pulls.push(pull);
        return later(() => (isThere ? null : pull));
      },
      read: (_there: object, number: number) =>
        later(() => ({ read: "changed", pullRequest: this.pulls[number - 1], etag: null })),
      reviews: () => later(() => []),
      files: () => later(() => ["a"]),
    };
    return { name: host, pullRequests } as unknown as CodeHost;
  }
}

/**
 * Returns the rows of a pool and of a line with one station. A connected installation can access the line's repository.
 */
function rowsToBegin() {
  const rows = memoryRows();
  putLine(rows);
  putTeam(rows);
  putPool(rows, "pool_1");
  connect(rows);
  const known = resources.get(rows, workspaceId, "line", lineId);
  const [work] = line.stations;
  if (known === undefined || work === undefined) throw new Error("there is no line");
  const fields = { ...line, stations: [{ ...work, passesTo: [] }] };
  resources.put(rows, workspaceId, ["line", lineId], { ...known, fields });
  return rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const);
}
