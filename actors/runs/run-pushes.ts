/**
 * The pushes of a run. The runner holds the changes, and the task's pull request decides whether to push them. The run
 * passes messages between the runner and the pull request.
 *
 * 1. The run asks its runner to push only after the pull request has allowed the push.
 * 2. If something remains to push when the agent is done, the run's end waits. The runner keeps its claim, its slot
 *    and the run's folder. The run asks to push one repository at a time. It ends after the last push, with any result.
 * 3. Each push order ends. Either the runner reports a result, or the order is lost: with the runner, with the run,
 *    or after {@link PUSH_MS}.
 */
import type { Turn, TurnReading } from "../../runtime/turns/turn.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import { pullRequestTerms } from "../lines/line.js";
import { findLine, laterStations } from "../lines/line.queries.js";
import type { RunnerMessage } from "../runners/protocol.js";
import type { PullRequestWish, WaitingPush } from "../runners/push.js";
import { getText } from "../tables/text-blobs.js";
import { pathOfBoth, unquoted } from "./diff-path.js";
import {
  type AskPullRequest,
  type BranchNotPushed,
  type PullRequestReported,
  type PushAllowed,
  pullRequestRef,
} from "./pull-request.messages.js";
import type { PendingPush, RunContext, RunRow } from "./run.js";
import { runCheckouts, runs } from "./run.table.js";
import { getRunRow, sendToRunner } from "./run.transitions.js";
import { getRunInput } from "./run-input.table.js";
import { findTaskBranch } from "./task-branch.table.js";

/** Time limit for a push of a runner, in milliseconds. */
const PUSH_MS = 15 * 60 * 1_000;
/** The name of the wake-up at the time limit of a push. */
export const PUSH = "push";
/** Maximum number of unanswered requests of one agent for pull requests. */
const MAX_WISHES = 20;

/** The reasons why a push is lost, for people. */
export const LOST = "The runner was lost before it pushed.";
export const UNANSWERED = "The runner did not confirm the push in time.";

/** The runner's report of a push. */
export type PushReport = Extract<RunnerMessage, { type: "run.pushed" | "run.push-rejected" }>;

/** The changes of a run in one repository, as its runner reports them. */
interface ReportedChange {
  readonly repository: string;
  readonly diff: string;
}

/**
 * Lists the changed repositories to push at the end of a run whose agent completed:
 *
 * - Repositories in which the task has a pushed branch, because later runs start from that branch.
 * - All repositories that a connection reaches, if the run finishes the task and the line opens pull requests then.
 */
export function repositoriesToPush(
  turn: TurnReading,
  row: RunRow,
  { ending, checkouts }: { readonly ending: RunRow["ending"]; readonly checkouts: readonly ReportedChange[] },
): readonly string[] {
  const { partition } = turn.self;
  const { taskId } = row;
  const { beginning, config } = getRunInput(turn, partition, row.id);
  if (taskId === null || beginning?.push !== true) return [];
  const line = findLine(turn, partition, row.lineId);
  const isLast = ending?.kind === "finish" && laterStations(line, row.stationKey, row.passesTo).length === 0;
  const opens = isLast && line !== undefined && pullRequestTerms(line).open === "finish";
  const changed = new Set(checkouts.filter(({ diff }) => diff !== "").map(({ repository }) => repository));
  return config.repositories
    .map(({ name }) => name)
    .filter((repository) => {
      if (!changed.has(repository)) return false;
      const hasBranch = (findTaskBranch(turn, partition, { taskId, repository })?.head ?? null) !== null;
      return hasBranch || (opens && findReachingConnection(turn, partition, repository) !== undefined);
    });
}

/** Returns the reason why the agent's request for a pull request is refused; null if it is not refused. Reads only. */
export function whyNoPullRequest(
  turn: TurnReading,
  { pushes, stopping }: RunContext,
  { repository }: Pick<PullRequestWish, "repository">,
): string | null {
  const { partition, id } = turn.self;
  const row = getRunRow(turn);
  const { beginning, config } = getRunInput(turn, partition, id);
  const line = findLine(turn, partition, row.lineId);
  if (
    row.taskId === null ||
    beginning?.push !== true ||
    line === undefined ||
    pullRequestTerms(line).open === "never"
  ) {
    return "This run cannot open pull requests.";
  }
  if (!config.repositories.some(({ name }) => name === repository)) return `The run does not work on ${repository}.`;
  if (stopping) return "The run is being stopped.";
  if (pushes.length >= MAX_WISHES) return `${MAX_WISHES} pull requests of this run are already requested.`;
  return pushes.some((one) => one.repository === repository)
    ? `The pull request of ${repository} is already requested.`
    : null;
}

/** Passes the agent's request to the task's pull request in the repository. */
export function askForWish(turn: Turn, context: RunContext, wish: Omit<PullRequestWish, "type">): RunContext {
  const { id, repository, title, body, changed } = wish;
  return ask(turn, context, { repository, wish: id, title, body, changed });
}

