/**
 * How a run's changes are pushed: the run requests a push, hooks decide about the changed paths, and the run's runner
 * pushes. The runner pushes no path that hooks did not see. The service issues no token before the hooks have answered.
 */
import type { InTurn } from "../../runtime/cells/chart.js";
import type { Turn } from "../../runtime/turns/turn.js";
import { findHosted } from "../code-host/hosted-repository.queries.js";
import type { WorkQuestion } from "../events/catalogue.js";
import { recordWorkEvent } from "../events/event-task.js";
import { pullRequestTerms } from "../lines/line.js";
import { findLine } from "../lines/line.queries.js";
import { toTakenBranch } from "../runners/push.js";
import {
  type AskPullRequest,
  type PullRequestReported,
  type PushAllowed,
  pullRequestRef,
} from "../runs/pull-request.messages.js";
import { runRef } from "../runs/run.messages.js";
import { findTaskBranch, taskBranches } from "../runs/task-branch.table.js";
import { storeText, toStoredText } from "../tables/text-blobs.js";
import type { PullRequestEventOf } from "./classify-pull-request.js";
import {
  changesWorkflows,
  type PullRequestContext,
  type PullRequestRow,
  toBranch,
  toCheckout,
  toTitle,
} from "./pull-request.js";
import { pullRequestEntry, pullRequests } from "./pull-request.table.js";
import { readPaths } from "./pull-request.view.js";
import { changePullRequest, changeTaskBranch, getPullRequest, noteOnTask } from "./pull-request-row.js";

const GATE = "pull-request.opening";

/** Asks hooks about all paths of the pull request, including the run's new changes. */
export function vet(event: PullRequestEventOf<"ask.vet">, context: PullRequestContext): PullRequestContext {
  const { turn, ask, subject } = event;
  const known = pullRequests.get(turn, turn.self.partition, turn.self.id);
  const was = known === undefined ? "none" : known.state === "open" ? "open" : "failed";
  const before = known ?? begin(event);
  const paths = [...new Set([...readPaths(turn, turn.self.partition, before.vetted), ...ask.changed])];
  const asking = storeText(turn, turn.self.partition, JSON.stringify(paths));
  const asked = { ...context, was, rejected: 0, taskAddress: ask.taskAddress } as const;
  const { host, installationId } = event.connection;
  if (known === undefined) {
    pullRequests.insert(turn, turn.self.partition, { ...before, asking });
    turn.direct(pullRequestEntry(turn.self.partition, before.id));
  } else changePullRequest(turn, asked, { state: "vetting", asking, host, installationId, problem: null });
  return askGate(turn, { ...asked, run: toRun(turn, ask) }, { row: before, subject, paths });
}

function toRun(turn: Turn, { runId, wish, repository }: AskPullRequest): NonNullable<PullRequestContext["run"]> {
  return { id: runId, wish, push: turn.newId("push"), repository };
}

/** The data of the gate's question. */
interface Asked extends Pick<PullRequestEventOf<"ask.vet">, "subject"> {
  readonly row: PullRequestRow;
  readonly paths: readonly string[];
}

function askGate(turn: Turn, context: PullRequestContext, { row, subject, paths }: Asked): PullRequestContext {
  if (context.run === null) return context;
  const { repository, branch, title } = row;
  const question: WorkQuestion = {
    name: GATE,
    id: context.run.push,
    work: recordWorkEvent(turn, turn.self.partition, subject, {
      on: GATE,
      occurrence: turn.newId("occ"),
      run: { id: context.run.id },
      event: { at: new Date(turn.now).toISOString(), repository, branch, title, changed: paths },
    }),
  };
  turn.askGate(question);
  return context;
}

/** Asks hooks again after the first push failed. */
export function vetAgain(
  { turn, subject }: InTurn & { readonly subject: Asked["subject"] },
  context: PullRequestContext,
): PullRequestContext {
  const { partition } = turn.self;
  const before = getPullRequest(turn);
  const asking = before.asking ?? before.vetted;
  const row = changePullRequest(turn, context, { state: "vetting", asking });
  const { id = "", wish = null, repository } = context.run ?? {};
  const run = context.run === null ? null : { id, wish, push: turn.newId("push"), ...(repository && { repository }) };
  const asked = { ...context, run, rejected: context.rejected + 1 };
  return askGate(turn, asked, { row, subject, paths: readPaths(turn, partition, asking) });
}

