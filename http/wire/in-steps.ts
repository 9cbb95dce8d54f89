import type { RouteRequest } from "./route.js";

/**
 * Runs a generator to its end. Other work runs between two steps. Throws the signal's abort reason if the request is
 * aborted.
 */
export async function runInSteps<Result>(
  steps: Generator<unknown, Result, undefined>,
  { pause, signal }: Pick<RouteRequest, "pause" | "signal">,
): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
    signal.throwIfAborted();
  }
}
