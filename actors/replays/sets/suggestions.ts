import type { TaskOutcome } from "../../run-facts/run-outcome.table.js";
import { countOutcomes } from "./composition.js";

/** Maximum number of runs to suggest for a set (see "Limits" in the replays document). */
export const MAX_SUGGESTED = 5;

/**
 * Suggests runs that balance the outcomes in a set. Each pick is the newest run whose outcome is the rarest among the
 * set and the earlier picks. `other` is picked only when no other outcome is left. `candidates` are newest first, and
 * so is the result.
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
