import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import {
  findHookOccurrence,
  type HookOccurrence,
  type HookOccurrenceState,
  listHookOccurrencesOfTeam,
} from "./hook-occurrence.table.js";

/**
 * A team's firings by hook and event: one row a firing, and one more for those that did not go the common way, by their
 * state. Firings that share all of that stand in one line; a page is merged from the lines that fit, of which there are
 * few.
 */

/** `[team, hook, event, firing]` -> true; ids rise with time. */
const hookOccurrencesByHook = table<true>("hook-firing-by");
/** `[team, hook, event, state, firing]` -> true: those that wait, failed or refused. */
const hookOccurrencesByState = table<true>("hook-firing-in");
/** `[team, firing]` -> true: those that failed. */
export const failedHookOccurrences = table<true>("hook-firing-failed");

/** The common way, which no row of a state is kept of. */
const commonStates: ReadonlySet<HookOccurrenceState> = new Set(["attempting", "delivered"]);

/** Firings looked at for one page: those of the common states are told apart by their rows. */
const SCAN_LIMIT = 2_000;

/** What a list may be narrowed by; a firing has to fit all that is given. */
export interface HookOccurrenceFilter {
  /** The hook's key. */
  readonly hook?: string | undefined;
  readonly event?: string | undefined;
  readonly state?: HookOccurrenceState | undefined;
}

/** Has lists find a new firing. */
export function indexHookOccurrence(writing: Writing, workspaceId: string, firing: HookOccurrence): void {
  const { id, hook, work } = firing;
  hookOccurrencesByHook.put(writing, workspaceId, [work.teamId, hook, work.on, id], true);
  indexState(writing, workspaceId, { teamId: work.teamId, hook, on: work.on, id }, { to: firing.state });
}

/** What a firing's rows in lists are keyed by. */
export interface HookOccurrenceIndexKey {
  readonly teamId: string;
  readonly hook: string;
  readonly on: string;
  readonly id: string;
}

/** Has lists find a firing by its new state, and by its old one no more. */
export function indexState(
  writing: Writing,
  workspaceId: string,
  { teamId, hook, on, id }: HookOccurrenceIndexKey,
  { from, to }: { readonly from?: HookOccurrenceState; readonly to: HookOccurrenceState },
): void {
  if (from !== undefined && !commonStates.has(from)) {
    hookOccurrencesByState.remove(writing, workspaceId, teamId, hook, on, from, id);
  }
  if (!commonStates.has(to)) hookOccurrencesByState.put(writing, workspaceId, [teamId, hook, on, to, id], true);
  if (to === "failed") failedHookOccurrences.put(writing, workspaceId, [teamId, id], true);
}

export interface HookOccurrencePage {
  /** Only firings before this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A page of firings, newest first. */
export interface HookOccurrences {
  readonly items: HookOccurrence[];
  /** What the next page is `before`; null when there is none. A page that is followed by one may be empty. */
  readonly next: string | null;
}

interface Team {
  readonly workspaceId: string;
  readonly teamId: string;
}

/** The team's firings that fit. */
export function listHookOccurrences(
  reading: Reading,
  team: Team,
  filter: HookOccurrenceFilter,
  { before, limit }: HookOccurrencePage,
): HookOccurrences {
  const { state } = filter;
  const newest = newestFirst(reading, team, filter, { before, limit });
  const items: HookOccurrence[] = [];
  let last: string | null = null;
  for (let looks = 0; looks < SCAN_LIMIT && items.length < limit; looks++) {
    const firing = newest();
    if (firing === null) return { items, next: null };
    last = firing.id;
    if (state === undefined || firing.state === state) items.push(firing);
  }
  return { items, next: last };
}

/** Gives one firing after the other, null at the end: all of those that fit, and of the common states any. */
function newestFirst(
  reading: Reading,
  team: Team,
  filter: HookOccurrenceFilter,
  page: HookOccurrencePage,
): () => HookOccurrence | null {
  const { workspaceId, teamId } = team;
  const { hook, event, state } = filter;
  const isCommon = state === undefined || commonStates.has(state);
  if (hook === undefined && event === undefined && isCommon) return newestOfTeam(reading, team, page);
  const where = isCommon
    ? { rows: hookOccurrencesByHook, names: [hook, event] }
    : { rows: hookOccurrencesByState, names: [hook, event, state] };
  const lines = listIndexRanges(reading, team, where).map(
    (under) => new IndexRange(reading, workspaceId, { ...where, under, page }),
  );
  return () => {
    const line = lines.reduce<IndexRange | null>((best, one) => (one.isNewerThan(best) ? one : best), null);
    const id = line?.take();
    return id === undefined ? null : (findHookOccurrence(reading, workspaceId, teamId, id) ?? null);
  };
}

function newestOfTeam(
  reading: Reading,
  { workspaceId, teamId }: Team,
  page: HookOccurrencePage,
): () => HookOccurrence | null {
  let { before } = page;
  let firings: HookOccurrence[] = [];
  let isRead = false;
  return () => {
    if (firings.length === 0 && !isRead) {
      const from = before === undefined ? {} : { before: [teamId, before] };
      firings = listHookOccurrencesOfTeam(reading, workspaceId, teamId, { reverse: true, limit: page.limit, ...from });
      before = firings.at(-1)?.id;
      isRead = firings.length < page.limit;
    }
    return firings.shift() ?? null;
  };
}

interface IndexQuery {
  readonly rows: typeof hookOccurrencesByHook;
  /** What the parts of a line's key must be; undefined is any. */
  readonly names: readonly (string | undefined)[];
}

/** The lines that fit, found by one read each. */
function listIndexRanges(reading: Reading, { workspaceId, teamId }: Team, { rows, names }: IndexQuery): string[][] {
  const under = names[0] === undefined ? [teamId] : [teamId, names[0]];
  const lines: string[][] = [];
  for (;;) {
    const after = lines.at(-1);
    const page = { limit: 1, ...(after === undefined ? {} : { after }) };
    const next = rows.entries(reading, workspaceId, under, page)[0];
    if (next === undefined) break;
    lines.push(next.key.slice(-2 - names.length, -1).map(String));
  }
  return lines.filter((line) => names.every((name, index) => name === undefined || name === line[index + 1]));
}

/** Rows of a line that are read at once. */
const SLICE = 10;

/** The firings of one line from the newest on, read a few at a time. */
class IndexRange {
  readonly #reading: Reading;
  readonly #workspaceId: string;
  readonly #rows: typeof hookOccurrencesByHook;
  readonly #under: readonly string[];
  readonly #slice: number;
  #before: string | undefined;
  #ids: string[] = [];
  #isRead = false;

  constructor(
    reading: Reading,
    workspaceId: string,
    {
      rows,
      under,
      page,
    }: { readonly rows: IndexQuery["rows"]; readonly under: readonly string[]; readonly page: HookOccurrencePage },
  ) {
    this.#reading = reading;
    this.#workspaceId = workspaceId;
    this.#rows = rows;
    this.#under = under;
    this.#slice = Math.min(SLICE, page.limit);
    this.#before = page.before;
  }

  isNewerThan(other: IndexRange | null): boolean {
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
    const found = this.#rows.entries(this.#reading, this.#workspaceId, this.#under, page);
    this.#ids = found.map(({ key }) => String(key.at(-1)));
    this.#before = this.#ids.at(-1);
    this.#isRead = found.length < this.#slice;
  }
}
