import { toAmount } from "../../money.js";
import { defineView } from "../../view.js";
import { countSpent } from "../budget/replay-ceiling.js";
import type { ReplayRow } from "../replay/replay.js";
import { replayRowSchema } from "./replay-schemas.js";

/** Shows a replay without its copies and figures. */
export const replayRowView = defineView<ReplayRow>()(replayRowSchema, {
  progress: (replay) => ({
    settled: replay.counts.settled,
    of: replay.runs * replay.repeats,
    spent: { amount: toAmount(countSpent(replay)), currency: replay.ceiling.currency },
    ceiling: replay.ceiling,
    waiting: replay.waiting?.for ?? null,
  }),
});
