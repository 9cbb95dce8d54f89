/**
 * The config pull request of a candidate that a person picked, `config-pull-request/<candidate>`. Messages are
 * classified before the step. If an event's name differs from its message, the message follows in brackets.
 *
 * | state           | event                             | next    | also                                        |
 * |-----------------|-----------------------------------|---------|---------------------------------------------|
 * | none            | candidate.pick                    | opening | creates the row; change record `created`    |
 * | refused         | candidate.pick                    | opening | tries again with the line's current source; |
 * |                 |                                   |         | change record `updated`                     |
 * | opening, opened | candidate.pick                    | same    | replies with the existing pull request      |
 * | opening         | commit.due (woken `open`)         | opening | requests the commit from the code host      |
 * | opening         | commit.made (effect.ended)        | opening | stores the commit; requests the branch and  |
 * |                 |                                   |         | the pull request                            |
 * | opening         | opening.due (woken `open`)        | opening | requests the branch and the pull request    |
 * |                 |                                   |         | again                                       |
 * | opening         | opening.again (effect.ended: a    | opening | retries the step later, up to 8 tries       |
 * |                 | failure that may pass)            |         |                                             |
 * | opening         | opening.limited (effect.ended:    | opening | retries the step when the limit ends; sets  |
 * |                 | rate limit)                       |         | `waitsUntil`                                |
 * | opening         | opening.refused (no source or no  | refused | stores the reason                           |
 * |                 | connection; effect.ended: any     |         |                                             |
 * |                 | other refusal, or the last try    |         |                                             |
 * |                 | failed)                           |         |                                             |
 * | opening         | opening.done (effect.ended)       | opened  | stores the URL                              |
 * | any             | pick.refused (candidate.pick)     | same    | replies with the refusal                    |
 * | any but none    | pick.repeated (candidate.pick     | same    | replies as to the first request             |
 * |                 | with a key that was used before)  |         |                                             |
 * | any             | pull-request.forget               | none    | removes the row                             |
 *
 * 1. A candidate has at most one config pull request, because the candidate's id is the actor's id.
 * 2. The service creates or moves the branch only to a commit that this actor has already stored. After a crash or a
 *    lost answer, the service recognizes its own branch by that commit, and never changes another branch.
 */
import { createChart, type InTurn, toEvent } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { isEffectResult } from "../../runtime/effects/effect-type.js";
import type { EffectEnded, TurnReading, Woken } from "../../runtime/turns/turn.js";
import { refuseEndedToken } from "../access/tokens/workspace-token.queries.js";
import { permit, seesOutcomes } from "../access/visibility/visibility.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import { retryWaitMs } from "../outbound/http/retry-wait.js";
import { type CodeHostProblem, toHostAnswer } from "../pull-requests/code-host-answer.js";
import { isOpenedAgain } from "../pull-requests/waits.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import { findResource } from "../resources/resource.table.js";
import { COMMIT_CONFIG, type CommitResult } from "./commit.effects.js";
import type { ConfigPullRequestRow, OpeningRefusal } from "./config-pull-request.js";
import {
  type ConfigPullRequestMessage,
  configPullRequestRef,
  type PickCandidate,
} from "./config-pull-request.messages.js";
import { configPullRequests, findPullRequestByCandidate } from "./config-pull-request.table.js";
import {
  answerPicked,
  askForCommit,
  askToOpen,
  beginOpening,
  noteOpened,
  noteRefused,
  notStarted,
  type OpeningContext,
  removePullRequest,
  takeCommit,
  tryLater,
  waitForLimit,
} from "./config-pull-request.transitions.js";
import { OPEN_CONFIG_PULL_REQUEST, type OpenConfigResult } from "./open.effects.js";
import { boundRefusal, noAccess, noConnection, noSource, notAnswered } from "./opening-refusals.js";

interface State {
  readonly value: string;
  readonly context: OpeningContext;
}

const nothing = toEvent("nothing");

/** Classifies each message to a config pull request. Reads only. */
function classify(message: ConfigPullRequestMessage | EffectEnded | Woken, state: State, turn: TurnReading) {
  if (message.type === "candidate.pick") return toPick(message, turn);
  if (message.type !== "woken" && message.type !== "effect.ended") return message;
  const row = findPullRequestByCandidate(turn, turn.self.partition, turn.self.id);
  if (row === undefined || state.value !== "opening") return nothing;
  if (message.type === "woken") return toStep(state, row, turn);
  if (isEffectResult(COMMIT_CONFIG, message)) return toCommitted(message, state, row, turn);
  return isEffectResult(OPEN_CONFIG_PULL_REQUEST, message) ? toOpened(message, state, row, turn.now) : nothing;
}

