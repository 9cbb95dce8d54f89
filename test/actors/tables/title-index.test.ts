import t from "tap";
import { indexedTable } from "../../../actors/tables/indexed-table.js";
import { EVERYONE, searchTitles, type Titled, titleEntries } from "../../../actors/tables/title-index.js";
import { areFound, splitWords, toSearchedWords } from "../../../actors/tables/words.js";
import { table } from "../../../storage/table.js";
import { countingReading } from "../../support/counting-rows.js";
import { memoryRows } from "../../support/turn.js";

interface Thing {
  readonly id: string;
  readonly title: string;
  readonly size: number;
}

const index = table<Titled>("thing-title");
let computed = 0;
const things = indexedTable<Thing>("thing", {
  order: ["id"],
  derived: [
    titleEntries<Thing>(index, {
      scope: () => EVERYONE,
      titles: ({ id, title }) => {
        computed += 1;
        return [{ id, kind: "thing", title, teamId: null }];
      },
      isSame: (before, after) => before.title === after.title,
    }),
  ],
});

const vocabulary = ["fix", "fixes", "fixture", "the", "login", "page", "api", "rate", "größe", "日本", "#12", "v2"];
const toId = (n: number) => `thing_${String(n).padStart(5, "0")}`;

function filled(count: number) {
  const rows = memoryRows();
  const all: Thing[] = [];
  for (let n = 0; n < count; n += 1) {
    const words = [n % 12, (n * 5 + 1) % 12, (n * 7 + 2) % 11].map((at) => vocabulary[at] ?? "");
    const thing = { id: toId(n), title: words.join(n % 2 === 0 ? " " : ", "), size: 1 };
    things.insert(rows, "ws_1", thing);
    all.push(thing);
  }
  return { rows, all };
}

t.test("a search finds what a comparison with every title finds, the newest first", async (t) => {
  const { rows, all } = filled(400);
  const wrong: string[] = [];
  for (const q of [
    ...vocabulary,
    "fi",
    "f",
    "fix log",
    "LOGIN the",
    "p a",
    "#12 fix",
    "12",
    "gr 日",
    "none",
    "fix none",
    "",
  ]) {
    const words = toSearchedWords(q);
    const expected = all
      .filter(({ title }) => areFound(words, splitWords(title)))
      .map(({ id }) => id)
      .reverse();
    const { entries, isCut } = searchTitles(index, rows, "ws_1", { scope: EVERYONE, words, maxRead: 5_000 });
    const found = entries.map(({ id }) => id);
    if (isCut || JSON.stringify(found) !== JSON.stringify(expected)) wrong.push(q);
  }
  t.same(wrong, []);
});

t.test("a search reads a bounded number of entries, and says that there may be more", async (t) => {
  const { rows } = filled(3_000);
  const counting = countingReading(rows);
  for (const q of ["f", "fix", "fix the login", "f t l p a r"]) {
    counting.reset();
    const words = toSearchedWords(q);
    const found = searchTitles(index, counting, "ws_1", { scope: EVERYONE, words, maxRead: 100 });
    t.ok(found.isCut, q);
    t.ok(counting.read <= 300, `${q} read ${counting.read} entries`);
  }
  things.insert(rows, "ws_1", { id: toId(9_999), title: "fix the zebra", size: 1 });
  counting.reset();
  const words = toSearchedWords("fix zebra");
  const rare = searchTitles(index, counting, "ws_1", { scope: EVERYONE, words, maxRead: 100 });
  t.same([rare.entries.map(({ id }) => id), rare.isCut], [[toId(9_999)], false], "the rarest word is enough");
  t.ok(counting.read <= 10, `it read ${counting.read} entries`);
});

t.test("entries follow a new title and go with the row, and an equal title costs nothing", async (t) => {
  const rows = memoryRows();
  const first = { id: toId(1), title: "Old words", size: 1 };
  things.insert(rows, "ws_1", first);
  computed = 0;
  const larger = { ...first, size: 2 };
  things.put(rows, "ws_1", first, larger);
  t.equal(computed, 0);
  things.put(rows, "ws_1", larger, { ...larger, title: "New words" });
  const find = (q: string) =>
    searchTitles(index, rows, "ws_1", { scope: EVERYONE, words: toSearchedWords(q), maxRead: 10 }).entries.length;
  t.same([find("old"), find("new"), find("words")], [0, 1, 1]);
  things.remove(rows, "ws_1", { ...larger, title: "New words" });
  t.same(index.list(rows, "ws_1"), []);
});