function begin({ turn, ask, connection, subject }: PullRequestEventOf<"ask.vet">): PullRequestRow {
  const { partition, id } = turn.self;
  const { repository, taskId, teamId, lineId, title, body } = ask;
  const { host, installationId } = connection;
  const line = findLine(turn, partition, lineId);
  const terms = line === undefined ? null : pullRequestTerms(line);
  const known = findTaskBranch(turn, partition, { taskId, repository });
  // After a merge the task gets a new branch. If its pull request was closed, the task keeps the branch.
  const isMerged = known !== undefined && known.head === null;
  const serial = (known?.serial ?? 1) + (isMerged ? 1 : 0);
  const branch = known !== undefined && !isMerged ? known.branch : toBranch(subject.task, serial);
  return {
    ...toRepository(turn, repository),
    id,
    teamId,
    role: "own",
    taskId,
    lineId,
    host,
    installationId,
    number: null,
    url: null,
    title: toTitle(title ?? subject.task.title),
    author: null,
    branch,
    base: known?.base ?? subject.task.branch ?? terms?.base ?? null,
    head: null,
    draft: terms?.draft ?? false,
    state: "vetting",
    createdAt: new Date(turn.now).toISOString(),
    openedAt: null,
    firstReviewAt: null,
    reviewedCommits: [],
    mergedAt: null,
    mergeCommit: null,
    closedAt: null,
    revertedBy: null,
    hostUpdatedAt: null,
    isDirty: false,
    changed: null,
    vetted: null,
    asking: null,
    body: toStoredText(turn, partition, body),
    problem: null,
    waitsUntil: null,
    comments: {},
  };
}

/** Returns the repository under its name at the code host. `checkout` is the name that the run uses. */
function toRepository(turn: Turn, checkout: string): Pick<PullRequestRow, "repository" | "repositoryId" | "checkout"> {
  const known = findHosted(turn, turn.self.partition, { repository: checkout });
  if (known === undefined) return { repository: checkout };
  const { name: repository, repositoryId } = known;
  return { repository, repositoryId, ...(repository !== checkout && { checkout }) };
}

/** Fixes the branch and allows the runner to push, after hooks agreed. */
export function allowPush({ turn }: InTurn, context: PullRequestContext): PullRequestContext {
  const { partition } = turn.self;
  const before = getPullRequest(turn);
  const paths = readPaths(turn, partition, before.asking);
  const row = changePullRequest(turn, context, { state: "pushing", vetted: before.asking, asking: null });
  const { taskId, branch, base, id } = row;
  if (taskId !== null) {
    const repository = toCheckout(row);
    const known = findTaskBranch(turn, partition, { taskId, repository });
    const isNew = known?.branch !== branch;
    const serial = (known?.serial ?? 0) + (isNew ? 1 : 0);
    const head = isNew ? null : (known?.head ?? null);
    const stored = { pullRequestId: id, branch, base, head, isDirty: row.isDirty, serial };
    taskBranches.put(turn, partition, [taskId, repository], stored);
  }
  const allowed = withWorkflows(context, paths);
  sendAllowed(turn, allowed, row);
  return allowed;
}

/** Allows the runner to push without asking hooks, because hooks have already allowed all changed paths. */
export function allowAtOnce(
  { turn, ask, connection }: PullRequestEventOf<"ask.push">,
  context: PullRequestContext,
): PullRequestContext {
  const { host, installationId } = connection;
  const asked: PullRequestContext = {
    ...context,
    was: "open",
    rejected: 0,
    taskAddress: ask.taskAddress,
    run: toRun(turn, ask),
  };
  const row = changePullRequest(turn, asked, { state: "pushing", host, installationId, problem: null });
  const allowed = withWorkflows(asked, ask.changed);
  sendAllowed(turn, allowed, row);
  return allowed;
}

function withWorkflows(context: PullRequestContext, paths: readonly string[]): PullRequestContext {
  const { run } = context;
  return run === null || !changesWorkflows(paths) ? context : { ...context, run: { ...run, workflows: true } };
}

