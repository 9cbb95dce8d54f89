/** The compared fields of a check, as the service reports it. */
export interface FoundCheck {
  readonly id: string;
  readonly verdict: string;
  readonly undecidedBecause: string | null;
  readonly tasks: number;
  readonly compared: number;
  readonly threshold: { readonly mostRegressions: number };
  readonly regressions: readonly { readonly taskId: string }[];
}

/** A copy in one of a check's replays. */
export interface CheckedCopy {
  readonly taskId: string;
  readonly result: string | null;
}

/**
 * What other sources report about a check: its replays' copies, the verdicts read while it ran, and the list of checks.
 */
export interface AroundCheck {
  readonly candidate: readonly CheckedCopy[];
  readonly baseline: readonly CheckedCopy[];
  /** The verdicts that were read while the check ran, in order. */
  readonly verdicts: readonly string[];
  /** The ids of all checks of the set. */
  readonly listed: readonly string[];
}

/** Returns the broken promises of a check after kills; empty if all hold. The check's replays must have finished. */
export function listBrokenCheck(check: FoundCheck, around: AroundCheck): readonly string[] {
  return [...checkVerdict(check, around), ...checkCourse(check, around)];
}

/** Checks that the verdict follows from the copies of both replays. */
function* checkVerdict(check: FoundCheck, { candidate, baseline }: AroundCheck): Generator<string> {
  const { verdict, undecidedBecause, threshold, regressions, tasks, compared } = check;
  const taskIds = [...new Set(candidate.map(({ taskId }) => taskId))];
  const sides = taskIds.map((taskId) => {
    const own = toCount(candidate.filter((copy) => copy.taskId === taskId));
    const other = toCount(baseline.filter((copy) => copy.taskId === taskId));
    return { taskId, own, other, isScored: own.scored > 0 && other.scored > 0 };
  });
  const lost = sides
    .filter(
      ({ own, other, isScored }) => isScored && other.succeeded === other.scored && 2 * own.succeeded < own.scored,
    )
    .map(({ taskId }) => taskId);
  const scored = sides.filter(({ isScored }) => isScored).length;
  const isEnough = 2 * scored >= taskIds.length;
  const wanted = lost.length > threshold.mostRegressions ? "failed" : isEnough ? "passed" : "undecided";
  if (verdict !== wanted) yield `the check is ${verdict} (${undecidedBecause}) with ${lost.length} tasks regressed`;
  const told = regressions.map(({ taskId }) => taskId);
  if ([...told].sort().join() !== [...lost].sort().join())
    yield `it tells of ${told.join()}, and ${lost.join()} regressed`;
  if (tasks !== taskIds.length || compared !== scored)
    yield `it tells of ${compared} of ${tasks} tasks, not ${scored} of ${taskIds.length}`;
}

function toCount(copies: readonly CheckedCopy[]) {
  const succeeded = copies.filter(({ result }) => result === "succeeded").length;
  return { succeeded, scored: succeeded + copies.filter(({ result }) => result === "failed").length };
}

/** Checks that only one check was started, and that its verdict never changed. */
function* checkCourse({ id, verdict }: FoundCheck, { verdicts, listed }: AroundCheck): Generator<string> {
  if (listed.join() !== id) yield `the set has the checks ${listed.join()}, not ${id}`;
  const decided = [...new Set([...verdicts, verdict].filter((each) => each !== "running"))];
  if (decided.length > 1) yield `its verdict was ${decided.join(", then ")}`;
  const first = verdicts.findIndex((each) => each !== "running");
  if (first !== -1 && verdicts.slice(first).includes("running")) yield "it ran again after its verdict";
}
