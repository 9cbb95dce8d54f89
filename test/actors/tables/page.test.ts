import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import type { Filter } from "../../../actors/tables/declared-index.js";
import { indexedTable } from "../../../actors/tables/indexed-table.js";
import { type Cursor, MAX_SLICE_COST, type PageOptions, type Slice } from "../../../actors/tables/page-source.js";
import { readPage } from "../../../http/wire/page-reading.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Change, Reading, Store, View, Writing } from "../../../storage/store.js";
import { countingReading } from "../../support/counting-rows.js";
import { memoryRows } from "../../support/turn.js";

const workspaceId = "ws_1";

interface Part {
  readonly id: string;
  readonly teamId: string;
  readonly state: string;
  readonly line: string;
  readonly owner: string | null;
}

const parts = indexedTable<Part>("part", {
  order: ["id"],
  indexes: {
    "part-by-state": ["teamId", "state", "line"],
    "part-by-owner": ["teamId", "owner"],
  },
});

const toId = (n: number) => `part_${String(n).padStart(6, "0")}`;

async function stored(rows: readonly Part[]): Promise<Store> {
  const store = createMemoryStore();
  const changes: Change[] = [];
  const { reading } = store;
  const writing: Writing = {
    get: (key) => reading.get(key),
    range: (range) => reading.range(range),
    put: (key, value) => changes.push({ op: "put", key, value }),
    remove: (key) => changes.push({ op: "remove", key }),
  };
  for (const row of rows) parts.insert(writing, workspaceId, row);
  await store.commit(changes);
  return store;
}

/**
 * Returns `count` rows. A row is both open and owned by `usr_1` if `isBoth` returns true for its number. All other rows
 * are either open or owned by `usr_1`.
 */
function many(count: number, isBoth: (n: number) => boolean): Part[] {
  return Array.from({ length: count }, (_, n) => ({
    id: toId(n),
    teamId: "team_1",
    line: `line_${n % 7}`,
    state: n % 2 === 0 || isBoth(n) ? "open" : "shut",
    owner: n % 2 === 1 || isBoth(n) ? "usr_1" : null,
  }));
}

const filter = { teamId: "team_1", state: "open", owner: "usr_1" };

/** Reads a page through all its slices. Returns its rows, the number of slices, and the most rows that a slice read. */
function sliced(reading: Reading, limit: number): { readonly rows: Part[]; readonly slices: number; most: number } {
  const counting = countingReading(reading);
  const rows: Part[] = [];
  let [slices, most] = [0, 0];
  let cursor: Cursor<Part> | null = null;
  do {
    counting.reset();
    const slice: Slice<Part> = parts.page(counting, workspaceId, filter, { limit, cursor });
    rows.push(...slice.rows);
    [slices, most] = [slices + 1, Math.max(most, counting.read)];
    cursor = slice.next;
  } while (cursor !== null);
  return { rows, slices, most };
}

t.test("a page is not short while more fits, however far away, and no slice looks at many rows", async (t) => {
  const both = new Set([3, 17, 4_000, 4_001]);
  const all = many(5_000, (n) => both.has(n));
  const store = await stored(all);
  const { rows, slices, most } = sliced(store.reading, 10);
  t.same(
    rows.map(({ id }) => id),
    [4_001, 4_000, 17, 3].map(toId),
  );
  t.ok(slices > 2, `${slices} slices`);
  t.ok(most <= MAX_SLICE_COST + 100, `${most} rows were looked at in one slice`);
  t.same(
    sliced(store.reading, 2).rows.map(({ id }) => id),
    [4_001, 4_000].map(toId),
  );
});

t.test("many lines are found in slices too", async (t) => {
  const all = Array.from({ length: 1_200 }, (_, n) => ({
    id: toId(n),
    teamId: "team_1",
    line: `line_${n % 400}`,
    state: "open",
    owner: null,
  }));
  const store = await stored(all);
  const counting = countingReading(store.reading);
  const rows: Part[] = [];
  let cursor: Cursor<Part> | null = null;
  do {
    counting.reset();
    const slice: Slice<Part> = parts.page(
      counting,
      workspaceId,
      { teamId: "team_1", state: "open" },
      { limit: 30, cursor },
    );
    t.ok(counting.read <= MAX_SLICE_COST + 20, `${counting.read} rows were looked at`);
    rows.push(...slice.rows);
    cursor = slice.next;
  } while (cursor !== null);
  t.same(rows, all.slice(-30).reverse());
});

