import { createActorTypes, createKinds } from "../../actors/catalogue.js";
import { integrationSchema } from "../../actors/integrations/definition.js";
import { integrationRequestEffect } from "../../actors/integrations/requests/integration-request.effects.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import type { BytesAnswer } from "../../actors/outbound/http/http-exchange.js";
import { RUNNER_FEATURES } from "../../actors/runners/protocol.js";
import { runnerRef } from "../../actors/runners/runner.messages.js";
import { type OutboxMessage, outbox } from "../../actors/runners/runner.table.js";
import type { ApprovalRow } from "../../actors/runs/approval.js";
import { approvals } from "../../actors/runs/approval.table.js";
import { freezeTools, type RunTools } from "../../actors/runs/frozen-tools.js";
import { runRef, type StartRun } from "../../actors/runs/run.messages.js";
import { tasks } from "../../actors/tasks/task.table.js";
import type { ToolCallRow } from "../../actors/tool-calls/tool-call.js";
import { toolCallRef } from "../../actors/tool-calls/tool-call.messages.js";
import { toolCalls } from "../../actors/tool-calls/tool-call.table.js";
import type { Effect } from "../../runtime/cells/actor-type.js";
import { address } from "../../runtime/cells/address.js";
import type { RuntimeLimits } from "../../runtime/runtime.js";
import type { Message, Turn } from "../../runtime/turns/turn.js";
import { Harness } from "./harness.js";
import { putResource } from "./stepped-work.js";
import { tracker, trackerTools } from "./tool-call-scene.js";
import { memoryRows, withTurn } from "./turn.js";
import { line, lineId, putLine, putPool, putTeam, teamId, workspaceId } from "./work.js";

const actors = createActorTypes(createKinds({ allowList: parseAllowList(""), signsTokens: false }));
/** The runner's lease: longer than any test, because the runner sends no heartbeats. */
const LEASE_MS = 10 * 24 * 3_600_000;
const RUNNER = "runner_1";

/** A request as a workspace's tracker received it. */
export interface TrackerRequest {
  /** The workspace's id, such as `ws_1`, taken from the request's host. */
  readonly workspaceId: string;
  readonly method: string;
  readonly atMs: number;
}

interface WorldOptions {
  /** Number of runs, by workspace. */
  readonly runs?: Readonly<Record<string, number>>;
  readonly limits?: Partial<RuntimeLimits>;
  /** Returns the milliseconds until the tracker answers the request; null if the tracker never answers. */
  readonly answers?: (request: TrackerRequest) => number | null;
}

/** Runs that call tools, on the real runtime over a simulated disk, clock and tracker. */
export class ToolCallWorld {
  readonly harness: Harness;
  readonly requests: TrackerRequest[] = [];
  readonly #answers: (request: TrackerRequest) => number | null;
  readonly #said = new Map<string, number>();

  private constructor({ answers = () => 5, limits = {} }: WorldOptions) {
    this.#answers = answers;
    this.harness = new Harness({ catalogue: {}, limits });
  }

