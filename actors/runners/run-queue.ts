import type { FittingRunners } from "./fitting-runners.js";
import type { Placement } from "./placement.js";
import { getEra, getLane, isOlder, type LineRow, type QueuedRow, toLineKey } from "./run-queue.table.js";

/** Reads the oldest queued runs of a line from its rows, oldest first, at most `limit`. */
export type OldestRuns = (line: string, limit: number) => readonly QueuedRow[];

/** Runs of a line read at once. */
const READ_AT_ONCE = 64;
/** Runs of a line held in memory. */
const MAX_HELD = 2 * READ_AT_ONCE;

/** A line of queued runs. */
export interface Line {
  readonly key: string;
  readonly lane: string;
  readonly fitting: FittingRunners;
  /** Its oldest runs, oldest first. */
  readonly oldest: QueuedRow[];
  /** Whether `oldest` holds all runs of the line. */
  areAll: boolean;
}

/**
 * The queue of a workspace in memory. Owns which lines there are. Of each line it holds only the oldest runs, and reads
 * more from the rows when these are used up.
 *
 * 1. There is one line for each row of `queued-needs`, and each has at least one queued run.
 * 2. The runs that a line holds are the oldest in the rows, without gaps.
 * 3. No queued run is younger than `youngest`, which may be one that is queued no more.
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

  /** The lines that a fitting runner has a free slot for; limits are not considered. */
  placeable(): Line[] {
    const lines: Line[] = [];
    for (const fitting of this.#placement.needs.placeable) lines.push(...(this.#byNeeds.get(fitting) ?? []));
    return lines;
  }

  /** The era of a run that is queued now: another one when the clock was ahead as the youngest was. */
  eraAt(nowMs: number): number {
    if (this.#youngest === undefined || this.#lines.size === 0) return 0;
    return getEra(this.#youngest) + (nowMs < this.#youngest.queuedAtMs ? 1 : 0);
  }

  /** Adds a run to its line, and opens the line if needed. */
  add(key: string, run: QueuedRow): void {
    if (this.#youngest === undefined || this.#lines.size === 0 || isOlder(this.#youngest, run)) this.#youngest = run;
    const line = this.#lines.get(key) ?? this.#open(key, run, true);
    const place = placeIn(line.oldest, run);
    if (line.oldest[place]?.runId === run.runId) line.oldest[place] = run;
    else if (place < line.oldest.length || line.areAll) line.oldest.splice(place, 0, run);
    if (line.oldest.length <= MAX_HELD) return;
    line.oldest.length = MAX_HELD;
    line.areAll = false;
  }

  /** Removes a run from its line if it is there. Returns whether the line is empty now, and closed. */
  remove(key: string, run: QueuedRow, oldestRuns: OldestRuns): boolean {
    const line = this.#lines.get(key);
    if (line === undefined) return false;
    const place = placeIn(line.oldest, run);
    if (line.oldest[place]?.runId === run.runId) line.oldest.splice(place, 1);
    if (this.first(line, oldestRuns) !== undefined) return false;
    this.#close(line);
    return true;
  }

  /** The oldest run of the line. */
  first(line: Line, oldestRuns: OldestRuns): QueuedRow | undefined {
    if (line.oldest.length === 0 && !line.areAll) {
      line.oldest.push(...oldestRuns(line.key, READ_AT_ONCE));
      line.areAll = line.oldest.length < READ_AT_ONCE;
    }
    return line.oldest[0];
  }

  /** Which lines there are as plain data, for comparing. */
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

/** The index of the run among runs in order, or the index to insert it at. */
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