function toPick(message: PickCandidate, turn: TurnReading) {
  const { partition, id } = turn.self;
  const before = refuseCaller(turn, message) ?? findRequestBefore(turn, message);
  if (isRefusal(before)) return toEvent("pick.refused", { ...message, refusal: before });
  if (before === null) return message;
  const pullRequest =
    configPullRequests.get(turn, partition, before) ?? findPullRequestByCandidate(turn, partition, id);
  return pullRequest === undefined ? message : toEvent("pick.repeated", { ...message, pullRequest });
}

/** Checks the caller's access again in the turn, because the caller may have lost access while the message waited. */
function refuseCaller(turn: TurnReading, { caller, candidate: { teamId } }: PickCandidate): Refusal | null {
  const { partition } = turn.self;
  const ended = refuseEndedToken(turn, caller, turn.now);
  if (ended !== null) return ended;
  const isThere = findResource(turn, partition, "team", teamId) !== undefined;
  if (!isThere || !seesOutcomes(turn, caller, partition, teamId)) return { refused: "not-found" };
  return permit(turn, caller, partition, "plan", "config-pull-request");
}

function toStep({ context }: State, row: ConfigPullRequestRow, turn: TurnReading) {
  const found = findPlace(row, turn);
  if ("code" in found) return toEvent("opening.refused", { reason: found });
  return toEvent(context.made === null ? "commit.due" : "opening.due", { row, ...found });
}

/**
 * Finds the repository of the line's source, and the connection that currently reaches the repository. Returns a
 * refusal if either is missing.
 */
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
) {
  const answer = toHostAnswer(result);
  if (answer.problem !== null) return toProblem(answer, state, row, turn.now);
  const found = findPlace(row, turn);
  if ("code" in found) return toEvent("opening.refused", { reason: found });
  const { problem: _none, ...made } = answer;
  return toEvent("commit.made", { row, ...found, made });
}

function toOpened({ result }: EffectEnded<OpenConfigResult>, state: State, row: ConfigPullRequestRow, nowMs: number) {
  const answer = toHostAnswer(result);
  return answer.problem === null ? toEvent("opening.done", { answer }) : toProblem(answer, state, row, nowMs);
}

function toProblem(
  answer: CodeHostProblem | { readonly problem: "unfit"; readonly reason: OpeningRefusal },
  { context: { tries } }: State,
  { source }: ConfigPullRequestRow,
  nowMs: number,
) {
  switch (answer.problem) {
    case "unfit":
      return toEvent("opening.refused", { reason: boundRefusal(answer.reason) });
    case "limited":
      return toEvent("opening.limited", { untilMs: answer.untilMs });
    default:
      if (isOpenedAgain(answer, tries)) return toEvent("opening.again", { untilMs: nowMs + retryWaitMs(tries) });
      return toEvent("opening.refused", {
        reason: answer.problem === "refused" ? noAccess(source?.repository ?? "", answer.why) : notAnswered(answer.why),
      });
  }
}

const { on, machine } = createChart<OpeningContext, ReturnType<typeof classify>>();

const remove = ({ turn }: InTurn) => removePullRequest(turn);

/** Transitions of every state after the first pick. */
const always = {
  ...on("pick.refused", ({ turn, refusal }) => turn.reply(refusal)),
  ...on("pick.repeated", ({ turn, pullRequest }) => turn.reply({ pullRequest, isBegun: true, replayed: true })),
  ...on("pull-request.forget", "none", remove),
};

const configPullRequestMachine = machine({
  id: "config-pull-request",
  context: notStarted,
  initial: "none",
  states: {
    none: {
      on: {
        ...on("candidate.pick", "opening", beginOpening),
        ...on(
          "pick.refused",
          ({ turn, refusal }) => turn.reply(refusal),
          ({ turn }) => turn.stop(),
        ),
        ...on("pull-request.forget", remove),
      },
    },
    opening: {
      on: {
        ...always,
        ...on("candidate.pick", answerPicked),
        ...on("commit.due", askForCommit),
        ...on("commit.made", takeCommit),
        ...on("opening.due", askToOpen),
        ...on("opening.again", ({ turn, untilMs }) => tryLater(turn, untilMs)),
        ...on("opening.limited", ({ turn, untilMs }, context) => waitForLimit(turn, context, untilMs)),
        ...on("opening.refused", "refused", ({ turn, reason }) => noteRefused(turn, reason)),
        ...on("opening.done", "opened", ({ turn, answer }) => noteOpened(turn, answer)),
      },
    },
    opened: { on: { ...always, ...on("candidate.pick", answerPicked) } },
    refused: { on: { ...always, ...on("candidate.pick", "opening", beginOpening) } },
  },
});

/** The actor of the machine above. */
export const configPullRequestActor = defineActor(configPullRequestRef, {
  machine: configPullRequestMachine,
  classify,
  version: 2,
  // Before version 2 the service sent no requests to the code host.
  migrate: ({ value }) => ({ value, context: notStarted }),
});
