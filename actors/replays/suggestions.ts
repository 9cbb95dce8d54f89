import type { TaskOutcome } from "../run-facts/run-outcome.table.js";
import { countOutcomes } from "./composition.js";

/** Most runs suggested for a set (replays, Limits). */
export const MAX_SUGGESTED = 5;

/**
 * The runs that would even out how the runs of a set turned out: each time one of the outcome that is rarest among the
 * set and those picked so far, `other` only when nothing else is left, and of equally rare ones the newest run.
 * `candidates` are newest first, and so is the result.
 */
export function suggestRuns<Run extends { readonly outcome: TaskOutcome }>(
  inSet: readonly { readonly outcome: TaskOutcome }[],
  candidates: readonly Run[],
): readonly Run[] {
  const counts = new Map(countOutcomes(inSet).map(({ outcome, count }) => [outcome, count]));
  const rarity = ({ outcome }: Run) => (outcome === "other" ? Number.POSITIVE_INFINITY : (counts.get(outcome) ?? 0));
  const picked = new Set<Run>();
  while (picked.size < MAX_SUGGESTED) {
    const left = candidates.filter((run) => !picked.has(run));
    const rarest = Math.min(...left.map(rarity));
    const next = left.find((run) => rarity(run) === rarest);
    if (next === undefined) break;
    picked.add(next);
    counts.set(next.outcome, (counts.get(next.outcome) ?? 0) + 1);
  }
  return candidates.filter((run) => picked.has(run));
}