t.test("slices give what one walk gives, whatever is asked for", async () => {
  const row = fc.record({
    teamId: fc.constantFrom("team_1", "team_2"),
    state: fc.constantFrom("open", "shut"),
    line: fc.constantFrom("a", "b", "c", "d"),
    owner: fc.constantFrom(null, "usr_1"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 200, maxLength: 900 }), fc.nat(40), async (kinds, limit) => {
      const all = kinds.map((kind, n) => ({ id: toId(n), ...kind }));
      const store = await stored(all);
      const fits = (one: Part) => one.teamId === "team_1" && one.state === "open" && one.owner === "usr_1";
      assert.deepEqual(sliced(store.reading, limit).rows, all.filter(fits).reverse().slice(0, limit));
    }),
    { numRuns: 15 },
  );
});

/**
 * A table whose pages are read from the lines of one index, or from the intersection of lines of two or three indexes.
 */
const crossed = indexedTable<Part>("crossed", {
  order: ["id"],
  indexes: {
    "crossed-by-state": ["teamId", "state", "line"],
    "crossed-by-line": ["teamId", "line"],
    "crossed-by-owner": ["teamId", "owner"],
    "crossed-open": { by: ["teamId"], only: { state: ["open"] } },
  },
});

async function crossing(rows: readonly Part[]): Promise<Store> {
  const store = createMemoryStore();
  const writing = memoryRows();
  for (const row of rows) crossed.insert(writing, workspaceId, row);
  await store.commit(writing.range({ prefix: [] }).map(({ key, value }): Change => ({ op: "put", key, value })));
  return store;
}

/**
 * Reads a page of the table `crossed` through all its slices. Returns its rows, and the number of rows that each slice
 * read.
 */
function crossedPage(reading: Reading, filter: Filter<Part>, page: PageOptions<Part>) {
  const counting = countingReading(reading);
  const rows: Part[] = [];
  const reads: number[] = [];
  let cursor: Cursor<Part> | null = null;
  do {
    counting.reset();
    const slice: Slice<Part> = crossed.page(counting, workspaceId, filter, { ...page, cursor });
    // Copy the cursor, as if it had been stored for a while.
    cursor = slice.next === null ? null : structuredClone(slice.next);
    rows.push(...slice.rows);
    reads.push(counting.read);
  } while (cursor !== null);
  return { rows, reads };
}

t.test("any filter, bounds and limit give what looking at every row gives", async () => {
  const row = fc.record({
    teamId: fc.constantFrom("team_1", "team_2"),
    state: fc.constantFrom("open", "shut"),
    line: fc.constantFrom("a", "b", "c"),
    owner: fc.constantFrom(null, "usr_1", "usr_2"),
  });
  const asked = fc.record({
    state: fc.constantFrom(undefined, "open", "shut"),
    line: fc.constantFrom(undefined, "a", "b", "z"),
    owner: fc.constantFrom(undefined, null, "usr_1"),
  });
  const bound = fc.option(fc.nat(420), { nil: undefined });
  const page = fc.record({ before: bound, after: bound, limit: fc.constantFrom(undefined, 1, 7, 300) });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 400 }), fc.array(fc.tuple(asked, page)), async (kinds, questions) => {
      const all = kinds.map((kind, n) => ({ id: toId(n), ...kind }));
      const store = await crossing(all);
      for (const [filter, { before, after, limit }] of questions) {
        const wanted = Object.entries({ ...filter, teamId: "team_1" }).filter(([, value]) => value !== undefined);
        const fitting = all
          .filter((one, n) => n < (before ?? kinds.length) && n > (after ?? -1) && has(one, wanted))
          .reverse();
        const bounds = { before: before === undefined ? undefined : [toId(before)], limit };
        const from = after === undefined ? {} : { after: [toId(after)] };
        const { rows } = crossedPage(store.reading, { ...filter, teamId: "team_1" }, { ...bounds, ...from });
        assert.deepEqual(rows, fitting.slice(0, limit));
      }
    }),
    { numRuns: 40 },
  );
});

const has = (row: Part, wanted: readonly (readonly [string, unknown])[]) =>
  wanted.every(([field, value]) => Reflect.get(row, field) === value);

/** Returns rows; `toLine` and `toOwner` return the line and the owner of each row by its number. */
const owned = (count: number, toLine: (n: number) => string, toOwner: (n: number) => string): Part[] =>
  Array.from({ length: count }, (_, n) => ({
    id: toId(n),
    teamId: "team_1",
    state: "open",
    line: toLine(n),
    owner: toOwner(n),
  }));

