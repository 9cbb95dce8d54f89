import type { HostedNews } from "../../actors/code-host/hosted-news.js";
import type { HostedPullRequest, HostedReview } from "../../actors/outbound/code-host/hosted-pull-request.js";
import type { PullRequestRow } from "../../actors/pull-requests/pull-request.js";
import { pullRequests } from "../../actors/pull-requests/pull-request.table.js";
import { pullRequestLogActor } from "../../actors/pull-requests/pull-request-log.machine.js";
import { pullRequestLogRef } from "../../actors/pull-requests/pull-request-log.messages.js";
import type { Message } from "../../runtime/turns/turn.js";
import { host, repository, toPicture } from "./pull-request-scene.js";
import { memoryRows, stepByHand, type TurnTaken } from "./turn.js";
import { putLine, putTeam, workspaceId } from "./work.js";

export const ann = { login: "ann", isPerson: true };
export const byAnn = (more: Partial<HostedPullRequest> = {}) => toPicture({ author: ann, branch: "fix", ...more });

export type News = { readonly picture: HostedPullRequest | null; readonly reviews: readonly HostedReview[] };

/** A repository log whose code host answers with `truth`. */
export class SteppedLog {
  readonly rows;
  readonly actor;
  asked = 0;

  constructor(
    readonly truth: News & { readonly picture: HostedPullRequest },
    rows = memoryRows(),
  ) {
    this.rows = rows;
    putLine(rows);
    putTeam(rows);
    this.actor = stepByHand(pullRequestLogActor, pullRequestLogRef(workspaceId, repository), { rows });
  }

  tell(about: News & { readonly number?: number }): TurnTaken {
    const news: HostedNews = { installationId: 7, repository, about: { number: 12, ...about } };
    const taken = this.actor.take({ type: "host.news", host, news } as Message);
    for (const effect of taken.started) {
      this.asked += 1;
      const output = { problem: null, seen: "changed", ...this.truth, etag: null };
      const ended = { type: "effect.ended", effect: effect.name, id: effect.id, result: { ok: true, output } };
      this.actor.take(ended as Message);
    }
    return taken;
  }

  get stored(): PullRequestRow[] {
    return pullRequests.list(this.rows, workspaceId);
  }

  /** The known rows, without ids and without the fields that record when this service learned them. */
  get known() {
    return this.stored.map(({ createdAt: _created, lookedUpTo: _looked, id: _id, ...row }) => row);
  }
}
