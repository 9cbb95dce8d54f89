/**
 * Sorts locations, given in address order, by the paths below them. The two orders differ where one address begins with
 * another: `app/main` comes before `app/main-2`, but `app/main-2/x` before `app/main/x`, since "-" sorts before "/". An
 * address is held back while such addresses follow; never more are held than an address has words.
 */
export function* inPathOrder<Place extends { readonly address: string }>(locations: Iterable<Place>): Generator<Place> {
  const held: Place[] = [];
  for (const location of locations) {
    for (let last = held.at(-1); last !== undefined; last = held.at(-1)) {
      if (location.address.startsWith(`${last.address}-`)) break;
      held.pop();
      yield last;
    }
    held.push(location);
  }
  yield* held.reverse();
}

/** Compares texts by code units: the same order on every machine. */
export function byCodeUnits(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
