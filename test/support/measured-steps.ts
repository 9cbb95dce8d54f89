import type { InSteps } from "../../actors/in-steps.js";
import type { countingReading } from "./counting-rows.js";

/** Runs steps to their end. Returns the result, how many rows one step read at most, and how many all steps read. */
export function measureSteps<Result>(
  reading: Pick<ReturnType<typeof countingReading>, "read" | "reset">,
  steps: InSteps<Result>,
): { readonly result: Result; readonly most: number; readonly total: number } {
  let most = 0;
  let total = 0;
  for (;;) {
    reading.reset();
    const step = steps.next();
    most = Math.max(most, reading.read);
    total += reading.read;
    if (step.done === true) return { result: step.value, most, total };
  }
}
