import { toEvent } from "../../runtime/cells/chart.js";
import type { MessageTo } from "../../runtime/cells/reference.js";
import { isEffectResult } from "../../runtime/effects/effect-type.js";
import type { Delivered, EffectEnded, GateAnswer, TurnReading, Woken } from "../../runtime/turns/turn.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import type { EventSubject } from "../events/event-task.js";
import type { HostedReview } from "../outbound/code-host/hosted-pull-request.js";
import { MAX_ATTEMPTS, retryWaitMs } from "../outbound/http/retry-wait.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import { isWorkspaceOpen } from "../resources/resource.table.js";
import type { AskPullRequest, BranchNotPushed, BranchPushed } from "../runs/pull-request.messages.js";
import { getRunOwner, type RunOwner } from "../runs/run-owner.js";
import { applyAnswer, applySeen, type Seen } from "./apply-news.js";
import { toHostAnswer } from "./code-host-answer.js";
import { COMMENT_EFFECT } from "./comment.effects.js";
import { type FilesResult, LOOK_AT_PULL_REQUEST, type LookResult, READ_FILES } from "./look.effects.js";
import { OPEN_PULL_REQUEST, type OpenResult } from "./open.effects.js";
import { MAX_VETTED_BYTES, MAX_VETTED_PATHS, type PullRequestContext, type PullRequestRow } from "./pull-request.js";
import type { pullRequestRef, RefreshPullRequest, RetryPullRequest } from "./pull-request.messages.js";
import { pullRequests } from "./pull-request.table.js";
import { readPaths } from "./pull-request.view.js";
import { findWait, isOpenedAgain } from "./waits.js";

interface State {
  readonly value: string;
  readonly context: PullRequestContext;
}

type PullRequestMessage = MessageTo<ReturnType<typeof pullRequestRef>> | GateAnswer | EffectEnded | Woken;

/** The event of a message that has no effect in this state. No state handles this event. */
const nothing = toEvent("nothing");

/**
 * Returns the classifier of a pull request's messages. The classifier finds the pull request's task through `owners`.
 * Reads only.
 */
export function classifyPullRequest(owners: readonly RunOwner[]) {
  return (message: PullRequestMessage, state: State, turn: TurnReading) => {
    if (message.type === "pull-request.ask") return classifyAsk(message, state, turn, owners);
    if (message.type === "pull-request.forget") return message;
    const row = pullRequests.get(turn, turn.self.partition, turn.self.id);
    if (row === undefined) return noRow(message);
    switch (message.type) {
      case "gate.answered":
        return classifyGate(message, state, row);
      case "pull-request.pushed":
        return classifyPushed(message, state, row);
      case "pull-request.not-pushed":
        return classifyNotPushed(message, state, () => findSubject(owners, turn, row));
      case "pull-request.limited":
        return state.context.run?.push === message.push ? message : nothing;
      case "effect.ended":
        return classifyEffect(message, state, row, {
          nowMs: turn.now,
          subjectOf: () => findSubject(owners, turn, row),
        });
      case "pull-request.seen":
        return classifySeen(row, message);
      case "pull-request.reverted":
        return row.revertedBy === null ? toEvent("reverted", { by: message.by }) : nothing;
      case "pull-request.retry":
        return classifyRetry(message, state, row, turn);
      case "pull-request.refresh":
        return classifyRefresh(message, row);
      case "woken":
        return classifyWoken(message);
      default:
        return message;
    }
  };
}

function noRow(message: PullRequestMessage) {
  const isRequest = message.type === "pull-request.retry" || message.type === "pull-request.refresh";
  return isRequest ? refuse(message, { refused: "not-found" }) : nothing;
}

function classifyAsk(ask: AskPullRequest, { value }: State, turn: TurnReading, owners: readonly RunOwner[]) {
  const { partition, id } = turn.self;
  const { repository, taskId, changed } = ask;
  const row = pullRequests.get(turn, partition, id);
  const refused = (why: string) => toEvent(value === "none" ? "ask.refused-none" : "ask.refused", { ask, why });
  // A run at its end asks for a push (no `wish`) while the pull request of an earlier push is being opened. Ask again
  // after the opening.
  if (value === "opening" && ask.wish === null) return toEvent("ask.later", { ask });
  if (value !== "none" && value !== "open" && value !== "failed") return refused(`Its pull request is ${value}.`);
  const connection = findReachingConnection(turn, partition, repository);
  if (connection === undefined)
    return refused(`No connected installation of the code host has access to ${repository}.`);
  const subject = findSubject(owners, turn, { taskId });
  const isClosed = !isWorkspaceOpen(turn, partition);
  if (subject === null || isClosed) return refused("The task was deleted.");
  if (changed.length === 0) return refused(`The run changed nothing in ${repository}.`);
  if (isTooMuch(changed)) return refused(TOO_MUCH);
  const vetted = new Set(row === undefined ? [] : readPaths(turn, partition, row.vetted));
  const hasNew = value !== "open" || changed.some((path) => !vetted.has(path));
  if (!hasNew) return toEvent("ask.push", { ask, connection });
  return isTooMuch([...new Set([...vetted, ...changed])])
    ? refused(TOO_MUCH)
    : toEvent("ask.vet", { ask, connection, subject });
}

