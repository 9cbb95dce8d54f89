import t from "tap";
import { createMemoryStore } from "../../storage/memory-store.js";
import type { Change, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";

interface Row {
  readonly text: string;
}

const notes = table<Row>("note");

t.test("rows are listed by a prefix of their id, in order, by page, and separate from other tables", async (t) => {
  const store = createMemoryStore();
  const changes: Change[] = [];
  const writing: Writing = {
    get: store.reading.get,
    range: store.reading.range,
    put: (key, value) => changes.push({ op: "put", key, value }),
    remove: (key) => changes.push({ op: "remove", key }),
  };
  for (const text of ["c", "a", "d", "b"]) notes.put(writing, "ws_1", ["team_1", text], { text });
  notes.put(writing, "ws_1", "single", { text: "single" });
  notes.put(writing, "ws_2", ["team_1", "a"], { text: "of another workspace" });
  table<Row>("other").put(writing, "ws_1", ["team_1", "a"], { text: "of another table" });
  notes.remove(writing, "ws_1", "team_1", "d");
  await store.commit(changes);

  const listTexts = (...page: Parameters<typeof notes.list> extends [unknown, unknown, ...infer Rest] ? Rest : never) =>
    notes.list(store.reading, "ws_1", ...page).map(({ text }) => text);
  t.same(listTexts(), ["single", "a", "b", "c"]);
  t.same(listTexts(["team_1"]), ["a", "b", "c"]);
  t.same(listTexts(["team_1"], { limit: 2 }), ["a", "b"]);
  t.same(listTexts(["team_1"], { after: ["team_1", "a"] }), ["b", "c"]);
  t.same(listTexts(["team_1"], { before: ["team_1", "c"], reverse: true }), ["b", "a"]);
  t.same(listTexts(["team_2"]), []);
  t.same(notes.get(store.reading, "ws_1", "team_1", "a"), { text: "a" });
  t.equal(notes.get(store.reading, "ws_1", "team_1", "d"), undefined);
  t.same(notes.entries(store.reading, "ws_2"), [
    { key: ["ws_2", "row", "note", "team_1", "a"], value: { text: "of another workspace" } },
  ]);
});
