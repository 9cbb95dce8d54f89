import { newIntegrationConnection, storeIntegrationConnection } from "../../actors/integrations/connection.table.js";
import { integrationSchema } from "../../actors/integrations/definition.js";
import { INTEGRATION_REQUEST } from "../../actors/integrations/requests/integration-request.effects.js";
import type { IntegrationRequestResult } from "../../actors/integrations/requests/integration-request.js";
import { resources } from "../../actors/resources/resource.table.js";
import type { ApprovalRow } from "../../actors/runs/approval.js";
import { approvals } from "../../actors/runs/approval.table.js";
import { freezeTools, type RunTools } from "../../actors/runs/frozen-tools.js";
import { runActor } from "../../actors/runs/run.machine.js";
import { runs } from "../../actors/runs/run.table.js";
import type { TaskRow } from "../../actors/tasks/task.js";
import { tasks } from "../../actors/tasks/task.table.js";
import { taskRunOwner } from "../../actors/tasks/task-run-owner.js";
import type { ToolCallRow } from "../../actors/tool-calls/tool-call.js";
import { toolCallActor } from "../../actors/tool-calls/tool-call.machine.js";
import { toolCalls } from "../../actors/tool-calls/tool-call.table.js";
import { approverLeavingSubscriber, toolChangesSubscriber } from "../../actors/tool-calls/tool-calls.area.js";
import { putMember } from "../../actors/workspaces/member.table.js";
import type { MemberLeft } from "../../actors/workspaces/membership.transitions.js";
import { type Address, address } from "../../runtime/cells/address.js";
import type { EffectRequest, Fact, GateQuestion, Message, Turn } from "../../runtime/turns/turn.js";
import { putResource } from "./stepped-work.js";
import { memoryRows, type Stepping, stepByHand, type TurnTaken, withTurn } from "./turn.js";
import { line, lineId, putLine, putTeam, teamId, workspaceId } from "./work.js";

/** This file steps a run with an integration's tools, and the run's tool calls, by hand. */

export const runId = "run_1";
const runAddress = address(workspaceId, "run", runId);
const claim = { runId, fence: 1 };

/** The tools that the run's station names. */
export const trackerTools = ["comment", "note", "find"].map((name) => ({ tool: `tracker.${name}`, approval: false }));

/** The tracker's tools: one that every member may call, one that needs approval, and one that only reads. */
export const tracker = {
  integration: "tracker",
  name: "Tracker",
  hosts: ["api.example.com"],
  actions: {
    comment: { request: { url: "https://api.example.com/comments", body: { text: "x" } } },
    find: { request: { method: "GET", url: "https://api.example.com/find" } },
  },
  tools: {
    comment: {
      description: "Comments on an item.",
      action: "comment",
      approval: true,
      inputs: {
        text: { type: "string", required: true, description: "What to say." },
        on: { type: "string", default: ["$", "{{ task.line }}"].join("") },
      },
    },
    note: { action: "comment", inputs: { text: { type: "string", required: true } } },
    find: { action: "find", inputs: { limit: { type: "number", default: 10 } } },
  },
};

const task: TaskRow = {
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
  runId,
  asks: null,
  failure: null,
  openedAt: "",
  movedAt: "",
};

/** Returns the result of a call's request. */
export function result(more: Partial<IntegrationRequestResult> = {}): IntegrationRequestResult {
  return {
    at: "2026-01-01T00:00:00.000Z",
    tookMs: 5,
    method: "POST",
    origin: "https://api.example.com",
    status: 200,
    success: true,
    response: '{"id":1}',
    captures: "{}",
    output: '{"id":1}',
    code: null,
    reason: null,
    retryAfterMs: null,
    ...more,
  };
}

interface Sent {
  readonly to: Address;
  readonly message: Message;
}