/** Returns the task as events show it. Null if the task was deleted, or if the pull request has no task. */
function findSubject(
  owners: readonly RunOwner[],
  turn: TurnReading,
  { taskId }: Pick<PullRequestRow, "taskId">,
): EventSubject | null {
  if (taskId === null) return null;
  const owned = { id: "", owner: { kind: "task", id: taskId } } as const;
  return getRunOwner(owners, "task").eventSubject(turn, turn.self.partition, owned);
}

const TOO_MUCH = `The change is too large for hooks to check: ${MAX_VETTED_PATHS} paths or more.`;

function isTooMuch(paths: readonly string[]): boolean {
  if (paths.length >= MAX_VETTED_PATHS) return true;
  return paths.reduce((sum, path) => sum + Buffer.byteLength(path), 0) > MAX_VETTED_BYTES;
}

function classifyGate({ id, refused }: GateAnswer, { context }: State, row: PullRequestRow) {
  if (context.run?.push !== id || row.state !== "vetting") return nothing;
  return refused === null ? toEvent("vet.allowed") : toEvent(`left.${context.was}`, { why: refused });
}

function classifyPushed({ runId, head }: BranchPushed, { value, context }: State, row: PullRequestRow) {
  if (context.run?.id !== runId) return nothing;
  if (isOver(value)) return toEvent("pushed.over", { head });
  return toEvent(row.number === null ? "pushed.first" : "pushed.again", { head });
}

function classifyNotPushed(
  { runId, problem, why, head }: BranchNotPushed,
  { value, context: { run, was, rejected, later } }: State,
  lookUpSubject: () => EventSubject | null,
) {
  if (later?.runId === runId) return toEvent("later.lost");
  if (run?.id !== runId) return nothing;
  if (isOver(value)) return toEvent("pushed.over", { head: null });
  // In `vetting`, nothing was pushed: the runner was lost while hooks were deciding.
  if (problem === "nothing" || value === "vetting") return toEvent(`left.${was}`, { why });
  const { wish, limitedUntilMs: untilMs } = run;
  // If the code host limits tokens, a push at the run's end waits until the limit ends. A push on the agent's request
  // does not wait: the service retries the push once, then the push fails. The agent continues, and its changes are
  // pushed at the run's end.
  if (problem === "untokened" && untilMs !== undefined && wish === null) return toEvent("push.waits", { untilMs, why });
  const subject = problem !== "lost" && rejected === 0 ? lookUpSubject() : null;
  if (subject !== null) return toEvent("push.retried", { subject });
  return toEvent(was === "open" ? "left.open" : "left.failed", { why, ...(head !== undefined && { head }) });
}

function isOver(value: string): boolean {
  return value === "closed" || value === "merged";
}

function classifyEffect(
  message: EffectEnded,
  { value, context }: State,
  row: PullRequestRow,
  { nowMs, subjectOf: lookUpSubject }: { readonly nowMs: number; readonly subjectOf: () => EventSubject | null },
) {
  if (isEffectResult(OPEN_PULL_REQUEST, message))
    return value === "opening" ? toOpened(message, context, row, nowMs) : nothing;
  if (isEffectResult(LOOK_AT_PULL_REQUEST, message)) return toLooked(message, context, row, nowMs);
  if (isEffectResult(READ_FILES, message)) return toFilesRead(message, context, { nowMs, subject: lookUpSubject() });
  if (isEffectResult(COMMENT_EFFECT, message))
    return toEvent("comment.ended", { id: message.id, result: message.result });
  return nothing;
}

