import type { FittingRunners } from "./fitting-runners.js";
import type { Placement } from "./placement.js";
import { getEra, getLane, isOlder, type LineRow, type QueuedRow, toLineKey } from "./run-queue.table.js";

/** Reads the oldest queued runs of a line from its rows, oldest first, at most `limit`. */
export type OldestRuns = (line: string, limit: number) => readonly QueuedRow[];

/** Number of a line's runs to read in one batch. */
const READ_AT_ONCE = 64;
/** Maximum number of a line's runs to cache in memory. */
const MAX_CACHED = 2 * READ_AT_ONCE;

/** A line of queued runs. */
export interface Line {
  readonly key: string;
  readonly lane: string;
  readonly fitting: FittingRunners;
  /** The oldest runs of the line, oldest first. */
  readonly oldest: QueuedRow[];
  /** Whether `oldest` holds all runs of the line. */
  areAll: boolean;
}

/**
 * The queue of a workspace in memory. Owns the set of lines. For each line, caches only the oldest runs; when these are
 * used up, reads more runs from the rows.
 *
 * 1. Each row of `queued-needs` has one line here. Each line has at least one queued run.
 * 2. The cached runs of a line are the line's oldest runs in the rows, without gaps.
 * 3. No queued run is younger than the run `youngest`, even if that run has left the queue.
 */
export class RunQueue {
  readonly #placement: Placement;
  readonly #lines = new Map<string, Line>();
  readonly #byNeeds = new Map<FittingRunners, Set<Line>>();
  readonly #linesInLane = new Map<string, number>();
  #youngest: QueuedRow | undefined;

  constructor(placement: Placement, lines: Iterable<LineRow>, youngest?: QueuedRow) {
    this.#placement = placement;
    this.#youngest = youngest;
    for (const line of lines) this.#open(toLineKey(line), line, false);
  }

  has(line: string): boolean {
    return this.#lines.has(line);
  }

  all(): Iterable<Line> {
    return this.#lines.values();
  }

  /** Whether no run of the lane is queued. */
  isLaneEmpty(lane: string): boolean {
    return !this.#linesInLane.has(lane);
  }

  /** Lists the lines for which a fitting runner has a free slot. Ignores limits. */
  placeable(): Line[] {
    const lines: Line[] = [];
    for (const fitting of this.#placement.needs.placeable) lines.push(...(this.#byNeeds.get(fitting) ?? []));
    return lines;
  }

  /**
   * Returns the era for a run that is queued now. This is the era of the youngest run, or the next era if the clock is
   * behind the time of that run. Returns 0 if no run is queued.
   */
  eraAt(nowMs: number): number {
    if (this.#youngest === undefined || this.#lines.size === 0) return 0;
    return getEra(this.#youngest) + (nowMs < this.#youngest.queuedAtMs ? 1 : 0);
  }

  /** Adds a run to its line, and creates the line if needed. */
  add(key: string, run: QueuedRow): void {
    if (this.#youngest === undefined || this.#lines.size === 0 || isOlder(this.#youngest, run)) this.#youngest = run;
    const line = this.#lines.get(key) ?? this.#open(key, run, true);
    const place = placeIn(line.oldest, run);
    if (line.oldest[place]?.runId === run.runId) line.oldest[place] = run;
    else if (place < line.oldest.length || line.areAll) line.oldest.splice(place, 0, run);
    if (line.oldest.length <= MAX_CACHED) return;
    line.oldest.length = MAX_CACHED;
    line.areAll = false;
  }

  /**
   * Removes a run from its line if the run is there. If the line is then empty, also removes the line and returns true.
   */
  remove(key: string, run: QueuedRow, oldestRuns: OldestRuns): boolean {
    const line = this.#lines.get(key);
    if (line === undefined) return false;
    const place = placeIn(line.oldest, run);
    if (line.oldest[place]?.runId === run.runId) line.oldest.splice(place, 1);
    if (this.first(line, oldestRuns) !== undefined) return false;
    this.#close(line);
    return true;
  }

  /** Returns the oldest run of the line; undefined if the line is empty. */
  first(line: Line, oldestRuns: OldestRuns): QueuedRow | undefined {
    if (line.oldest.length === 0 && !line.areAll) {
      line.oldest.push(...oldestRuns(line.key, READ_AT_ONCE));
      line.areAll = line.oldest.length < READ_AT_ONCE;
    }
    return line.oldest[0];
  }

  /** Returns the lines as plain data, for comparisons. */
  describe(): unknown {
    return { lines: new Map([...this.#lines].map(([key, { lane }]) => [key, lane])), lanes: this.#linesInLane };
  }

  #open(key: string, row: LineRow, areAll: boolean): Line {
    const fitting = this.#placement.fitting(row);
    const line: Line = { key, lane: getLane(row), fitting, oldest: [], areAll };
    this.#lines.set(key, line);
    this.#byNeeds.set(fitting, (this.#byNeeds.get(fitting) ?? new Set()).add(line));
    this.#linesInLane.set(line.lane, (this.#linesInLane.get(line.lane) ?? 0) + 1);
    this.#placement.needs.retain(fitting);
    return line;
  }

  #close(line: Line): void {
    const { key, lane, fitting } = line;
    this.#lines.delete(key);
    const left = (this.#linesInLane.get(lane) ?? 0) - 1;
    if (left > 0) this.#linesInLane.set(lane, left);
    else this.#linesInLane.delete(lane);
    const others = this.#byNeeds.get(fitting);
    others?.delete(line);
    if (others !== undefined && others.size > 0) return;
    this.#byNeeds.delete(fitting);
    this.#placement.needs.release(fitting);
  }
}

/** Returns the index of the run among ordered runs, or the index to insert it at. */
function placeIn(runs: readonly QueuedRow[], run: QueuedRow): number {
  let from = 0;
  let to = runs.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const other = runs[middle];
    if (other !== undefined && isOlder(other, run)) from = middle + 1;
    else to = middle;
  }
  return from;
}
