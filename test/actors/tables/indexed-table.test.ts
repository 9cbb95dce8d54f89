import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { indexedTable, listedTable } from "../../../actors/tables/indexed-table.js";
import { derivedRows, storedAs } from "../../../actors/tables/table-declaration.js";
import { topic } from "../../../runtime/feeds/topic.js";
import type { Entry, Writing } from "../../../storage/store.js";
import { table } from "../../../storage/table.js";
import { memoryRows, withTurn } from "../../support/turn.js";

const workspaceId = "ws_1";

interface Part {
  readonly id: string;
  readonly teamId: string;
  readonly state: "open" | "shut" | "lost";
  readonly line: string;
  readonly owner: string | null;
  readonly tags: readonly string[];
}

const tags = table<string>("part-tag");

const parts = indexedTable<Part>("part", {
  order: ["id"],
  indexes: {
    "team-part": ["teamId"],
    "part-by-state": ["teamId", "state", "line"],
    "part-by-owner": { by: ["teamId", "owner"], holdsRow: true },
    "part-of-owner": { by: ["owner", "line"], has: ["owner"] },
    "part-lost": { by: ["teamId"], only: { state: ["lost"] } },
  },
  derived: [derivedRows(tags, ({ id, tags: all, line }) => all.map((tag) => [[tag, id], line] as const))],
});

const part = fc.record<Omit<Part, "id">>({
  teamId: fc.constantFrom("team_1", "team_2"),
  state: fc.constantFrom("open", "shut", "lost"),
  line: fc.constantFrom("a", "b", "c"),
  owner: fc.constantFrom(null, "usr_1", "usr_2"),
  tags: fc.uniqueArray(fc.constantFrom("red", "blue", "green")),
});

type Step = { readonly n: number; readonly to: Omit<Part, "id"> | null };

const steps = fc.array(fc.record<Step>({ n: fc.nat(30), to: fc.option(part, { freq: 4 }) }), { maxLength: 60 });

const filter = fc.record(
  {
    teamId: fc.constantFrom("team_1", "team_2"),
    state: fc.constantFrom<Part["state"][]>("open", "shut", "lost"),
    line: fc.constantFrom("a", "b", "c"),
    owner: fc.constantFrom(null, "usr_1", "usr_2"),
  },
  { requiredKeys: [] },
);

