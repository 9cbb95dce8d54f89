/** A generator that works in steps. Other work may run at each `yield`. The generator returns the result at the end. */
export type InSteps<Result> = Generator<undefined, Result, undefined>;

/** Runs all steps without a pause, for turns and streams, which cannot wait. */
export function atOnce<Result>(steps: InSteps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Calls `find` for each item, and returns the first result that is not undefined. Returns undefined if there is none.
 * Yields after every `most` items.
 */
export function* findInSteps<Item, Found>(
  items: readonly Item[],
  most: number,
  find: (item: Item) => Found | undefined,
): InSteps<Found | undefined> {
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % most === 0) yield;
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
