import { isResultOf } from "../../runtime/effect-type.js";
import type { Answered, EffectEnded, Message, TurnReading, Woken } from "../../runtime/turn.js";
import { permit, seesOutcomes } from "../access/visibility.js";
import { isTokenOver } from "../access/workspace-token.queries.js";
import type { CodeHostConnection } from "../code-host/connection.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import { type CodeHostProblem, toHostAnswer } from "../pull-requests/code-host-answer.js";
import { isOpenedAgain, waitMs } from "../pull-requests/waits.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import { findResource } from "../resources/resource.table.js";
import { COMMIT_CONFIG, type CommitResult, type MadeCommit } from "./commit.effects.js";
import type { ConfigPullRequestRow, ConfigSource, OpeningRefusal } from "./config-pull-request.js";
import type { CandidatePicked, ConfigPullRequestMessage, PickCandidate } from "./config-pull-request.messages.js";
import { configPullRequests, findPullRequestOf } from "./config-pull-request.table.js";
import { OPEN_CONFIG_PULL_REQUEST, type OpenConfigResult, type OpenedConfig } from "./open.effects.js";
import { boundRefusal, noAccess, noConnection, noSource, notAnswered } from "./opening-refusals.js";

/** What is stored of one between turns, besides its row. */
export interface OpeningContext {
  /** Times that the code host was asked for the step at hand, the one under way too. */
  readonly tries: number;
  /** When it was last picked, in milliseconds since 1970. */
  readonly pickedMs: number;
  /** The commit of this attempt; null until it is made. */
  readonly made: MadeCommit | null;
  /** The commits of all attempts, newest last: its branch may be at one of them. */
  readonly commits: readonly string[];
}

interface State {
  readonly value: string;
  readonly context: OpeningContext;
}

interface PickRefused extends Answered<Refusal> {
  readonly type: "pick.refused";
  readonly refusal: Refusal;
}

/** A pick under a key that was taken before. */
interface PickRepeated extends Answered<CandidatePicked> {
  readonly type: "pick.repeated";
  readonly pullRequest: ConfigPullRequestRow;
}

/** Time to ask the code host for the next step: the commit, or its branch and the pull request. */
export interface StepDue<Type extends string> extends Message {
  readonly type: Type;
  readonly row: ConfigPullRequestRow;
  readonly source: ConfigSource;
  readonly connection: CodeHostConnection;
}

/** The commit is made; no branch has it yet. */
export interface CommitMade extends StepDue<"commit.made"> {
  readonly made: MadeCommit;
}

/** It stands at the code host. */
interface Opened extends Message {
  readonly type: "opening.done";
  readonly answer: OpenedConfig;
}

interface OpeningRefused extends Message {
  readonly type: "opening.refused";
  readonly reason: OpeningRefusal;
}

/** The code host is asked again later, since it did not answer, or takes no more for now. */
interface OpeningLater extends Message {
  readonly type: "opening.again" | "opening.limited";
  /** In milliseconds since 1970. */
  readonly untilMs: number;
}

interface Nothing extends Message {
  readonly type: "nothing";
}

export type ConfigPullRequestEvent =
  | ConfigPullRequestMessage
  | PickRefused
  | PickRepeated
  | StepDue<"commit.due">
  | StepDue<"opening.due">
  | CommitMade
  | Opened
  | OpeningRefused
  | OpeningLater
  | Nothing;

const nothing: Nothing = { type: "nothing" };

/** The event of each message to a config pull request. Reads only. */
export function classifyConfigPullRequest(
  message: ConfigPullRequestMessage | EffectEnded | Woken,
  state: State,
  turn: TurnReading,
): ConfigPullRequestEvent {
  if (message.type === "candidate.pick") return toPick(message, turn);
  if (message.type !== "woken" && message.type !== "effect.ended") return message;
  const row = findPullRequestOf(turn, turn.self.partition, turn.self.id);
  if (row === undefined || state.value !== "opening") return nothing;
  if (message.type === "woken") return toStep(state, row, turn);
  if (isResultOf(COMMIT_CONFIG, message)) return toCommitted(message, state, row, turn);
  return isResultOf(OPEN_CONFIG_PULL_REQUEST, message) ? toOpened(message, state, row, turn.now) : nothing;
}

function toPick(message: PickCandidate, turn: TurnReading): ConfigPullRequestEvent {
  const { partition, id } = turn.self;
  const before = refuseCaller(turn, message) ?? findRequestBefore(turn, message);
  if (isRefusal(before)) return { type: "pick.refused", refusal: before };
  if (before === null) return message;
  const pullRequest = configPullRequests.get(turn, partition, before) ?? findPullRequestOf(turn, partition, id);
  return pullRequest === undefined ? message : { type: "pick.repeated", pullRequest };
}

/** Checks again within the turn: while the message waited, the caller may have lost what admitted them. */
function refuseCaller(turn: TurnReading, { caller, candidate: { teamId } }: PickCandidate): Refusal | null {
  const { partition } = turn.self;
  if (caller.kind === "token" && isTokenOver(turn, caller, turn.now)) {
    return { refused: "unauthenticated", detail: "The token was revoked, or it has expired." };
  }
  const isThere = findResource(turn, partition, "team", teamId) !== undefined;
  if (!isThere || !seesOutcomes(turn, caller, partition, teamId)) return { refused: "not-found" };
  return permit(turn, caller, partition, "plan", "config-pull-request");
}

function toStep({ context }: State, row: ConfigPullRequestRow, turn: TurnReading): ConfigPullRequestEvent {
  const found = findPlace(row, turn);
  if ("code" in found) return { type: "opening.refused", reason: found };
  return { type: context.made === null ? "commit.due" : "opening.due", row, ...found };
}

/** Where it is opened, by the connections of now. */
function findPlace({ source }: ConfigPullRequestRow, turn: TurnReading) {
  if (source === null) return noSource;
  const connection = findReachingConnection(turn, turn.self.partition, source.repository);
  return connection === undefined ? noConnection(source.repository) : { source, connection };
}

function toCommitted(
  { result }: EffectEnded<CommitResult>,
  state: State,
  row: ConfigPullRequestRow,
  turn: TurnReading,
): ConfigPullRequestEvent {
  const answer = toHostAnswer(result);
  if (answer.problem !== null) return toProblem(answer, state, row, turn.now);
  const found = findPlace(row, turn);
  if ("code" in found) return { type: "opening.refused", reason: found };
  const { problem: _none, ...made } = answer;
  return { type: "commit.made", row, ...found, made };
}

function toOpened(
  { result }: EffectEnded<OpenConfigResult>,
  state: State,
  row: ConfigPullRequestRow,
  nowMs: number,
): ConfigPullRequestEvent {
  const answer = toHostAnswer(result);
  return answer.problem === null ? { type: "opening.done", answer } : toProblem(answer, state, row, nowMs);
}

function toProblem(
  answer: CodeHostProblem | { readonly problem: "unfit"; readonly reason: OpeningRefusal },
  { context: { tries } }: State,
  { source }: ConfigPullRequestRow,
  nowMs: number,
): ConfigPullRequestEvent {
  switch (answer.problem) {
    case "unfit":
      return { type: "opening.refused", reason: boundRefusal(answer.reason) };
    case "limited":
      return { type: "opening.limited", untilMs: answer.untilMs };
    default:
      if (isOpenedAgain(answer, tries)) return { type: "opening.again", untilMs: nowMs + waitMs(tries) };
      return {
        type: "opening.refused",
        reason: answer.problem === "refused" ? noAccess(source?.repository ?? "", answer.why) : notAnswered(answer.why),
      };
  }
}
