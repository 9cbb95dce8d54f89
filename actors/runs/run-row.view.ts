import { boundMoney } from "../money.js";
import { timeText } from "../time-text.js";
import { defineView } from "../view.js";
import { type RunRow, runRowSchema } from "./run.js";

/** Converts a run to the form its stream publishes, without its large parts. */
export const runRowView = defineView<RunRow>()(runRowSchema, {
  taskId: ({ taskId }) => taskId ?? "",
  spent: ({ spent }) => boundMoney(spent),
  unheard: ({ unheard }) => unheard ?? 0,
  needs: ({ needs: { poolId, labels, harness } }) => ({ poolId, labels, harness }),
  station: ({ stationKey }) => stationKey,
  queuedAt: ({ queuedAtMs }) => timeText(queuedAtMs),
});