/** Allows the run's runner to push, under the id of the run's push. */
export function sendAllowed(turn: Turn, { run }: PullRequestContext, row: PullRequestRow): void {
  if (run === null) return;
  const { workflows = false } = run;
  const { id: pullRequestId, host, installationId, branch } = row;
  const { push, repository = toCheckout(row) } = run;
  const allowed: PushAllowed = {
    type: "pull-request.allowed",
    pullRequestId,
    push,
    repository,
    host,
    installationId,
    // Convert the base and the title, because people can set values at the code host that a runner does not accept.
    branch,
    base: toTakenBranch(row.base),
    title: toTitle(row.title),
    workflows,
  };
  turn.send(runRef(turn.self.partition, run.id), allowed);
}

/** Sends the result to the run that asked, once. */
export function notifyRun(
  turn: Turn,
  context: PullRequestContext,
  reported: Pick<PullRequestReported, "url" | "refused">,
): PullRequestContext {
  const { run } = context;
  if (run === null) return context;
  const { id: runId, wish, repository = toCheckout(getPullRequest(turn)) } = run;
  sendReport(turn, { runId, repository, wish }, reported);
  return { ...context, run: null };
}

function sendReport(
  turn: Turn,
  { runId, repository, wish }: Pick<AskPullRequest, "runId" | "repository" | "wish">,
  reported: Pick<PullRequestReported, "url" | "refused">,
): void {
  const { partition, id: pullRequestId } = turn.self;
  turn.send(runRef(partition, runId), { type: "pull-request.told", pullRequestId, repository, wish, ...reported });
}

/** Refuses a run's request. */
export function refuseAsk({ turn, ask, why }: PullRequestEventOf<"ask.refused" | "ask.refused-none">): void {
  sendReport(turn, ask, { url: null, refused: why });
}

/** Repeats the request that a run made while the pull request was being opened. */
export function askAgain({ turn }: InTurn, context: PullRequestContext): PullRequestContext {
  const { later = null } = context;
  if (later === null) return context;
  const { partition, id } = turn.self;
  turn.send(pullRequestRef(partition, id), later);
  return { ...context, later: null };
}

/**
 * The end of a request for which nothing was pushed. `type` says what remains: no pull request, an open pull request,
 * or a failed pull request.
 */
interface Left extends InTurn {
  readonly type: "left.none" | "left.open" | "left.failed";
  /** The reason, for the agent or for people. */
  readonly why: string;
  /** The head of the branch, if the run's changes conflict with it. Later runs start from this head. */
  readonly head?: string;
}

/** Ends a request without a push, and sends the run the reason. */
export function endWithoutPush({ turn, type, why, head }: Left, context: PullRequestContext): PullRequestContext {
  const reported = notifyRun(turn, context, { url: null, refused: why });
  // The pull request was never at the code host, so its row is not needed any more.
  if (type === "left.none") {
    removePullRequest({ turn });
    return reported;
  }
  const isFailed = type === "left.failed";
  const row = changePullRequest(turn, reported, {
    state: isFailed ? "failed" : "open",
    asking: null,
    problem: why,
    waitsUntil: null,
  });
  // The head may be the task's own push whose report was lost. Record the head; otherwise each later run conflicts with
  // it again.
  if (head !== undefined) changeTaskBranch(turn, row, { head });
  if (isFailed) noteOnTask(turn, reported, `The pull request of ${row.repository} could not be opened: ${why}`);
  return reported;
}

/** Removes the row and its branch reference, and ends the actor. */
export function removePullRequest({ turn }: InTurn): void {
  const { partition, id } = turn.self;
  const row = pullRequests.get(turn, partition, id);
  if (row !== undefined) {
    const { taskId } = row;
    const repository = toCheckout(row);
    const branch = taskId === null ? undefined : findTaskBranch(turn, partition, { taskId, repository });
    if (taskId !== null && branch?.pullRequestId === id) {
      if (branch.head === null && branch.serial <= 1) taskBranches.remove(turn, partition, taskId, repository);
      else changeTaskBranch(turn, row, { pullRequestId: null });
    }
    pullRequests.remove(turn, partition, row);
    turn.undirect(pullRequestEntry(partition, id));
  }
  turn.stop();
}