t.test("what large lines have in common is found without looking at the rest", async (t) => {
  const halves = owned(
    6_000,
    (n) => (n < 3_000 ? "a" : "b"),
    (n) => (n < 3_000 && n !== 5 ? "usr_1" : "usr_2"),
  );
  const store = await crossing(halves);
  const { rows, reads } = crossedPage(store.reading, { teamId: "team_1", line: "a", owner: "usr_2" }, { limit: 50 });
  t.same(
    rows.map(({ id }) => id),
    [toId(5)],
  );
  t.ok(reads.reduce((sum, read) => sum + read) < 300, `${reads.join()} of 6,000 rows were read`);
});

t.test("where nothing is in common but all lies side by side, no slice reads many rows", async (t) => {
  const turns = owned(
    4_000,
    (n) => (n % 2 === 0 ? "a" : "b"),
    (n) => (n % 2 === 0 ? "usr_1" : "usr_2"),
  );
  const store = await crossing(turns);
  const { rows, reads } = crossedPage(store.reading, { teamId: "team_1", line: "a", owner: "usr_2" }, { limit: 50 });
  t.same(rows, []);
  t.ok(reads.length > 5);
  for (const read of reads) t.ok(read <= MAX_SLICE_COST + 100, `${read} rows were read in one slice`);
});

/** Wraps a store. Counts all views of the store, and the views that are still open. */
function watched(store: Store) {
  const seen = { opened: 0, open: 0 };
  const view = (): View => {
    const inner = store.view();
    seen.opened += 1;
    seen.open += 1;
    return {
      get: (key) => inner.get(key),
      range: (range) => inner.range(range),
      close: () => {
        seen.open -= 1;
        inner.close();
      },
    };
  };
  return { seen, view };
}

/** Waits for one turn of the event loop, so that other work can run. */
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const goOn = (): null => null;

t.test("a page is read from one view, with other work in between, and the view is closed", async (t) => {
  const store = await stored(many(3_000, (n) => n % 1_000 === 1));
  const { seen, view } = watched(store);
  let others = 0;
  const other = () => {
    others += 1;
    if (seen.open > 0) setImmediate(other);
  };
  const page = readPage<Part>({ view }, { signal: new AbortController().signal, pause, goOn }, (reading, cursor) =>
    parts.page(reading, workspaceId, filter, { limit: 5, cursor }),
  );
  setImmediate(other);
  // This change happens between two slices. It must not affect the page.
  await store.commit([{ op: "remove", key: [workspaceId, "row", "part", toId(1)] }]);
  t.same(
    (await page).map(({ id }) => id),
    [2_001, 1_001, 1].map(toId),
  );
  t.same(seen, { opened: 1, open: 0 });
  t.ok(others > 2, "other work had its turn");
});

t.test("while others wait, a page leaves them their turn before its first slice and after its last", async (t) => {
  const store = await stored(many(30, () => true));
  const { seen, view } = watched(store);
  const openAtTurns: number[] = [];
  const turns = async (): Promise<void> => {
    openAtTurns.push(seen.open);
    await pause();
  };
  const request = { signal: new AbortController().signal, pause, goOn: turns };
  const rows = await readPage<Part>({ view }, request, (reading, cursor) =>
    parts.page(reading, workspaceId, {}, { cursor, limit: 30 }),
  );
  t.equal(rows.length, 30);
  t.same(openAtTurns, [0, 0], "no view is open meanwhile");
});

t.test("a page that nobody waits for any more is given up", async (t) => {
  const store = await stored(many(3_000, () => false));
  const { seen, view } = watched(store);
  const client = new AbortController();
  const why = new Error("nobody waits");
  let slices = 0;
  const page = readPage<Part>({ view }, { signal: client.signal, pause, goOn }, (reading, cursor) => {
    slices += 1;
    if (slices === 2) client.abort(why);
    return parts.page(reading, workspaceId, filter, { cursor });
  });
  t.equal(await page.then(unexpected, (error: unknown) => error), why);
  t.equal(slices, 2);
  t.same(seen, { opened: 1, open: 0 });
});

function unexpected(): never {
  throw new Error("the page came");
}

t.test("a view is closed when a slice throws", async (t) => {
  const { seen, view } = watched(await stored([]));
  const fails = () => {
    throw new Error("unreadable");
  };
  await t.rejects(readPage({ view }, { signal: new AbortController().signal, pause, goOn }, fails), /unreadable/);
  t.same(seen, { opened: 1, open: 0 });
});
