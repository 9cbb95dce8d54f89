import { codeHostConnections } from "../../actors/code-host/connection.table.js";
import type { HostedPullRequest } from "../../actors/outbound/code-host/hosted-pull-request.js";
import type { PullRequestRow } from "../../actors/pull-requests/pull-request.js";
import { pullRequestActor } from "../../actors/pull-requests/pull-request.machine.js";
import { pullRequests } from "../../actors/pull-requests/pull-request.table.js";
import type { AskPullRequest } from "../../actors/runs/pull-request.messages.js";
import type { RunOwner } from "../../actors/runs/run-owner.js";
import { findTaskBranch } from "../../actors/runs/task-branch.table.js";
import { taskRunOwner } from "../../actors/tasks/task-run-owner.js";
import { address } from "../../runtime/cells/address.js";
import type { Message } from "../../runtime/turns/turn.js";
import { memoryRows, type Stepping, stepByHand, type TurnTaken, withTurn } from "./turn.js";
import { lineId, putLine, putTeam, teamId, workspaceId } from "./work.js";

/** This file steps a task's pull request by hand, over its own rows. */

export const repository = "acme/app";
export const host = "code.example";
export const taskId = "task_01J0000000000000000ABCDEFG";
const taskAddress = address(workspaceId, "task", taskId);
export const head = (digit: string): string => digit.repeat(40);
/** The pull request at the code host, and its branch. */
export const url = "https://code.example/acme/app/pull/12";
export const branch = "signalbox/0abcdefg-fix-the-login";
/** The code host's time in {@link toPicture}, in milliseconds since 1970. */
export const T0 = Date.parse("2026-01-01T00:00:00.000Z");

const owner: RunOwner = {
  ...taskRunOwner,
  eventSubject: () => ({
    task: { id: taskId, title: "Fix the login!", url: "", teamId, lineId, station: "work", marks: {} },
    causes: [],
  }),
};

export function connect(rows: ReturnType<typeof memoryRows>, state: "connected" | "deleted" = "connected"): void {
  withTurn(
    address(workspaceId, "code-host-connection", "1"),
    (turn) =>
      codeHostConnections.insert(turn, workspaceId, {
        host,
        installationId: 7,
        account: { login: "Acme", kind: "organization" },
        state,
        connectedBy: "usr_1",
        connectedAtMs: 0,
        asOfMs: 0,
      }),
    { rows },
  );
}

/** Removes the connection of {@link connect}. */
export function disconnect(rows: ReturnType<typeof memoryRows>): void {
  const self = address(workspaceId, "code-host-connection", "1");
  const [connection] = codeHostConnections.list(rows, workspaceId);
  if (connection === undefined) throw new Error("it is not connected");
  withTurn(self, (turn) => codeHostConnections.remove(turn, workspaceId, connection), { rows });
}

/** Returns pull request 12 of the repository as the code host reports it. */
export function toPicture(more: Partial<HostedPullRequest> = {}): HostedPullRequest {
  return {
    repository,
    number: 12,
    url: `https://${host}/acme/app/pull/12`,
    title: "Fix the login!",
    body: "",
    author: { login: "signalbox[bot]", isPerson: false },
    branch: "signalbox/0abcdefg-fix-the-login",
    from: repository,
    head: head("a"),
    base: "main",
    state: "open",
    draft: false,
    isDirty: null,
    createdAtMs: T0,
    updatedAtMs: T0,
    closedAtMs: null,
    mergedAtMs: null,
    mergeCommit: null,
    ...more,
  };
}

export const mergedAt = (ms: number): Partial<HostedPullRequest> => ({
  state: "merged",
  updatedAtMs: ms,
  mergedAtMs: ms,
  closedAtMs: ms,
  mergeCommit: head("e"),
});
export const closedAt = (ms: number): Partial<HostedPullRequest> => ({
  state: "closed",
  updatedAtMs: ms,
  closedAtMs: ms,
});

export class SteppedPullRequest {
  readonly rows = memoryRows();
  readonly id = "pr_1";
  readonly actor: Stepping;

  constructor({ isConnected = true, id = "pr_1" } = {}) {
    putLine(this.rows);
    putTeam(this.rows);
    if (isConnected) connect(this.rows);
    this.actor = stepByHand(pullRequestActor([owner]), address(workspaceId, "pull-request", id), { rows: this.rows });
  }

  get row(): PullRequestRow | undefined {
    return pullRequests.get(this.rows, workspaceId, this.id);
  }

  take(message: object): TurnTaken {
    return this.actor.take(message as Message);
  }

  ask(more: Partial<AskPullRequest> = {}): TurnTaken {
    return this.take({
      type: "pull-request.ask",
      runId: "run_1",
      taskId,
      taskAddress,
      teamId,
      lineId,
      repository,
      wish: null,
      title: null,
      body: "",
      changed: ["a.ts"],
      ...more,
    });
  }

  /** Answers the question that the turn `asked` put to the hooks. */
  answerGate(asked: TurnTaken, refused: string | null = null): TurnTaken {
    return this.take({ type: "gate.answered", gate: "pull-request.opening", id: asked.questions[0]?.id, refused });
  }

  pushed(commit = head("a"), runId = "run_1"): TurnTaken {
    return this.take({ type: "pull-request.pushed", runId, head: commit });
  }

  notPushed(problem: string, why = "It failed.", head?: string): TurnTaken {
    return this.take({ type: "pull-request.not-pushed", runId: "run_1", problem, why, ...(head && { head }) });
  }

  /** Ends the effect that a turn started. `output` is the effect's result. */
  answer(taken: TurnTaken, output: object): TurnTaken {
    const effect = taken.started[0];
    return this.take({ type: "effect.ended", effect: effect?.name, id: effect?.id, result: { ok: true, output } });
  }

  woken(name: string): TurnTaken {
    return this.take({ type: "woken", name, dueMs: this.actor.now });
  }

  seen(picture: Partial<HostedPullRequest> | null, reviews: readonly object[] = []): TurnTaken {
    return this.take({ type: "pull-request.seen", picture: picture === null ? null : toPicture(picture), reviews });
  }

  /** Requests, allows and pushes the pull request; the request to the code host is in flight. */
  opening(): TurnTaken {
    this.answerGate(this.ask());
    return this.pushed();
  }

  open(): TurnTaken {
    return this.answer(this.opening(), { problem: null, pullRequest: toPicture() });
  }
}

/** Returns the messages about the pull request that a turn sends to runs. */
export const told = ({ sent }: TurnTaken) =>
  sent.flatMap(({ to, message }) => (to.kind === "run" && message.type === "pull-request.told" ? [message] : []));

/** Returns the notes that a turn adds to the task. */
export const notes = ({ sent }: TurnTaken) =>
  sent.flatMap(({ message }) => (message.type === "note" && "text" in message ? [String(message.text)] : []));

/** Returns the stored row of the task's branch. */
export const findBranch = ({ rows }: SteppedPullRequest) => findTaskBranch(rows, workspaceId, { taskId, repository });