export class ToolCallScene {
  readonly rows = memoryRows();
  readonly #actors = new Map<string, Stepping>();
  /** Messages from the run and its calls to runners, tasks and dispatchers, in order. */
  readonly sent: Sent[] = [];
  readonly facts: Fact[] = [];
  readonly questions: { readonly of: Address; readonly question: GateQuestion }[] = [];
  readonly requests: { readonly of: Address; readonly effect: EffectRequest }[] = [];
  now = Date.parse("2026-01-01T00:00:00.000Z");
  #asked = 0;

  /** `tools` are the tools that the run's station names. */
  constructor(tools = trackerTools) {
    putLine(this.rows);
    putTeam(this.rows);
    this.define({});
    tasks.insert(this.rows, workspaceId, task);
    const frozen: { tools?: RunTools | undefined } = {};
    const location = { workspaceId, teamKey: "core" };
    const freeze = (turn: Turn) => {
      frozen.tools = freezeTools(turn, location, { tools });
    };
    withTurn(runAddress, freeze, { rows: this.rows });
    const [work] = line.stations;
    this.tell(runAddress, {
      type: "run.start",
      owner: { kind: "task", id: task.id },
      ownerAddress: address(workspaceId, "task", task.id),
      teamId,
      lineId,
      stationId: "sta_work",
      stationKey: "work",
      fingerprint: "f",
      config: { station: { ...work, tools }, repositories: line.repositories, skills: [], profile: null },
      beginning: {
        line: { key: "dev", name: "Dev" },
        station: { name: "work", passesTo: [], next: [] },
        checkouts: [],
        ...(frozen.tools && { tools: frozen.tools }),
      },
      needs: { poolId: null, labels: [], harness: "command" },
    } as Message);
    this.tell(runAddress, { type: "run.claim", runnerId: "runner_1" } as Message);
    this.tell(runAddress, {
      type: "gate.answered",
      gate: "run.starting",
      id: "run.starting 1",
      refused: null,
    } as Message);
    this.say({ type: "run.started" });
    this.clear();
  }

  /** Replaces fields of the integration's definition. */
  define(more: object): void {
    putResource(this.rows, "integration", "tracker", integrationSchema.parse({ ...tracker, ...more }));
  }

  /** Deletes the integration. */
  deleteIntegration(): void {
    resources.remove(this.rows, workspaceId, "integration", "integration_tracker");
  }

  /** Sets a person's own rule: the tools for which they want to approve each call. */
  putRule(userId: string, asks: readonly string[]): void {
    const row = newIntegrationConnection("integration_tracker", userId);
    storeIntegrationConnection(this.rows, workspaceId, { ...row, asks });
  }

  putTask(more: Partial<TaskRow>): void {
    const before = tasks.get(this.rows, workspaceId, task.id);
    tasks.put(this.rows, workspaceId, before ?? null, { ...task, ...before, ...more });
  }

  putMember(userId: string, teams: readonly string[]): void {
    const member = { userId, email: `${userId}@example.com`, role: "member", since: "" } as const;
    putMember(this.rows, workspaceId, { ...member, teams: [...teams] });
  }

  /** Sends the run a message from its runner. */
  say(said: object): TurnTaken {
    return this.tell(runAddress, { type: "run.said", runnerId: "runner_1", said: { ...claim, ...said } } as Message);
  }

  /** Calls a tool as the agent; returns the id of the run's last call. */
  call(tool: string, inputs: object, id = `ask-${++this.#asked}`): string {
    this.say({ type: "run.tool-call", id, server: "tracker", tool, inputs: JSON.stringify(inputs) });
    return this.calls().at(-1)?.id ?? "";
  }

  /**
   * Answers the latest question to the hooks about the call. `refused` is the reason of a refusal; null if the hooks
   * allow the call.
   */
  vet(callId: string, refused: string | null = null): TurnTaken {
    const asked = this.questions.findLast(({ of }) => of.id === callId);
    const { id = "", name = "" } = asked?.question ?? {};
    return this.tell(address(workspaceId, "tool-call", callId), {
      type: "gate.answered",
      gate: name,
      id,
      refused,
    } as Message);
  }

