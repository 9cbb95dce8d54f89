import { defineArea } from "../area.js";
import { judgesNothing, type ReplayJudging } from "../replays/judging/model-terms.js";
import { replayCheckActor } from "./check.machine.js";
import { replayCheckRetention } from "./check.table.js";
import { replayCheckResults } from "./check-result.table.js";
import { replayCheckTopicView } from "./check-topic.view.js";

/** Replay checks of planned changes. */
export const checksArea = defineArea({
  name: "checks",
  actors: ({ judging = judgesNothing }: { readonly judging?: ReplayJudging }) => [replayCheckActor(judging)],
  tables: [replayCheckRetention, replayCheckResults],
  topics: () => ({ "replay-check": replayCheckTopicView }),
});
