/** Work in steps, between which others may have their turn: each `yield` is such a place, and the result comes last. */
export type InSteps<Result> = Generator<undefined, Result, undefined>;

/** Does all of it at once: in turns, and for streams. */
export function atOnce<Result>(steps: InSteps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
