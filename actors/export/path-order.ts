/**
 * Sorts locations by the paths of the files below them. The locations must be given in address order. Both orders
 * differ only if one address continues another with "-", because "-" sorts before "/". For example, `app/main` comes
 * before `app/main-2`, but `app/main-2/x` before `app/main/x`.
 *
 * The function delays an address while the following addresses continue it with "-". It never delays more addresses at
 * once than an address has parts between hyphens.
 */
export function* inPathOrder<Place extends { readonly address: string }>(locations: Iterable<Place>): Generator<Place> {
  const delayed: Place[] = [];
  for (const location of locations) {
    for (let last = delayed.at(-1); last !== undefined; last = delayed.at(-1)) {
      if (location.address.startsWith(`${last.address}-`)) break;
      delayed.pop();
      yield last;
    }
    delayed.push(location);
  }
  yield* delayed.reverse();
}

/** Compares texts by code unit, so that the order is the same on every machine. */
export function byCodeUnits(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