  /** Answers a call's approval as a person. */
  answer(callId: string, by: string, more: object = {}): TurnTaken {
    const approvalId = this.get(callId).approvalId ?? "";
    const answer = {
      type: "call.answer",
      runId,
      by,
      approvalId,
      verdict: "approved",
      edited: null,
      note: null,
      ...more,
    };
    return this.tell(address(workspaceId, "tool-call", callId), answer as Message);
  }

  /**
   * Reports that a person left a team, or the workspace if `teamId` is null. Delivers the resulting messages to calls.
   */
  leave(userId: string, teamId: string | null): void {
    const left: MemberLeft = { name: "member.left", userId, teamId };
    const workspace = address(workspaceId, "workspace", workspaceId);
    const handle = (turn: Turn) => approverLeavingSubscriber.handle(left, turn);
    for (const { to, message } of withTurn(workspace, handle, { rows: this.rows }).sent) this.tell(to, message);
  }

  /** Reports that the integration was changed or deleted, and delivers the resulting messages to calls. */
  change(id = "integration_tracker"): void {
    const workspace = address(workspaceId, "workspace", workspaceId);
    const handle = (turn: Turn) => toolChangesSubscriber.handle({ name: "integration.changed", id }, turn);
    for (const { to, message } of withTurn(workspace, handle, { rows: this.rows }).sent) this.tell(to, message);
  }

  /** Ends the request of a call. */
  end(callId: string, more: Partial<IntegrationRequestResult> = {}): TurnTaken {
    const of = address(workspaceId, "tool-call", callId);
    const ended = { type: "effect.ended", effect: INTEGRATION_REQUEST.name, id: "request" };
    return this.tell(of, { ...ended, result: { ok: true, output: result(more) } } as Message);
  }

  /** Delivers a message, and all resulting messages between the run and its calls. */
  tell(to: Address, message: Message): TurnTaken {
    const actor = this.#actor(to);
    actor.now = this.now;
    const taken = actor.take(message);
    this.facts.push(...taken.facts);
    this.questions.push(...taken.questions.map((question) => ({ of: to, question })));
    this.requests.push(...taken.started.map((effect) => ({ of: to, effect })));
    for (const { to: next, message: sent } of taken.sent) {
      if (next.kind === "run" || next.kind === "tool-call") this.tell(next, sent);
      else this.sent.push({ to: next, message: sent });
    }
    return taken;
  }

  clear(): void {
    for (const list of [this.sent, this.facts, this.questions, this.requests]) list.length = 0;
  }

  get(callId: string): ToolCallRow {
    const row = toolCalls.get(this.rows, workspaceId, runId, callId);
    if (row === undefined) throw new Error(`there is no call ${callId}`);
    return row;
  }

  calls(): readonly ToolCallRow[] {
    return toolCalls.list(this.rows, workspaceId, [runId]);
  }

  approval(callId: string): ApprovalRow | undefined {
    return approvals.list(this.rows, workspaceId, [runId]).find((approval) => approval.callId === callId);
  }

  run() {
    const row = runs.get(this.rows, workspaceId, runId);
    if (row === undefined) throw new Error("there is no run");
    return row;
  }

  /** Returns the messages about calls that were sent to the runner, without the claim and the call's id. */
  told(): readonly object[] {
    return this.sent.flatMap(({ to, message }) => {
      if (to.kind !== "runner" || !("message" in message)) return [];
      const { runId: _run, fence: _fence, callId: _call, ...told } = message.message as Record<string, unknown>;
      return [told];
    });
  }

  /**
   * Returns the run's reports to the task about what the run waits for, in order; null if the run waits for nothing.
   */
  asks(): readonly (string | null)[] {
    return this.sent.flatMap(({ message }) => ("asks" in message ? [message.asks as string | null] : []));
  }

  #actor(of: Address): Stepping {
    const name = `${of.kind}/${of.id}`;
    const type = of.kind === "run" ? runActor([taskRunOwner]) : toolCallActor([taskRunOwner]);
    const actor = this.#actors.get(name) ?? stepByHand(type, of, { rows: this.rows, now: this.now });
    this.#actors.set(name, actor);
    return actor;
  }
}
