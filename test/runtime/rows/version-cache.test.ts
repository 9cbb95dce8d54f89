import t from "tap";
import { RowCache } from "../../../runtime/rows/row-cache.js";
import { VersionCache } from "../../../runtime/rows/version-cache.js";
import { Overlays } from "../../../runtime/turns/overlays.js";
import { rowSpace } from "../../../storage/keys.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Change, Key, Reading } from "../../../storage/store.js";
import { memoryRows } from "../../support/turn.js";
import { VersionedReading } from "../../support/versioned-reading.js";

const KIB = 1024;
const versioned = () => new VersionedReading(memoryRows());
/** Returns the names that are cached under a group. */
const toHeld = (held: VersionCache<string>, reading: Reading, partition: string, names: readonly string[]) =>
  names.filter((name) => held.find(reading, partition)?.find("group", name) !== undefined);
const hold = (held: VersionCache<string>, reading: Reading, partition: string, name: string, weight = 0) =>
  held.find(reading, partition)?.hold("group", name, name, weight);

t.test("a value is found by its reading, partition, group and key, until the version changes", async (t) => {
  const held = new VersionCache<string>();
  const reading = versioned();
  held.find(reading, "ws_1")?.hold("one", "a", "of one", 10);
  held.find(reading, "ws_1")?.hold("two", "a", "of two", 10);
  const findIn = (partition: string, group: string, by: Reading = reading) =>
    held.find(by, partition)?.find(group, "a");
  t.same(
    ["one", "two", "three"].map((group) => findIn("ws_1", group)),
    ["of one", "of two", undefined],
  );
  t.equal(findIn("ws_2", "one"), undefined);
  t.equal(findIn("ws_1", "one", versioned()), undefined, "another reading may see other rows of the same version");
  reading.version = null;
  t.equal(held.find(reading, "ws_1"), null, "nothing is held while the version is unknown");
  reading.version = 1;
  t.equal(findIn("ws_1", "one"), "of one", "it was the same all the time");
  reading.version = 2;
  t.equal(findIn("ws_1", "one"), undefined);
  reading.version = 1;
  t.equal(findIn("ws_1", "one"), undefined, "what a new version dropped is gone");
  t.equal(held.find(memoryRows(), "ws_1"), null, "a reading without versions");
});

t.test("what is over the bound of a partition drops its own, and nothing of another", async (t) => {
  const held = new VersionCache<string>();
  const reading = versioned();
  hold(held, reading, "ws_2", "other");
  for (const name of ["a", "b", "c"]) hold(held, reading, "ws_1", name, 300 * KIB);
  t.same(toHeld(held, reading, "ws_1", ["a", "b", "c"]), ["a", "b", "c"]);
  hold(held, reading, "ws_1", "huge", 1024 * KIB);
  hold(held, reading, "ws_1", "c", 300 * KIB);
  t.same(
    toHeld(held, reading, "ws_1", ["a", "b", "c", "huge"]),
    ["a", "b", "c"],
    "one that is over it alone is not held, one that is held counts once",
  );
  hold(held, reading, "ws_1", "d", 300 * KIB);
  t.same(toHeld(held, reading, "ws_1", ["a", "b", "c", "d"]), ["d"]);
  t.same(toHeld(held, reading, "ws_2", ["other"]), ["other"]);
  const many = Array.from({ length: 5_000 }, (_, n) => `empty-${n}`);
  for (const name of many) hold(held, reading, "ws_3", name);
  const left = toHeld(held, reading, "ws_3", many);
  t.ok(left.length < many.length && left.includes("empty-4999"), "values that weigh nothing count too");
});

t.test("what is over the bound of all drops the oldest partitions, of whichever reading", async (t) => {
  const held = new VersionCache<string>();
  const [first, second] = [versioned(), versioned()];
  const names = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `ws_${from + n}`);
  const kept = (reading: Reading, partitions: readonly string[]) =>
    // Check the newest partitions first: a check creates the cache of a missing partition, which takes space.
    [...partitions].reverse().filter((partition) => toHeld(held, reading, partition, ["x"]).length > 0).length;
  const fill = (reading: Reading, partitions: readonly string[]) => {
    for (const partition of partitions) hold(held, reading, partition, "x", 1000 * KIB);
  };
  fill(first, names(0, 10));
  fill(second, names(0, 6));
  t.equal(kept(first, names(0, 10)) + kept(second, names(0, 6)), 16, "16 partitions of almost 1 MiB");
  fill(second, names(6, 10));
  t.equal(kept(second, names(0, 10)), 10);
  t.same([kept(first, names(4, 10)), kept(first, names(0, 4))], [6, 0]);
  // A new version frees the space of the previous one.
  for (let n = 2; n < 100; n++) {
    second.version = n;
    fill(second, names(9, 10));
  }
  t.equal(kept(first, names(5, 10)), 5);
  for (let n = 0; n < 100_000; n++) held.find(first, `empty_${n}`);
  t.equal(kept(first, names(5, 10)), 0, "partitions of which nothing is held count too");
});

t.test("each reading finds what it sees, before a flush, during it and after it", async (t) => {
  const store = createMemoryStore();
  const cache = new RowCache(store.reading, { tables: ["things"], freezes: false });
  const turns = new Overlays(cache);
  const held = new VersionCache<readonly unknown[]>();
  let made = 0;
  const listThings = (reading: Reading) => {
    const things = held.find(reading, "ws_1");
    const known = things?.find("all", "");
    if (known !== undefined) return known;
    made += 1;
    const values = reading.range({ prefix: ["ws_1", rowSpace, "things"] }).map(({ value }) => value);
    things?.hold("all", "", values, 100);
    return values;
  };
  const seen = () => ({ reads: listThings(cache), turns: listThings(turns) });
  const key = (id: string): Key => ["ws_1", rowSpace, "things", id];
  const madeIn = (work: () => unknown) => {
    const before = made;
    work();
    return made - before;
  };
  const change: Change = { op: "put", key: key("1"), value: "new" };

  t.same(seen(), { reads: [], turns: [] });
  t.equal(madeIn(seen), 0);
  turns.put(change.key, change.value);
  t.same(seen(), { reads: [], turns: ["new"] }, "a turn sees what is not durable yet");
  t.equal(madeIn(seen), 1, "which is not held");
  cache.committing(turns.close());
  t.same(seen(), { reads: [], turns: ["new"] });
  await store.commit([change]);
  t.same(seen(), { reads: ["new"], turns: ["new"] }, "durable, though nobody has heard of it");
  t.equal(madeIn(seen), 2);
  turns.flushed();
  cache.flushed();
  cache.applied([change], "here");
  t.same(seen(), { reads: ["new"], turns: ["new"] });
  t.equal(madeIn(seen), 0);
});
