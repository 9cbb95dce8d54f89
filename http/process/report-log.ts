import type { Clock } from "../../runtime/clock.js";
import type { Report, Reported } from "../../runtime/turns/turn.js";
import type { ServiceLog } from "../wire/service-log.js";

type Line = NonNullable<Report["line"]>;

/**
 * Maximum number of lines with the same message that are written per minute: for one workspace, and for all workspaces
 * together.
 */
const MAX_PER_WORKSPACE = 20;
const MAX_LINES = 200;
const MINUTE_MS = 60_000;

/** Counts of the lines that have the same message, in the current minute. */
interface Flood {
  readonly line: Line;
  /** Number of written lines by workspace; at most {@link MAX_LINES} workspaces. */
  readonly written: Map<string, number>;
  lines: number;
  unwritten: number;
}

/**
 * Writes the reports of turns to the log, one line per report. Per minute, the same message is written at most {@link
 * MAX_PER_WORKSPACE} times for one workspace and {@link MAX_LINES} times in all. Further lines are only counted. At the
 * end of the minute, one line gives their number.
 */
export class ReportLog {
  readonly #log: Pick<ServiceLog, "info" | "warn">;
  readonly #clock: Clock;
  readonly #floods = new Map<string, Flood>();
  #cancel: (() => void) | null = null;

  constructor(log: Pick<ServiceLog, "info" | "warn">, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Writes or counts a report. */
  write({ from, report: { line, details } }: Reported): void {
    if (line === null) return;
    const flood = this.#findFlood(line);
    const written = flood.written.get(from.partition) ?? 0;
    if (flood.lines >= MAX_LINES || written >= MAX_PER_WORKSPACE) {
      flood.unwritten += 1;
      return;
    }
    flood.lines += 1;
    flood.written.set(from.partition, written + 1);
    this.#log[line.level](line.message, { workspaceId: from.partition, ...details });
  }

  /** Writes the numbers of unwritten lines in the current minute, and ends the minute. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = null;
    for (const { line, unwritten } of this.#floods.values()) {
      if (unwritten > 0) this.#log[line.level](`${line.message}: more lines, not written`, { count: unwritten });
    }
    this.#floods.clear();
  }

  #findFlood(line: Line): Flood {
    const known = this.#floods.get(line.message);
    if (known !== undefined) return known;
    this.#cancel ??= this.#clock.at(this.#clock.now() + MINUTE_MS, () => this.flush());
    const flood: Flood = { line, written: new Map(), lines: 0, unwritten: 0 };
    this.#floods.set(line.message, flood);
    return flood;
  }
}
