import { type ActorParts, defineArea } from "../area.js";
import { commentEffect } from "./comment.effects.js";
import { listOpenEffect } from "./list-open.effects.js";
import { filesEffect, lookEffect } from "./look.effects.js";
import { openEffect } from "./open.effects.js";
import { pendingRevertRetention } from "./pending-revert.table.js";
import { pullRequestActor } from "./pull-request.machine.js";
import { pullRequestRetention, pullRequestSource } from "./pull-request.table.js";
import { pullRequestLogActor } from "./pull-request-log.machine.js";
import { pullRequestTopicView } from "./pull-request-topic.view.js";
import { reviewEffect } from "./review.effects.js";

/** Pull requests of tasks and of people at the code host. */
export const pullRequestsArea = defineArea({
  name: "pull-requests",
  actors: ({ runOwners }: Pick<ActorParts, "runOwners">) => [pullRequestActor(runOwners), pullRequestLogActor],
  tables: [pullRequestRetention, pendingRevertRetention],
  directorySources: () => [pullRequestSource],
  effects: ({ codeHost, baseUrl }: Parameters<typeof openEffect>[0]) => [
    openEffect({ codeHost, baseUrl }),
    lookEffect(codeHost),
    filesEffect(codeHost),
    listOpenEffect(codeHost),
    commentEffect(codeHost),
    reviewEffect(codeHost),
  ],
  topics: () => ({ "pull-request": pullRequestTopicView }),
});