/** Sends the agent the answer to its request. */
export function answerWish(
  turn: Turn,
  context: RunContext,
  answer: { readonly id: string; readonly url: string | null; readonly refused: string | null },
): void {
  const { fence } = context;
  sendToRunner(turn, context, { type: "run.pull-request-answered", runId: turn.self.id, fence, ...answer });
}

/**
 * Starts the pushes after the agent is done. Asks to push the first repository, unless a request of the agent is still
 * pending.
 */
export function holdEnd(turn: Turn, context: RunContext, repositories: readonly string[]): RunContext {
  return askNext(turn, { ...context, held: repositories });
}

function askNext(turn: Turn, context: RunContext): RunContext {
  const [repository, ...held] = context.held;
  if (repository === undefined || context.pushes.length > 0) return context;
  const { partition, id } = turn.self;
  const digest = runCheckouts.get(turn, partition, id, repository)?.digest ?? null;
  const changed = changedPaths(getText(turn, partition, digest));
  return ask(turn, { ...context, held }, { repository, wish: null, title: null, body: "", changed });
}

type Wanted = Pick<AskPullRequest, "repository" | "wish" | "title" | "body" | "changed">;

function ask(turn: Turn, context: RunContext, wanted: Wanted): RunContext {
  const { partition } = turn.self;
  const { id: runId, taskId, teamId, lineId, ownerAddress } = getRunRow(turn);
  if (taskId === null) throw new Error("a run without a task asks for a pull request");
  const { repository, wish } = wanted;
  const known = findTaskBranch(turn, partition, { taskId, repository })?.pullRequestId ?? null;
  const pullRequestId = known ?? turn.newId("pr");
  const message: AskPullRequest = {
    type: "pull-request.ask",
    runId,
    taskId,
    taskAddress: ownerAddress,
    teamId,
    lineId,
    ...wanted,
  };
  turn.send(pullRequestRef(partition, pullRequestId), message);
  return { ...context, pushes: [...context.pushes, { repository, pullRequestId, wish, push: null }] };
}

/** Orders the runner to push. */
export function grantPush(turn: Turn, context: RunContext, allowed: PushAllowed): RunContext {
  const { pullRequestId, push, repository, host, installationId, branch, base, title, workflows } = allowed;
  const pending = context.pushes.find((one) => one.pullRequestId === pullRequestId);
  if (pending === undefined) return context;
  const order: WaitingPush = {
    type: "run.push",
    runId: turn.self.id,
    fence: context.fence,
    id: push,
    repository,
    wish: pending.wish,
    host,
    installationId,
    workflows,
    branch,
    base,
    title,
    pullRequestId,
  };
  sendToRunner(turn, context, order);
  turn.wake(PUSH, turn.now + PUSH_MS);
  return withPush(context, { ...pending, push });
}

/** Reports the result of the push to the pull request that allowed it. */
export function forwardPush(
  turn: Turn,
  context: RunContext,
  { pending, said }: { readonly pending: PendingPush; readonly said: PushReport },
): RunContext {
  const { partition, id: runId } = turn.self;
  const to = pullRequestRef(partition, pending.pullRequestId);
  if (said.type === "run.pushed") turn.send(to, { type: "pull-request.pushed", runId, head: said.head });
  else {
    const { problem, why, head } = said;
    turn.send(to, { type: "pull-request.not-pushed", runId, problem, why, ...(head !== undefined && { head }) });
  }
  const reported = withPush(context, { ...pending, push: null });
  if (reported.pushes.every(({ push }) => push === null)) turn.cancelWake(PUSH);
  return reported;
}

/**
 * Finds the pending push that the runner's message is about; undefined if the run does not wait for this push (any
 * longer).
 */
export function findPush({ pushes }: RunContext, { id }: PushReport): PendingPush | undefined {
  return pushes.find(({ push }) => push === id);
}

/** Processes the result from a pull request: answers the agent, or continues the end of the run. */
export function processResult(turn: Turn, context: RunContext, result: PullRequestReported): RunContext {
  const pending = context.pushes.find(({ pullRequestId }) => pullRequestId === result.pullRequestId);
  if (pending === undefined) return context;
  const { wish } = pending;
  const { repository, pullRequestId, url, refused } = result;
  if (wish !== null) {
    const unknown = url === null && refused === null;
    answerWish(turn, context, {
      id: wish,
      url,
      refused: unknown ? "The branch is pushed. The pull request is opened as soon as possible." : refused,
    });
  } else recordPushed(turn, { repository, pullRequestId, refused });
  const pushes = context.pushes.filter((one) => one !== pending);
  const { [repository]: _last, ...others } = context.unmet ?? {};
  const unmet = wish !== null && refused !== null ? { ...others, [repository]: refused } : others;
  // The pull request's result may arrive before the runner's push report. If no other push awaits a report, cancel the
  // timeout.
  if (pending.push !== null && pushes.every(({ push }) => push === null)) turn.cancelWake(PUSH);
  return askNext(turn, { ...context, pushes, unmet });
}

