import { isResultOf } from "../../runtime/effect-type.js";
import type { EffectEnded, GateAnswer, TurnReading, Woken } from "../../runtime/turn.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import type { EventSubject } from "../events/event-task.js";
import { isRefusal } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import { isWorkspaceOpen } from "../resources/resource.table.js";
import type { AskPullRequest, BranchNotPushed, BranchPushed } from "../runs/pull-request.messages.js";
import { getRunOwner, type RunOwner } from "../runs/run-owner.js";
import { toHostAnswer } from "./code-host-answer.js";
import { COMMENT_EFFECT } from "./comment.effects.js";
import { type FilesResult, LOOK_AT_PULL_REQUEST, type LookResult, READ_FILES } from "./look.effects.js";
import { OPEN_PULL_REQUEST, type OpenResult } from "./open.effects.js";
import { MAX_VETTED_BYTES, MAX_VETTED_PATHS, type PullRequestRow } from "./pull-request.js";
import { pullRequests } from "./pull-request.table.js";
import { readPaths } from "./pull-request.view.js";
import type { Became, PullRequestContext, PullRequestEvent, PullRequestMessage } from "./pull-request-events.js";
import { applyAnswer, applySeen, type Seen } from "./seen.js";
import { findWait, isOpenedAgain, MAX_ATTEMPTS, waitMs } from "./waits.js";

interface State {
  readonly value: string;
  readonly context: PullRequestContext;
}

const nothing = { type: "nothing" } as const;

/** The event of each message to a pull request; `owners` has the tasks that they are of. Reads only. */
export function classifyPullRequest(owners: readonly RunOwner[]) {
  return (message: PullRequestMessage, state: State, turn: TurnReading): PullRequestEvent => {
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
        return row.revertedBy === null ? { type: "reverted", by: message.by } : nothing;
      case "pull-request.retry":
        return classifyRetry(state, row, findRequestBefore(turn, message)) ?? message;
      case "pull-request.refresh":
        return classifyRefresh(row);
      case "woken":
        return classifyWoken(message);
      default:
        return message;
    }
  };
}

function noRow(message: PullRequestMessage): PullRequestEvent {
  const isRequest = message.type === "pull-request.retry" || message.type === "pull-request.refresh";
  return isRequest ? { type: "request.refused", refusal: { refused: "not-found" } } : nothing;
}

function classifyAsk(
  ask: AskPullRequest,
  { value }: State,
  turn: TurnReading,
  owners: readonly RunOwner[],
): PullRequestEvent {
  const { partition, id } = turn.self;
  const { repository, taskId, changed } = ask;
  const row = pullRequests.get(turn, partition, id);
  const refused = (why: string): PullRequestEvent => ({
    type: value === "none" ? "ask.refused-none" : "ask.refused",
    ask,
    why,
  });
  // What an agent wished for before is pushed, and waits for the code host's limits.
  if (value === "opening" && ask.wish === null) return { type: "ask.later", ask };
  if (value !== "none" && value !== "open" && value !== "failed") return refused(`Its pull request is ${value}.`);
  const connection = findReachingConnection(turn, partition, repository);
  if (connection === undefined)
    return refused(`No installation of the code host is connected that reaches ${repository}.`);
  const subject = findSubject(owners, turn, { taskId });
  const isClosed = !isWorkspaceOpen(turn, partition);
  if (subject === null || isClosed) return refused("The task is gone.");
  if (changed.length === 0) return refused(`Nothing is changed in ${repository}.`);
  if (isTooMuch(changed)) return refused(TOO_MUCH);
  const vetted = new Set(row === undefined ? [] : readPaths(turn, partition, row.vetted));
  const hasNew = value !== "open" || changed.some((path) => !vetted.has(path));
  if (!hasNew) return { type: "ask.push", ask, connection };
  return isTooMuch([...new Set([...vetted, ...changed])])
    ? refused(TOO_MUCH)
    : { type: "ask.vet", ask, connection, subject };
}

/** The task as events show it; null when it is gone, and for a pull request of no task. */
export function findSubject(
  owners: readonly RunOwner[],
  turn: TurnReading,
  { taskId }: Pick<PullRequestRow, "taskId">,
): EventSubject | null {
  if (taskId === null) return null;
  const owned = { id: "", owner: { kind: "task", id: taskId } } as const;
  return getRunOwner(owners, "task").eventSubject(turn, turn.self.partition, owned);
}

const TOO_MUCH = `Too much is changed for hooks to be asked about it: ${MAX_VETTED_PATHS} paths or more.`;

function isTooMuch(paths: readonly string[]): boolean {
  if (paths.length >= MAX_VETTED_PATHS) return true;
  return paths.reduce((sum, path) => sum + Buffer.byteLength(path), 0) > MAX_VETTED_BYTES;
}

function classifyGate({ id, refused }: GateAnswer, { context }: State, row: PullRequestRow): PullRequestEvent {
  if (context.run?.push !== id || row.state !== "vetting") return nothing;
  return refused === null ? { type: "vet.allowed" } : { type: `left.${context.was}`, why: refused };
}

function classifyPushed(
  { runId, head }: BranchPushed,
  { value, context }: State,
  row: PullRequestRow,
): PullRequestEvent {
  if (context.run?.id !== runId) return nothing;
  if (isOver(value)) return { type: "pushed.over", head };
  return { type: row.number === null ? "pushed.first" : "pushed.again", head };
}