function toOpened(
  { result }: EffectEnded<OpenResult>,
  { attempts }: PullRequestContext,
  row: PullRequestRow,
  nowMs: number,
) {
  const answer = toHostAnswer(result);
  if (answer.problem === null) {
    return became(row, { row: applyAnswer(row, { picture: answer.pullRequest, reviews: [] }), reviews: [] });
  }
  const { why } = answer;
  if (answer.problem === "limited") return toEvent("opening.limited", { untilMs: answer.untilMs, why });
  return isOpenedAgain(answer, attempts)
    ? toEvent("opening.again", { untilMs: nowMs + retryWaitMs(attempts) })
    : toEvent("opening.failed", { why });
}

function toLooked(
  { id, result }: EffectEnded<LookResult>,
  { look, unanswered = 0 }: PullRequestContext,
  row: PullRequestRow,
  nowMs: number,
) {
  if (id !== `look ${look}`) return nothing;
  const answer = toHostAnswer(result);
  if (answer.problem === "refused") return toEvent("look.gone", { untilMs: null });
  if (answer.problem !== null) return toEvent("look.later", { untilMs: findWait(answer, unanswered + 1, nowMs) });
  if (answer.seen !== "changed") return toEvent(answer.seen === "same" ? "look.same" : "look.gone", { untilMs: null });
  const { picture, reviews, etag } = answer;
  return { ...became(row, { row: applyAnswer(row, { picture, reviews }), reviews }), etag };
}

function toFilesRead(
  { result }: EffectEnded<FilesResult>,
  { reads }: PullRequestContext,
  { nowMs, subject }: { readonly nowMs: number; readonly subject: EventSubject | null },
) {
  const answer = toHostAnswer(result);
  if (answer.problem === null) return toEvent("files.read", { files: answer.files, subject });
  const isOver = answer.problem === "refused" || (answer.problem === "again" && reads >= MAX_ATTEMPTS);
  return isOver
    ? toEvent("files.read", { files: [], subject })
    : toEvent("files.later", { untilMs: findWait(answer, reads, nowMs) });
}

function classifySeen(row: PullRequestRow, seen: Seen) {
  const { row: after, isUnclear } = applySeen(row, seen);
  return became(row, { row: after, reviews: seen.reviews }, isUnclear);
}

/**
 * Returns the event for a new version of the row. The event changes the actor's state only if the pull request is at
 * the code host.
 */
function became(
  before: PullRequestRow,
  { row, reviews }: { readonly row: PullRequestRow; readonly reviews: readonly HostedReview[] },
  asks = false,
) {
  const { state } = row;
  const isUnderWay = before.state === "vetting" || before.state === "pushing";
  // Keep the state while a run is about to push. Only a merge or a close of the pull request changes it.
  if (isUnderWay && state === "open")
    return toEvent("became.same", { row: { ...row, state: before.state }, reviews, asks });
  const isThere = state === "open" || state === "closed" || state === "merged";
  return toEvent(isThere && state !== before.state ? `became.${state}` : "became.same", { row, reviews, asks });
}

function classifyRetry(message: RetryPullRequest, { value }: State, row: PullRequestRow, turn: TurnReading) {
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return refuse(message, before);
  if (before !== null) return toEvent("request.repeated", message);
  if (value !== "failed") {
    return refuse(message, { refused: "conflict", detail: `The pull request is ${row.state}.` });
  }
  if (row.head !== null) return message;
  const detail = "Its branch was not pushed. Retry the task: its next run pushes the branch.";
  return refuse(message, { refused: "conflict", detail });
}

function classifyRefresh(message: RefreshPullRequest, row: PullRequestRow) {
  if (row.number !== null) return toEvent("refresh.taken", message);
  return refuse(message, { refused: "conflict", detail: "The pull request does not exist on the code host." });
}

function refuse(message: RetryPullRequest | RefreshPullRequest, refusal: Refusal) {
  return toEvent("request.refused", { ...message, refusal });
}

function classifyWoken({ name }: Woken) {
  switch (name) {
    case "open":
      return toEvent("opening.due");
    case "look":
      return toEvent("look.due");
    case "push":
      return toEvent("push.due");
    case "files":
      return toEvent("files.due");
    case "comment":
      return toEvent("comment.due");
    default:
      return nothing;
  }
}

/** A classified message, with the data that its transition needs. */
export type PullRequestEvent = ReturnType<ReturnType<typeof classifyPullRequest>>;

/** The event of one or several types, as its transition receives it. */
export type PullRequestEventOf<Type extends PullRequestEvent["type"]> = Delivered<
  Extract<PullRequestEvent, { readonly type: Type }>
>;