/** Performs the steps; returns the remaining rows, newest first. */
function written(rows: Writing, all: readonly Step[]): Part[] {
  const model = new Map<string, Part>();
  for (const { n, to } of all) {
    const id = `part_${String(n).padStart(3, "0")}`;
    const before = model.get(id);
    if (to === null) {
      if (before !== undefined) parts.remove(rows, workspaceId, before);
      model.delete(id);
      continue;
    }
    const row = { id, ...to };
    if (before === undefined) parts.insert(rows, workspaceId, row);
    else parts.put(rows, workspaceId, before, row);
    model.set(id, row);
  }
  return [...model.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
}

const allRows = (rows: Writing): Entry[] => rows.range({ prefix: [workspaceId] });

t.test("after any writes, a page of any filter equals a search of all rows", async () => {
  fc.assert(
    fc.property(steps, filter, fc.nat(8), fc.nat(30), (all, narrowed, limit, from) => {
      const rows = memoryRows();
      const model = written(rows, all);
      const before = `part_${String(from).padStart(3, "0")}`;
      const fits = (row: Part) =>
        row.id < before && Object.entries(narrowed).every(([name, value]) => Reflect.get(row, name) === value);
      const found = parts.all(rows, workspaceId, narrowed, { before: [before], limit });
      assert.deepEqual(found, model.filter(fits).slice(0, limit));
    }),
    { numRuns: 300 },
  );
});

t.test(
  "after any writes, the rows under values of an index are those of a search of all rows, in its order",
  async () => {
    const ofTeam = parts.under("team-part");
    const lost = parts.under("part-lost");
    fc.assert(
      fc.property(steps, (all) => {
        const rows = memoryRows();
        const oldestFirst = written(rows, all).reverse();
        const ofFirst = oldestFirst.filter(({ teamId }) => teamId === "team_1");
        assert.deepEqual(ofTeam(rows, workspaceId, "team_1"), ofFirst);
        assert.deepEqual(
          lost(rows, workspaceId, "team_1"),
          ofFirst.filter(({ state }) => state === "lost"),
        );
      }),
      { numRuns: 200 },
    );
  },
);

t.test("after any writes, the index entries are exactly those of the final rows", async () => {
  fc.assert(
    fc.property(steps, (all) => {
      const [rows, anew] = [memoryRows(), memoryRows()];
      for (const row of written(rows, all)) parts.insert(anew, workspaceId, row);
      assert.deepEqual(allRows(rows), allRows(anew));
    }),
    { numRuns: 200 },
  );
});

/** Returns rows that count how often they are read and written. */
function countingWrites(): Writing & { writes: number; reads: number } {
  const rows = memoryRows();
  const counting = {
    writes: 0,
    reads: 0,
    get: <Value>(key: Entry["key"]) => {
      counting.reads += 1;
      return rows.get<Value>(key);
    },
    range: rows.range.bind(rows),
    put: (key: Entry["key"], value: unknown) => {
      counting.writes += 1;
      rows.put(key, value);
    },
    remove: (key: Entry["key"]) => {
      counting.writes += 1;
      rows.remove(key);
    },
  };
  return counting;
}

const one: Part = { id: "part_1", teamId: "team_1", state: "open", line: "a", owner: null, tags: ["red"] };

t.test("a put writes what changed and reads nothing", async (t) => {
  const rows = countingWrites();
  parts.insert(rows, workspaceId, one);
  t.equal(rows.writes, 5, "the row, three indexes and a tag; one holds it not, since nobody owns it");
  rows.writes = 0;
  parts.put(rows, workspaceId, one, { ...one, tags: ["red", "blue"] });
  t.equal(rows.writes, 3, "the row, in the index that holds it too, and a tag");
  rows.writes = 0;
  parts.put(rows, workspaceId, one, { ...one, state: "lost" });
  t.equal(rows.writes, 5, "the row twice, one index row out and one in, and another index that holds it now");
  t.equal(rows.reads, 0);
});

t.test("a put may not change the key of a row", async (t) => {
  const rows = memoryRows();
  parts.insert(rows, workspaceId, one);
  t.throws(() => parts.put(rows, workspaceId, one, { ...one, id: "part_2" }), /becomes another/);
  t.throws(() => parts.relist(rows, workspaceId, one, { ...one, state: "shut" }), /holds its rows/);
});

t.test("an index that does not identify its rows is refused", async (t) => {
  const declare = () =>
    indexedTable<Part>("p", { under: ["teamId"], order: ["id"], indexes: { "part-by-line": ["line"] } });
  t.throws(declare, /part-by-line does not lead/);
  t.throws(() => parts.under("part-by-line"), /no index part-by-line/);
});

interface Placed {
  readonly repository: string;
  readonly atMs: number;
  readonly id: string;
  readonly text: string;
}

const placed = indexedTable<Placed>("placed", {
  order: ["atMs", "id"],
  indexes: { "placed-in": ["repository"] },
  stored: storedAs(
    ({ repository, text }) => ({ repository, text }),
    (stored: { readonly repository: string; readonly text: string }, key) => ({
      ...stored,
      atMs: Number(key.at(-2)),
      id: String(key.at(-1)),
    }),
  ),
});

t.test("rows are ordered by several fields, are stored without their key, and are bounded on both sides", async (t) => {
  const rows = memoryRows();
  const all = [5, 5, 7, 100, 20].map((atMs, n) => ({
    repository: n % 2 === 0 ? "acme/app" : "acme/web",
    atMs,
    id: `d_${n}`,
    text: `${n}`,
  }));
  for (const row of all) placed.insert(rows, workspaceId, row);
  t.same(placed.get(rows, workspaceId, 7, "d_2"), all[2]);
  t.same(placed.list(rows, workspaceId, [5]), [all[0], all[1]]);
  const ids = (...page: Parameters<typeof placed.all> extends [unknown, unknown, ...infer Rest] ? Rest : never) =>
    placed.all(rows, workspaceId, ...page).map(({ id }) => id);
  t.same(ids({}), ["d_3", "d_4", "d_2", "d_1", "d_0"]);
  t.same(ids({}, { before: [20] }), ["d_2", "d_1", "d_0"], "a time is passed over with all that stand at it");
  t.same(ids({}, { after: [5] }), ["d_3", "d_4", "d_2"]);
  t.same(ids({ repository: "acme/app" }, { before: [20, "d_4"], after: [4] }), ["d_2", "d_0"]);
  t.same(ids({}, { fits: ({ text }) => text > "2" }), ["d_3", "d_4"]);
});

interface Listed {
  readonly id: string;
  readonly holder: string;
  readonly state: string;
}
type Held = { readonly id: string; readonly by: { readonly holder: string }; readonly state: string };

const held = listedTable<Held, Listed>("held", {
  order: ["id"],
  listed: ({ id, by: { holder }, state }) => ({ id, holder, state }),
  indexes: { "held-by": ["holder", "state"] },
  changes: ({ id, state }, _reading, { before }) => (before === null ? [] : [{ topic: id, data: state }]),
});

t.test("rows may be indexed by computed values, and be indexed again without being written", async (t) => {
  const rows = memoryRows();
  const one: Held = { id: "h_1", by: { holder: "usr_1" }, state: "open" };
  const listed = { id: "h_1", holder: "usr_1", state: "open" };
  const self = { partition: workspaceId, kind: "probe", id: "1" };
  t.same(withTurn(self, (turn) => held.insert(turn, workspaceId, one), { rows }).changes, []);
  const { changes } = withTurn(self, (turn) => held.relist(turn, workspaceId, listed, { ...listed, state: "shut" }), {
    rows,
  });
  t.same(changes, [{ topic: "h_1", data: "shut" }]);
  t.same(held.all(rows, workspaceId, { holder: "usr_1", state: "shut" }), [one]);
  t.same(held.all(rows, workspaceId, { holder: "usr_1", state: "open" }), []);
});

const told = indexedTable<Part>("told-part", {
  order: ["id"],
  changes: ({ id, state }, _reading, { before }) =>
    before?.state === state ? [] : [{ topic: `part/${id}`, data: `${before?.state ?? "new"} to ${state}` }],
});

t.test("a table publishes a row once for each turn, for the last put with an entry", async (t) => {
  const { changes } = withTurn({ partition: workspaceId, kind: "probe", id: "1" }, (turn) => {
    told.insert(turn, workspaceId, one);
    turn.publishChange(topic<number>("other")("1"), 1);
    told.put(turn, workspaceId, one, { ...one, state: "shut" });
    told.put(turn, workspaceId, { ...one, state: "shut" }, { ...one, state: "shut", line: "b" });
  });
  t.same(changes, [
    { topic: "other/1", data: 1 },
    { topic: "part/part_1", data: "open to shut" },
  ]);
});
