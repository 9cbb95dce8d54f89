/**
 * Processes the code host's news about pull requests in a repository, `pull-request-log/<id>`. Renames of the
 * repository do not change the id; see {@link findPullRequestLog}. The log passes news about a task's pull request to
 * the pull request's actor, and writes the rows of people's pull requests: one for each team with a line on the
 * repository. It also stores the repository's current name.
 *
 * | state   | moved by                                     | next    | also                                       |
 * |---------|----------------------------------------------|---------|--------------------------------------------|
 * | keeping | host.news                                    | keeping | passed on, or recorded; asks the code host |
 * |         |                                              |         | if the news is unclear                     |
 * | keeping | effect.ended                                 | keeping | recorded                                   |
 * | keeping | review.begun                                 | keeping | the team's row names the task that         |
 * |         |                                              |         | reviews it; without a row, the pull        |
 * |         |                                              |         | request is read                            |
 * | keeping | review.over                                  | keeping | posts the result to the pull request, once |
 * | keeping | woken `review …`                             | keeping | retries to post the result                 |
 * | keeping | woken `list`, an hour after the first news   | keeping | lists open pull requests; reads those with |
 * |         | and every hour                               |         | changes that no delivery reported          |
 */
import { createChart } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import type { MessageTo } from "../../runtime/cells/reference.js";
import { isEffectResult } from "../../runtime/effects/effect-type.js";
import type { Delivered, EffectEnded, Turn, Woken } from "../../runtime/turns/turn.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import type { HostedPullRequest } from "../outbound/code-host/hosted-pull-request.js";
import { LIST_OPEN } from "./list-open.effects.js";
import { LOOK_AT_PULL_REQUEST, type LookResult } from "./look.effects.js";
import { LIST, listFromNowOn, listNow, type PullRequestLogContext, takeList, toNamed } from "./missed-news.js";
import { pullRequestLogRef, type TakeNews, toNameNews } from "./pull-request-log.messages.js";
import { recordName, recordNews, takeLook } from "./pull-request-log.transitions.js";
import { REVIEW_EFFECT } from "./review.effects.js";
import { beginReview, postReview, takeReview, takeWoken } from "./reviews.js";

const { on, machine } = createChart<
  PullRequestLogContext,
  MessageTo<ReturnType<typeof pullRequestLogRef>> | EffectEnded | Woken
>();

const logMachine = machine({
  id: "pull-request-log",
  context: {},
  initial: "keeping",
  states: {
    keeping: {
      on: {
        ...on("host.news", takeName, (event) => event.turn.reply(recordNews(event.turn, event)), listFromNowOn),
        ...on("review.begun", (event) => beginReview(event.turn, event), listFromNowOn),
        ...on("review.over", ({ turn, ...over }) => postReview(turn, over)),
        ...on("woken", takeWake),
        ...on("effect.ended", takeEnded),
      },
    },
  },
});

function takeName(event: Delivered<TakeNews>, context: PullRequestLogContext): PullRequestLogContext {
  const of = recordName(event.turn, event);
  return of === null ? context : { ...context, of };
}

function takeWake(event: Delivered<Woken>, context: PullRequestLogContext): PullRequestLogContext {
  if (event.name === LIST) return listNow(event.turn, context);
  takeWoken(event.turn, event);
  return context;
}

function takeEnded(event: Delivered<EffectEnded>, context: PullRequestLogContext): PullRequestLogContext {
  const { turn } = event;
  if (isEffectResult(REVIEW_EFFECT, event)) takeReview(turn, event);
  if (isEffectResult(LOOK_AT_PULL_REQUEST, event) && event.result.ok) {
    const answer = event.result.output;
    const named = takeLookedName(turn, context, answer);
    takeLook(turn, answer);
    return named;
  }
  return isEffectResult(LIST_OPEN, event) && event.result.ok ? takeList(turn, context, event.result.output) : context;
}

/** Records the repository's current name, which the code host's answer contains. */
function takeLookedName(turn: Turn, context: PullRequestLogContext, answer: LookResult): PullRequestLogContext {
  if (answer.problem !== null || answer.seen !== "changed") return context;
  const { repository: askedAs } = toNamed(context, turn);
  const { partition } = turn.self;
  const connection = findReachingConnection(turn, partition, askedAs);
  const nameNews =
    connection && toNameNews(turn, partition, { ...connection, ...toRepository(answer.picture), askedAs });
  const of = nameNews ? recordName(turn, nameNews) : null;
  return of === null ? context : { ...context, of };
}

function toRepository({ repository, repositoryId }: HostedPullRequest) {
  return { repository, repositoryId };
}

/** The actor of the machine above. */
export const pullRequestLogActor = defineActor(pullRequestLogRef, { machine: logMachine, version: 1 });
