import type { Reading } from "../../../storage/store.js";
import { runs } from "../../runs/run.table.js";
import { type JudgingWarning, judgingWarnings, type ReplayJudging } from "../judging/model-terms.js";
import type { ReplayRow } from "../replay/replay.js";
import { getReplayInput, type ReplayEntry } from "../replay/replay-input.table.js";

/** A warning about a replay's cost or scores in the answer to its start. */
export interface StartWarning {
  /**
   * `other-currency`: all runs of the set that reported a cost used a currency other than the ceiling's. A copy with a
   * cost in another currency counts as one share of the ceiling, whatever its cost. The other kinds concern judging.
   */
  readonly kind: JudgingWarning["kind"] | "other-currency";
}

/** The warning texts for people. */
export const startWarningTexts: Readonly<Record<StartWarning["kind"], string>> = {
  "judging-not-set-up":
    "The station has a judge, but the service has no model: copies that need judging are not scored.",
  "judging-outside-ceiling":
    "The judge's model has no price in the ceiling's currency: judging costs do not count against the ceiling.",
  "other-currency":
    "The runs of the set reported their cost in a different currency from the ceiling's: such a copy counts a fixed " +
    "share of the ceiling, regardless of its cost.",
};

/** Lists the warnings of a replay, from its input and from the original runs that are still stored. */
export function listStartWarnings(
  reading: Reading,
  workspaceId: string,
  { id, ceiling: { currency } }: Pick<ReplayRow, "id" | "ceiling">,
  { terms }: ReplayJudging,
): readonly StartWarning[] {
  const { config, entries } = getReplayInput(reading, workspaceId, id);
  const reported = listCurrencies(reading, workspaceId, entries);
  const isForeign = reported.size > 0 && !reported.has(currency);
  return [
    ...judgingWarnings(config.station.judge, terms, currency),
    ...(isForeign ? [{ kind: "other-currency" } as const] : []),
  ];
}

function listCurrencies(reading: Reading, workspaceId: string, entries: readonly ReplayEntry[]): ReadonlySet<string> {
  return new Set(entries.flatMap(({ runId }) => runs.get(reading, workspaceId, runId)?.spent?.currency ?? []));
}