/**
 * Records, for a completed run, the agent's last refused request in each repository that the run changed. Does nothing
 * unless the line lets the agent open pull requests. The task's assignee then decides what to do.
 */
export function recordUnmet(turn: Turn, { unmet = {} }: RunContext): void {
  const { partition, id } = turn.self;
  const line = findLine(turn, partition, getRunRow(turn).lineId);
  if (line === undefined || pullRequestTerms(line).open !== "agent") return;
  for (const [repository, refused] of Object.entries(unmet)) {
    const isChanged = (runCheckouts.get(turn, partition, id, repository)?.digest ?? null) !== null;
    if (isChanged) recordPushed(turn, { repository, pullRequestId: null, refused });
  }
}

/** Whether nothing is left to push after this result. Reads only. */
export function isLastResult({ pushes, held }: RunContext, { pullRequestId }: PullRequestReported): boolean {
  return held.length === 0 && pushes.every((one) => one.pullRequestId === pullRequestId);
}

function recordPushed(turn: Turn, pushed: NonNullable<RunRow["pullRequests"]>[number]): void {
  const row = getRunRow(turn);
  runs.put(turn, turn.self.partition, row, { ...row, pullRequests: [...(row.pullRequests ?? []), pushed] });
}

/**
 * Drops all pushes of a run that ends before their results arrive. Notifies the pull requests, and records the changes
 * that were not pushed.
 */
export function losePushes(turn: Turn, { pushes, held }: RunContext, why = LOST): void {
  const { partition, id: runId } = turn.self;
  if (pushes.some(({ push }) => push !== null)) turn.cancelWake(PUSH);
  for (const { pullRequestId, repository, wish } of pushes) {
    const lost: BranchNotPushed = { type: "pull-request.not-pushed", runId, problem: "lost", why };
    turn.send(pullRequestRef(partition, pullRequestId), lost);
    if (wish === null) recordPushed(turn, { repository, pullRequestId, refused: why });
  }
  for (const repository of held) recordPushed(turn, { repository, pullRequestId: null, refused: why });
}

/** Reports a lost push to each pull request that allowed a push and has not received the push's result. */
export function losePushesGiven(turn: Turn, { pushes }: RunContext, why: string): void {
  const given = pushes.filter(({ push }) => push !== null);
  for (const { pullRequestId } of given) {
    const lost: BranchNotPushed = { type: "pull-request.not-pushed", runId: turn.self.id, problem: "lost", why };
    turn.send(pullRequestRef(turn.self.partition, pullRequestId), lost);
  }
}

/** Sets the time limit of the pushes again, in full. Call it if the service was down when the limit passed. */
export function awaitPush(turn: Turn): void {
  turn.wake(PUSH, turn.now + PUSH_MS);
}

function withPush(context: RunContext, changed: PendingPush): RunContext {
  const pushes = context.pushes.map((one) => (one.pullRequestId === changed.pullRequestId ? changed : one));
  return { ...context, pushes };
}

const FILE = "diff --git ";
const MOVES = ["rename from ", "rename to ", "copy to "] as const;

/**
 * Lists the paths that a diff (`git diff`) changes, without duplicates, in the diff's order. Lists both paths of a
 * renamed file. Never reads file content as a path, because content lines and header lines start with different
 * characters.
 */
function changedPaths(diff: string): readonly string[] {
  const paths = new Set<string>();
  for (let at = diff.startsWith(FILE) ? 0 : nextFile(diff, 0); at !== -1; ) {
    const next = nextFile(diff, at);
    for (const path of pathsOfFile(diff, at, next === -1 ? diff.length : next)) paths.add(path);
    at = next;
  }
  return [...paths];
}

/** Returns the start of the next file in the diff after `at`; -1 if there is none. */
function nextFile(diff: string, at: number): number {
  const found = diff.indexOf(`\n${FILE}`, at);
  return found === -1 ? -1 : found + 1;
}

/** Maximum number of header lines of a file to read, including the `diff --git` line. */
const MAX_HEADER_LINES = 10;

function pathsOfFile(diff: string, from: number, end: number): string[] {
  const [first = "", ...others] = headerLines(diff, from, end);
  const moved = others.flatMap((line) => {
    const move = MOVES.find((start) => line.startsWith(start));
    return move === undefined ? [] : [unquoted(line.slice(move.length))];
  });
  return moved.length > 0 ? moved : [pathOfBoth(first.slice(FILE.length))];
}

function headerLines(diff: string, from: number, end: number): string[] {
  const lines: string[] = [];
  for (let at = from; at < end && lines.length < MAX_HEADER_LINES; ) {
    const found = diff.indexOf("\n", at);
    const stop = found === -1 ? end : Math.min(found, end);
    lines.push(diff.slice(at, stop));
    at = stop + 1;
  }
  return lines;
}
