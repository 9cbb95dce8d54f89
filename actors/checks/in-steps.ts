/** A generator that works in steps. Other work may run at each `yield`. The generator returns the result at the end. */
export type InSteps<Result> = Generator<undefined, Result, undefined>;

/** Runs all steps at once, for turns and streams. */
export function atOnce<Result>(steps: InSteps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
