import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { type FiringRow, type FiringState, failedFirings, firings } from "./occurrence-rows.js";

/**
 * A team's firings by hook, event and state: one row a firing, moved when its state changes. Firings that share the
 * three stand in one line; a page is merged from the lines that fit, of which there are few.
 */

/** `[team, hook, event, state, firing]` -> true; ids rise with time. */
const firingsBy = table<true>("hook-firing-by");

/** What a list may be narrowed by; a firing has to fit all that is given. */
export interface FiringFilter {
  /** The hook's key. */
  readonly hook?: string | undefined;
  readonly event?: string | undefined;
  readonly state?: FiringState | undefined;
}

/** Writes a firing with what lists find it by; `before` is its state until now, null when it is new. */
export function putFiring(writing: Writing, workspaceId: string, firing: FiringRow, before: FiringState | null): void {
  firings.put(writing, workspaceId, [firing.teamId, firing.id], firing);
  if (before === firing.state) return;
  const { teamId, hook, on, state, id } = firing;
  if (before !== null) firingsBy.remove(writing, workspaceId, teamId, hook, on, before, id);
  firingsBy.put(writing, workspaceId, [teamId, hook, on, state, id], true);
  if (state === "failed") failedFirings.put(writing, workspaceId, [teamId, id], true);
}

export interface FiringPage {
  /** Only firings before this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

interface Team {
  readonly workspaceId: string;
  readonly teamId: string;
}

/** The team's firings that fit, newest first. */
export function firingsOf(reading: Reading, team: Team, filter: FiringFilter, page: FiringPage): FiringRow[] {
  const { workspaceId, teamId } = team;
  if (Object.values(filter).every((wanted) => wanted === undefined)) {
    const before = page.before === undefined ? {} : { before: [teamId, page.before] };
    return firings.list(reading, workspaceId, [teamId], { reverse: true, limit: page.limit, ...before });
  }
  const lines = linesOf(reading, team, filter).map((under) => new Line(reading, workspaceId, under, page));
  const found: FiringRow[] = [];
  while (found.length < page.limit) {
    const newest = lines.reduce<Line | null>((best, line) => (line.isNewerThan(best) ? line : best), null);
    const id = newest?.take();
    if (id === undefined) break;
    const firing = firings.get(reading, workspaceId, teamId, id);
    if (firing !== undefined) found.push(firing);
  }
  return found;
}

/** The lines that fit: their hook, event and state, found by one read each. */
function linesOf(reading: Reading, { workspaceId, teamId }: Team, filter: FiringFilter): string[][] {
  const under = filter.hook === undefined ? [teamId] : [teamId, filter.hook];
  const lines: string[][] = [];
  let line = lineAfter(reading, workspaceId, under, null);
  while (line !== null) {
    const [, , event, state] = line;
    const fits =
      (filter.event === undefined || filter.event === event) && (filter.state === undefined || filter.state === state);
    if (fits) lines.push(line);
    line = lineAfter(reading, workspaceId, under, line);
  }
  return lines;
}

/** The first line under a prefix of its id that comes after another, or null. */
function lineAfter(
  reading: Reading,
  workspaceId: string,
  under: readonly string[],
  line: readonly string[] | null,
): string[] | null {
  const page = { limit: 1, ...(line === null ? {} : { after: line }) };
  const next = firingsBy.entries(reading, workspaceId, under, page)[0];
  return next === undefined ? null : next.key.slice(-5, -1).map(String);
}

/** Rows of a line that are read at once. */
const SLICE = 10;

/** The firings of one line from the newest on, read a few at a time. */
class Line {
  readonly #reading: Reading;
  readonly #workspaceId: string;
  readonly #under: readonly string[];
  readonly #slice: number;
  #before: string | undefined;
  #ids: string[] = [];
  #isRead = false;

  constructor(reading: Reading, workspaceId: string, under: readonly string[], { before, limit }: FiringPage) {
    this.#reading = reading;
    this.#workspaceId = workspaceId;
    this.#under = under;
    this.#slice = Math.min(SLICE, limit);
    this.#before = before;
  }

  isNewerThan(other: Line | null): boolean {
    const newest = this.#newest();
    return newest !== undefined && (other === null || newest > (other.#newest() ?? ""));
  }

  take(): string | undefined {
    const id = this.#newest();
    this.#ids.shift();
    return id;
  }

  #newest(): string | undefined {
    if (this.#ids.length === 0 && !this.#isRead) this.#readOn();
    return this.#ids[0];
  }

  #readOn(): void {
    const before = this.#before === undefined ? {} : { before: [...this.#under, this.#before] };
    const page = { reverse: true, limit: this.#slice, ...before };
    const found = firingsBy.entries(this.#reading, this.#workspaceId, this.#under, page);
    this.#ids = found.map(({ key }) => String(key.at(-1)));
    this.#before = this.#ids.at(-1);
    this.#isRead = found.length < this.#slice;
  }
}