function classifyNotPushed(
  { runId, problem, why, head }: BranchNotPushed,
  { value, context: { run, was, rejected, later } }: State,
  subjectOf: () => EventSubject | null,
): PullRequestEvent {
  if (later?.runId === runId) return { type: "later.lost" };
  if (run?.id !== runId) return nothing;
  if (isOver(value)) return { type: "pushed.over", head: null };
  // The runner is gone while hooks are still asked: nothing was pushed.
  if (problem === "nothing" || value === "vetting") return { type: `left.${was}`, why };
  const { wish, limitedUntilMs: untilMs } = run;
  // An agent that wished for it goes on, and what it changed is pushed at the run's end.
  if (problem === "untokened" && untilMs !== undefined && wish === null) return { type: "push.waits", untilMs, why };
  const subject = problem !== "lost" && rejected === 0 ? subjectOf() : null;
  if (subject !== null) return { type: "push.retried", subject };
  return { type: was === "open" ? "left.open" : "left.failed", why, ...(head !== undefined && { head }) };
}

function isOver(value: string): boolean {
  return value === "closed" || value === "merged";
}

function classifyEffect(
  message: EffectEnded,
  { value, context }: State,
  row: PullRequestRow,
  { nowMs, subjectOf }: { readonly nowMs: number; readonly subjectOf: () => EventSubject | null },
): PullRequestEvent {
  if (isResultOf(OPEN_PULL_REQUEST, message))
    return value === "opening" ? toOpened(message, context, row, nowMs) : nothing;
  if (isResultOf(LOOK_AT_PULL_REQUEST, message)) return toLooked(message, context, row, nowMs);
  if (isResultOf(READ_FILES, message)) return toFilesRead(message, context, { nowMs, subject: subjectOf() });
  if (isResultOf(COMMENT_EFFECT, message)) return { type: "comment.ended", id: message.id, result: message.result };
  return nothing;
}

function toOpened(
  { result }: EffectEnded<OpenResult>,
  { attempts }: PullRequestContext,
  row: PullRequestRow,
  nowMs: number,
): PullRequestEvent {
  const answer = toHostAnswer(result);
  if (answer.problem === null) {
    return became(row, { row: applyAnswer(row, { picture: answer.pullRequest, reviews: [] }), reviews: [] });
  }
  const { why } = answer;
  if (answer.problem === "limited") return { type: "opening.limited", untilMs: answer.untilMs, why };
  return isOpenedAgain(answer, attempts)
    ? { type: "opening.again", untilMs: nowMs + waitMs(attempts), why }
    : { type: "opening.failed", why };
}

function toLooked(
  { id, result }: EffectEnded<LookResult>,
  { look, unanswered = 0 }: PullRequestContext,
  row: PullRequestRow,
  nowMs: number,
): PullRequestEvent {
  if (id !== `look ${look}`) return nothing;
  const answer = toHostAnswer(result);
  if (answer.problem === "refused") return { type: "look.gone", untilMs: null };
  if (answer.problem !== null) return { type: "look.later", untilMs: findWait(answer, unanswered + 1, nowMs) };
  if (answer.seen !== "changed") return { type: answer.seen === "same" ? "look.same" : "look.gone", untilMs: null };
  const { picture, reviews, etag } = answer;
  return { ...became(row, { row: applyAnswer(row, { picture, reviews }), reviews }), etag };
}

function toFilesRead(
  { result }: EffectEnded<FilesResult>,
  { reads }: PullRequestContext,
  { nowMs, subject }: { readonly nowMs: number; readonly subject: EventSubject | null },
): PullRequestEvent {
  const answer = toHostAnswer(result);
  if (answer.problem === null) return { type: "files.read", files: answer.files, subject };
  const isOver = answer.problem === "refused" || (answer.problem === "again" && reads >= MAX_ATTEMPTS);
  return isOver
    ? { type: "files.read", files: [], subject }
    : { type: "files.later", untilMs: findWait(answer, reads, nowMs) };
}

function classifySeen(row: PullRequestRow, seen: Seen): PullRequestEvent {
  const { row: after, isUnclear } = applySeen(row, seen);
  return became(row, { row: after, reviews: seen.reviews }, isUnclear);
}

/** What becomes of it when its row does; what is not at the code host yet stays so unless it is there now. */
function became(before: PullRequestRow, { row, reviews }: Pick<Became, "row" | "reviews">, asks = false): Became {
  const { state } = row;
  const isUnderWay = before.state === "vetting" || before.state === "pushing";
  // A run is about to push to it: it stays so, unless it is over.
  if (isUnderWay && state === "open")
    return { type: "became.same", row: { ...row, state: before.state }, reviews, asks };
  const isThere = state === "open" || state === "closed" || state === "merged";
  const type = isThere && state !== before.state ? (`became.${state}` as const) : "became.same";
  return { type, row, reviews, asks };
}

function classifyRetry(
  { value }: State,
  row: PullRequestRow,
  before: ReturnType<typeof findRequestBefore>,
): PullRequestEvent | null {
  if (isRefusal(before)) return { type: "request.refused", refusal: before };
  if (before !== null) return { type: "request.repeated" };
  if (value !== "failed") {
    return { type: "request.refused", refusal: { refused: "conflict", detail: `The pull request is ${row.state}.` } };
  }
  if (row.head !== null) return null;
  const detail = "Its branch was not pushed: retry the task, whose next run pushes it.";
  return { type: "request.refused", refusal: { refused: "conflict", detail } };
}

function classifyRefresh(row: PullRequestRow): PullRequestEvent {
  if (row.number !== null) return { type: "refresh.taken" };
  const refusal = { refused: "conflict", detail: "The pull request is not at the code host." } as const;
  return { type: "request.refused", refusal };
}

function classifyWoken({ name }: Woken): PullRequestEvent {
  switch (name) {
    case "open":
      return { type: "opening.due" };
    case "look":
      return { type: "look.due" };
    case "push":
      return { type: "push.due" };
    case "files":
      return { type: "files.due" };
    case "comment":
      return { type: "comment.due" };
    default:
      return nothing;
  }
}
