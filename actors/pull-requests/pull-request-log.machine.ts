/**
 * What the code host tells of pull requests in a repository, `pull-request-log/<repository in lower case>`. It passes on
 * what is about one of a task to that pull request, and writes the rows of those of people: one for each team with a
 * line on the repository.
 *
 * | state   | moved by                                     | next    | also                                       |
 * |---------|----------------------------------------------|---------|--------------------------------------------|
 * | keeping | host.news                                    | keeping | passed on, or recorded; asks the code host |
 * |         |                                              |         | where that is not clear                    |
 * | keeping | effect.ended                                 | keeping | recorded                                   |
 * | keeping | review.begun                                 | keeping | the row of the team says which task        |
 * |         |                                              |         | reviews it; asks about one not known yet   |
 * | keeping | review.over                                  | keeping | what was found is written there, once      |
 * | keeping | woken `review …`                             | keeping | the same, again                            |
 * | keeping | woken `list`, an hour after the first news   | keeping | lists open ones; asks about those that     |
 * |         | and every hour                               |         | deliveries have not told of                |
 */
import { assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import { isResultOf } from "../../runtime/effect-type.js";
import { reference } from "../../runtime/reference.js";
import type { Answered, Delivered, EffectEnded, Woken } from "../../runtime/turn.js";
import type { HostedNews } from "../code-host/hosted-news.js";
import { LIST_OPEN } from "./list-open.effects.js";
import { LOOK_AT_PULL_REQUEST } from "./look.effects.js";
import { LIST, listFromNowOn, listNow, type PullRequestLogContext, takeList } from "./missed-news.js";
import type { ReviewBegun, ReviewOver } from "./pull-request.messages.js";
import { recordNews, takeLook } from "./pull-request-log.transitions.js";
import { REVIEW_EFFECT } from "./review.effects.js";
import { beginReview, postReview, takeReview, takeWoken } from "./reviews.js";

/** A delivery of the code host. Answered with whether it was about a pull request that is known, or is now. */
export interface TakeNews extends Answered<boolean> {
  readonly type: "host.news";
  readonly host: string;
  readonly news: HostedNews;
}

/** By workspace and repository, `owner/name`. */
export const pullRequestLogRef = reference<
  TakeNews | ReviewBegun | ReviewOver,
  [workspaceId: string, repository: string]
>("pull-request-log", (workspaceId, repository) => [workspaceId, repository.toLowerCase()]);

const machine = setup({
  types: {
    context: {} as PullRequestLogContext,
    events: {} as Delivered<TakeNews | ReviewBegun | ReviewOver | EffectEnded | Woken>,
  },
}).createMachine({
  id: "pull-request-log",
  context: {},
  initial: "keeping",
  states: {
    keeping: {
      on: {
        "host.news": {
          actions: [
            ({ event }) => event.turn.reply(recordNews(event.turn, event)),
            assign(({ context, event }) => listFromNowOn(context, event.turn)),
          ],
        },
        "review.begun": {
          actions: [
            ({ event }) => beginReview(event.turn, event),
            assign(({ context, event }) => listFromNowOn(context, event.turn)),
          ],
        },
        "review.over": { actions: ({ event: { turn, ...over } }) => postReview(turn, over) },
        woken: { actions: assign(({ context, event }) => takeWake(context, event)) },
        "effect.ended": { actions: assign(({ context, event }) => takeEnded(context, event)) },
      },
    },
  },
});

function takeWake(context: PullRequestLogContext, event: Delivered<Woken>): PullRequestLogContext {
  if (event.name === LIST) return listNow(context, event.turn);
  takeWoken(event.turn, event);
  return context;
}

function takeEnded(context: PullRequestLogContext, event: Delivered<EffectEnded>): PullRequestLogContext {
  const { turn } = event;
  if (isResultOf(REVIEW_EFFECT, event)) takeReview(turn, event);
  if (isResultOf(LOOK_AT_PULL_REQUEST, event) && event.result.ok) takeLook(turn, event.result.output);
  return isResultOf(LIST_OPEN, event) && event.result.ok ? takeList(context, turn, event.result.output) : context;
}

/** See the table above. */
export const pullRequestLogActor = defineActor(pullRequestLogRef, { machine, version: 1 });
