import type { MeasuredCopy } from "../../../actors/statistics/comparison.js";
import type { CopyResult } from "../../../actors/statistics/copy.js";

const RESULTS: Readonly<Record<string, CopyResult>> = { "+": "succeeded", "-": "failed", "?": "unscored", ".": null };

/**
 * Parses copies from texts. The key of a run is its task and, after a slash, its own name. The text has one character
 * per copy: `+` succeeded, `-` failed, `?` unscored, `.` not settled. The copies cost nothing, and have no known time
 * or steps.
 */
export function listCopies(runs: Readonly<Record<string, string>>): readonly MeasuredCopy[] {
  return Object.entries(runs).flatMap(([originalRunId, results]) =>
    [...results].map((result, index) => ({
      taskId: originalRunId.split("/")[0] ?? "",
      originalRunId,
      repeat: index + 1,
      result: RESULTS[result] ?? null,
      spent: null,
      priced: true,
      ms: null,
      steps: null,
      pairOutcome: null,
    })),
  );
}

/** Returns this many tasks with the same results: `t00`, `t01` and so on. */
export function listTasks(count: number, results: string, prefix = "t"): readonly MeasuredCopy[] {
  return listCopies(
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${String(n).padStart(2, "0")}`, results])),
  );
}
