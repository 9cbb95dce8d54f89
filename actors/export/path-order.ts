/**
 * Places in the order of the paths below them, from places in address order. The two differ where one address begins
 * with another: `app/main` comes before `app/main-2`, but `app/main-2/x` before `app/main/x`, since "-" sorts before
 * "/". An address is held back for as long as such ones follow; there are never more of them than an address has words.
 */
export function* inPathOrder<Place extends { readonly address: string }>(places: Iterable<Place>): Generator<Place> {
  const held: Place[] = [];
  for (const place of places) {
    for (let last = held.at(-1); last !== undefined; last = held.at(-1)) {
      if (place.address.startsWith(`${last.address}-`)) break;
      held.pop();
      yield last;
    }
    held.push(place);
  }
  yield* held.reverse();
}

/** Texts in the order of their code units: the same on every machine. */
export function byCodeUnits(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