  /** Starts a process on the current disk. */
  async start(): Promise<void> {
    await this.harness.start({ actors, effects: [this.#effect()] });
  }

  /** Opens a world in which runners have claimed all runs. Each runner has a slot for every run of its workspace. */
  static async open(options: WorldOptions = {}): Promise<ToolCallWorld> {
    const world = new ToolCallWorld(options);
    const { runs = { [workspaceId]: 1 } } = options;
    for (const workspace of Object.keys(runs)) {
      const stored = world.harness.disk.open().commit(world.#listRows(workspace));
      await world.harness.advance();
      await stored;
    }
    await world.start();
    for (const [workspace, count] of Object.entries(runs)) await world.#begin(workspace, count);
    return world;
  }

  /** Sends a message from the runner. After a kill, the same message may be sent again with the same number. */
  say(workspace: string, message: object, n = this.#next(workspace)): Promise<unknown> {
    const said = { type: "runner.said", connection: "c", n, ack: 0, message };
    return this.harness.runtime.ask(runnerRef(workspace, RUNNER), said as never).catch(() => undefined);
  }

  /** Returns the message with which an agent calls a tool. */
  called(run: string, id: string, tool: string, inputs: object): object {
    return { type: "run.tool-call", runId: run, fence: 1, id, server: "tracker", tool, inputs: JSON.stringify(inputs) };
  }

  /** Answers a run's open approval as the assignee. A second call sends the same request again. */
  async approve(run = "run_1", more: object = {}): Promise<void> {
    const [approval] = this.approvals(run);
    if (approval?.callId === undefined) return;
    const idempotency = { scope: "usr_1", key: `${approval.id} approve`, digest: "d" };
    const answer = { by: "usr_1", approvalId: approval.id, verdict: "approved", edited: null, note: null, idempotency };
    const message = { type: "call.answer", runId: run, ...answer, ...more } as never;
    await this.harness.runtime.ask(toolCallRef(workspaceId, approval.callId), message).catch(() => undefined);
  }

  approvals(run: string): readonly ApprovalRow[] {
    return approvals.list(this.harness.durable, workspaceId, [run]);
  }

  calls(workspace = workspaceId, run = "run_1"): readonly ToolCallRow[] {
    return toolCalls.list(this.harness.durable, workspace, [run]);
  }

  /** Returns the messages that wait for the runner's acknowledgement. The runner never acknowledges a message. */
  outbox(workspace = workspaceId): readonly OutboxMessage[] {
    return outbox.list(this.harness.durable, workspace, [RUNNER]);
  }

  #next(workspace: string): number {
    const n = (this.#said.get(workspace) ?? 0) + 1;
    this.#said.set(workspace, n);
    return n;
  }

  async #begin(workspace: string, count: number): Promise<void> {
    const { harness } = this;
    const hello = { instance: "i".repeat(16), name: "peer", version: "1", labels: [], harnesses: ["command"] };
    await harness.ask(runnerRef(workspace, RUNNER), {
      type: "runner.hello",
      connection: "c",
      poolId: "pool_1",
      leaseMs: LEASE_MS,
      hello: { ...hello, slots: count, received: 0, claims: [], features: RUNNER_FEATURES },
    } as Message);
    for (let n = 1; n <= count; n++) {
      const start = this.#start(workspace);
      await harness.ask(runRef(workspace, `run_${n}`), start);
      await this.harness.advance();
      void this.say(workspace, { type: "run.started", runId: `run_${n}`, fence: 1 });
      await harness.advance();
    }
  }

  readonly #tools = new Map<string, RunTools | undefined>();

  #start(workspace: string): StartRun {
    const [work] = line.stations;
    const tools = this.#tools.get(workspace);
    return {
      type: "run.start",
      owner: { kind: "task", id: "task_1" },
      ownerAddress: address(workspace, "task", "task_1"),
      teamId,
      lineId,
      stationId: "sta_work",
      stationKey: "work",
      fingerprint: "f",
      config: { station: { ...work, tools: trackerTools }, repositories: line.repositories, skills: [], profile: null },
      beginning: {
        line: { key: "dev", name: "Dev" },
        station: { name: "work", passesTo: [], next: [] },
        checkouts: [],
        ...(tools && { tools }),
      },
      needs: { poolId: null, labels: [], harness: "command" },
    } as unknown as StartRun;
  }

  /** Returns a workspace's initial rows, under its own partition. */
  #listRows(workspace: string) {
    const rows = memoryRows();
    putLine(rows);
    putTeam(rows);
    putPool(rows, "pool_1");
    const url = `https://${workspace.replace("_", "-")}.example.com`;
    const actions = {
      comment: { request: { url: `${url}/comments`, body: { text: "x" } } },
      find: { request: { method: "GET", url: `${url}/find` } },
    };
    const hosts = [new URL(url).host];
    putResource(rows, "integration", "tracker", integrationSchema.parse({ ...tracker, hosts, actions }));
    tasks.insert(rows, workspaceId, {
      id: "task_1",
      teamId,
      lineId,
      title: "Do it",
      description: "",
      url: "",
      station: "work",
      state: "running",
      assignee: "usr_1",
      openedBy: { kind: "person", userId: "usr_1" },
      marks: {},
      pullRequest: null,
      runId: "run_1",
      asks: null,
      failure: null,
      openedAt: "",
      movedAt: "",
    });
    const freeze = (turn: Turn) => {
      const location = { workspaceId, teamKey: "core" };
      this.#tools.set(workspace, freezeTools(turn, location, { tools: trackerTools }));
    };
    withTurn(address(workspaceId, "run", "run_1"), freeze, { rows });
    return rows.range({ prefix: [] }).map(({ key, value }) => ({
      op: "put" as const,
      key: key.map((part) => (part === workspaceId ? workspace : part)),
      value: ArrayBuffer.isView(value) ? value : JSON.parse(JSON.stringify(value).replaceAll(workspaceId, workspace)),
    }));
  }

  #effect(): Effect {
    const { world } = this.harness;
    const send = ({ url, method }: { readonly url: URL; readonly method: string }) =>
      new Promise<BytesAnswer>((resolve) => {
        const request = { workspaceId: url.host.split(".")[0]?.replace("-", "_") ?? "", method, atMs: world.nowMs };
        this.requests.push(request);
        const afterMs = this.#answers(request);
        const bytes = Buffer.from('{"id":1}');
        if (afterMs === null) return;
        world.later(afterMs, () => resolve({ status: 200, headers: {}, bytes }));
      });
    return integrationRequestEffect({
      reading: () => this.harness.runtime.reading,
      outbound: { send },
      clock: world.clock,
      sealer: { open: () => "" },
      baseUrl: () => "http://localhost",
      log: { error: () => undefined },
    });
  }
}
