/**
 * Returns the name that needs the fewest edits to become equal to `name`. An edit inserts, removes or replaces a
 * character, or swaps two neighbours. A name that differs only in case needs no edit. If several names need as few
 * edits, returns the first. Skips `name` itself.
 *
 * Returns null if every name needs more than `max` edits, or as many edits as it has characters. The default of `max`
 * depends on the length of `name`.
 */
export function nearest(
  name: string,
  names: Iterable<string>,
  max = name.length <= 2 ? 1 : Math.floor(name.length / 3) + 1,
): string | null {
  let best: { readonly name: string; readonly distance: number } | null = null;
  for (const candidate of names) {
    if (candidate === name || Math.abs(candidate.length - name.length) > max) continue;
    const distance = candidate.toLowerCase() === name.toLowerCase() ? 0 : editDistance(name, candidate);
    if (distance <= max && distance < candidate.length && (best === null || distance < best.distance)) {
      best = { name: candidate, distance };
    }
  }
  return best?.name ?? null;
}

/** Computes the optimal string alignment distance. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
