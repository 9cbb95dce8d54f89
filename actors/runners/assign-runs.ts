import type { Placement } from "./placement.js";
import { Ranking } from "./ranking.js";
import type { Line, OldestRuns, RunQueue } from "./run-queue.js";
import { isOlder, type QueuedRow, WORK_LANE } from "./run-queue.table.js";
import type { RunnerRow } from "./runner.js";

/** A run and the runner it is assigned to. */
export interface Assignment {
  readonly run: QueuedRow;
  readonly line: Line;
  readonly runner: RunnerRow;
}

type Assignments = Generator<Assignment, void, void>;

/** The queue and the runners of a workspace. */
export interface Dispatch {
  readonly queue: RunQueue;
  readonly placement: Placement;
  readonly oldestRuns: OldestRuns;
}

/**
 * Assigns queued runs to runners, one by one: first the runs of the lane `work`, then one run of each other lane in
 * turn. In a lane the oldest run goes first, to the fitting runner with the most free slots. A run that no runner fits
 * does not delay younger runs.
 *
 * Before the caller asks for the next assignment, it must remove the assigned run from the queue, and add the claim to
 * the runner and the lane.
 */
export function* assignRuns(dispatch: Dispatch): Assignments {
  const { queue, placement } = dispatch;
  if (placement.needs.placeable.size === 0 || placement.isFull) return;
  const lines = queue.placeable();
  yield* assignOldest(
    lines.filter(({ lane }) => lane === WORK_LANE),
    dispatch,
  );
  yield* assignInTurn(
    lines.filter(({ lane }) => lane !== WORK_LANE),
    dispatch,
  );
}

/**
 * Assigns one run of each lane in turn, until no run can be placed. Starts with the lane that was served longest ago.
 */
function* assignInTurn(lines: readonly Line[], dispatch: Dispatch): Assignments {
  const { lanes } = dispatch.placement;
  const assignments = new Map<string, Assignments>();
  const inTurn = new Ranking<string>((left, right) => lanes.isNext(left, right));
  for (const { lane } of lines) {
    if (assignments.has(lane)) continue;
    const ofLane = lines.filter((line) => line.lane === lane);
    assignments.set(lane, assignOldest(ofLane, dispatch));
    inTurn.put(lane);
  }
  for (let lane = inTurn.first; lane !== undefined; lane = inTurn.first) {
    const next = assignments.get(lane)?.next();
    if (next === undefined || next.done === true) {
      inTurn.remove(lane);
      continue;
    }
    yield next.value;
    inTurn.put(lane);
  }
}

/**
 * Assigns the runs of one lane, oldest first. Skips a line once no runner is free for the line's first run, because free
 * slots only decrease.
 */
function* assignOldest(lines: readonly Line[], { queue, placement, oldestRuns }: Dispatch): Assignments {
  const heads = new Map<Line, QueuedRow>();
  const byAge = new Ranking<Line>((left, right) => {
    const [older, younger] = [heads.get(left), heads.get(right)];
    return older !== undefined && younger !== undefined && isOlder(older, younger);
  });
  const putHead = (line: Line): void => {
    const run = queue.has(line.key) ? queue.first(line, oldestRuns) : undefined;
    if (run === undefined) {
      byAge.remove(line);
      return;
    }
    heads.set(line, run);
    byAge.put(line);
  };
  for (const line of lines) putHead(line);
  for (let line = byAge.first; line !== undefined; line = byAge.first) {
    const run = heads.get(line);
    const runner = placement.best(line.fitting, line.lane);
    if (run === undefined || runner === null) {
      byAge.remove(line);
      continue;
    }
    yield { run, line, runner };
    putHead(line);
  }
}
