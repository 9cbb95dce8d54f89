import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { indexedTable } from "../../../actors/tables/indexed-table.js";
import { type Cursor, LOOKS_A_SLICE, type Slice } from "../../../actors/tables/page.js";
import { readPage } from "../../../http/page-reading.js";
import type { Refused } from "../../../http/refused.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Change, Reading, Store, View, Writing } from "../../../storage/store.js";
import { countingReading } from "../../support/counting-rows.js";

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

const idOf = (n: number) => `part_${String(n).padStart(6, "0")}`;

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

/** Many rows, few of which are one thing and the other. */
function many(count: number, isBoth: (n: number) => boolean): Part[] {
  return Array.from({ length: count }, (_, n) => ({
    ...{ id: idOf(n), teamId: "team_1", line: `line_${n % 7}`, state: n % 2 === 0 || isBoth(n) ? "open" : "shut" },
    owner: n % 2 === 1 || isBoth(n) ? "usr_1" : null,
  }));
}

const filter = { teamId: "team_1", state: "open", owner: "usr_1" };

/** A page by its slices, and the most rows that one of them looked at. */
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
    [4_001, 4_000, 17, 3].map(idOf),
  );
  t.ok(slices > 2, `${slices} slices`);
  t.ok(most <= LOOKS_A_SLICE + 100, `${most} rows were looked at in one slice`);
  t.same(
    sliced(store.reading, 2).rows.map(({ id }) => id),
    [4_001, 4_000].map(idOf),
  );
});

t.test("many lines are found in slices too", async (t) => {
  const all = Array.from({ length: 1_200 }, (_, n) => ({
    ...{ id: idOf(n), teamId: "team_1", line: `line_${n % 400}`, state: "open", owner: null },
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
    t.ok(counting.read <= LOOKS_A_SLICE + 20, `${counting.read} rows were looked at`);
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
      const all = kinds.map((kind, n) => ({ id: idOf(n), ...kind }));
      const store = await stored(all);
      const fits = (one: Part) => one.teamId === "team_1" && one.state === "open" && one.owner === "usr_1";
      assert.deepEqual(sliced(store.reading, limit).rows, all.filter(fits).reverse().slice(0, limit));
    }),
    { numRuns: 15 },
  );
});

/** Views of a store, and how many of them are open. */
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

t.test("a page is read from one view, with other work in between, and the view is closed", async (t) => {
  const store = await stored(many(3_000, (n) => n % 1_000 === 1));
  const { seen, view } = watched(store);
  let others = 0;
  const other = () => {
    others += 1;
    if (seen.open > 0) setImmediate(other);
  };
  const page = readPage<Part>({ view }, { signal: new AbortController().signal }, (reading, cursor) =>
    parts.page(reading, workspaceId, filter, { limit: 5, cursor }),
  );
  setImmediate(other);
  // What is written meanwhile is not part of the page.
  await store.commit([{ op: "remove", key: [workspaceId, "row", "part", idOf(1)] }]);
  t.same(
    (await page).map(({ id }) => id),
    [2_001, 1_001, 1].map(idOf),
  );
  t.same(seen, { opened: 1, open: 0 });
  t.ok(others > 2, "other work had its turn");
});

t.test("a page that nobody waits for any more is given up", async (t) => {
  const store = await stored(many(3_000, () => false));
  const { seen, view } = watched(store);
  const client = new AbortController();
  let slices = 0;
  const page = readPage<Part>({ view }, client, (reading, cursor) => {
    slices += 1;
    if (slices === 2) client.abort();
    return parts.page(reading, workspaceId, filter, { cursor });
  });
  const { refusal } = await page.then(unexpected, (error: Refused) => error);
  t.match(refusal, { refused: "unavailable" });
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
  await t.rejects(readPage({ view }, new AbortController(), fails), /unreadable/);
  t.same(seen, { opened: 1, open: 0 });
});
