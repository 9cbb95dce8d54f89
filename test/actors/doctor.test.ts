import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { createExaminations, createKinds } from "../../actors/catalogue.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import type { Change, Entry, Key, Store } from "../../storage/store.js";
import { openUnpacked } from "../fixtures/open.js";
import { unpackFixture } from "../fixtures/unpack.js";
import { storeWith } from "../support/migrating.js";
import { flipBytes, migratedFixture } from "./flipping.js";

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });

/** Returns the doctor's findings in a store (`found`), and the findings that remain after the repair (`left`). */
async function examine(store: Store): Promise<{ readonly found: readonly string[]; readonly left: readonly string[] }> {
  const look = async (repairs: boolean) => {
    const whats: string[] = [];
    for (const examination of createExaminations(kinds, 0)) {
      const findings = [...examination(store.reading)];
      whats.push(...findings.map(({ what }) => what));
      if (repairs) await store.commit(findings.flatMap(({ repair }) => repair));
    }
    return whats;
  };
  const found = await look(false);
  await look(true);
  return { found, left: await look(false) };
}

t.test("in copies of a store with one byte changed, no read returns what was never written", async (t) => {
  const { folder, entries } = await migratedFixture(t);
  const bytes = readFileSync(join(folder, "data.mdb"));
  const flips = await flipBytes(join(folder, "copy"), bytes, entries, { copies: 20, seed: 11 });
  t.same(flips.wrong, []);
  t.same(flips.unnoticed, [], "and where rows are not found, the doctor sees why");
  t.comment(JSON.stringify(flips));
});

t.test("a store that a service left is whole", async (t) => {
  const { entries } = await migratedFixture(t);
  t.same(await examine(await storeWith(entries)), { found: [], left: [] });
});

t.test("and so is one that a service went on with", async (t) => {
  const unpacked = unpackFixture(t, "format-1");
  const { service, ada, manifest } = await openUnpacked(t, unpacked);
  const pools = `/api/resources/workspaces/${manifest.workspaceId}/runner-pools`;
  for (const key of ["one", "two"]) await ada.create(pools, { key });
  await service.stop();
  const store = await openLmdbStore({ folder: unpacked.folder });
  t.same(await examine(store), { found: [], left: [] });
  await store.close();
});

t.test("what follows from other rows is found missing, wrong or too much, and repaired", async (t) => {
  const { entries } = await migratedFixture(t);
  const first = (...prefix: Key): Entry => {
    const [space, table] = prefix;
    const found = entries.find(({ key }) => key[1] === space && (table === undefined || key[2] === table));
    if (found === undefined) throw new Error(`there is no ${prefix.join(" ")}`);
    return found;
  };
  const task = first("row", "task");
  const damages: readonly [name: string, what: string, changes: readonly Change[]][] = [
    ["an index", "indexes of task: missing", [{ op: "remove", key: first("row", "open-task").key }]],
    [
      "an index entry of no row",
      "indexes of task: without its row",
      [{ op: "put", key: [String(task.key[0]), "row", "open-task", "x", "y"], value: true }],
    ],
    ["a derived row", "indexes of member: missing", [{ op: "remove", key: first("row", "member-email").key }]],
    ["a directory", "directory: missing", [{ op: "remove", key: first("row", "membership").key }]],
    [
      "a directory entry",
      "directory: differs from its row",
      [{ op: "put", key: first("row", "membership").key, value: { workspaceId: "ws_other" } }],
    ],
    ["a wake-up", "wake-ups: missing", [{ op: "remove", key: first("timer").key }]],
    [
      "a wake-up of nobody",
      "wake-ups: without its row",
      [{ op: "put", key: ["~", "timer", 1, "ws_1", "task", "task_1", "late"], value: null }],
    ],
    [
      "a count of references",
      "wrong count of references to a body",
      [{ op: "put", key: first("row", "blob-use").key, value: { count: 99, unusedSinceMs: null } }],
    ],
  ];
  for (const [name, what, changes] of damages) {
    const store = await storeWith(entries);
    await store.commit(changes);
    const { found, left } = await examine(store);
    t.ok(found.includes(what), `${name}: ${found.join(", ")}`);
    t.same(left, [], name);
  }
});

t.test("what only a backup has is found, and left", async (t) => {
  const { entries } = await migratedFixture(t);
  const actor = entries.find(({ key, value }) => key[1] === "actor" && key[2] === "task" && value !== null);
  const effect = entries.find(({ key }) => key[1] === "effect");
  const body = entries.find(({ key }) => key[1] === "row" && key[2] === "blob");
  if (actor === undefined || effect === undefined || body === undefined) throw new Error("the fixture lacks rows");
  const damages: readonly [what: string, changes: readonly Change[]][] = [
    [
      "an actor in a state that its machine does not have",
      [{ op: "put", key: actor.key, value: { ...Object(actor.value), state: { value: "nowhere", context: {} } } }],
    ],
    ["a body that rows refer to is missing: restore it from a backup", [{ op: "remove", key: body.key }]],
    ["an actor of no kind", [{ op: "put", key: ["ws_1", "actor", "nobody", "1"], value: { version: 1 } }]],
  ];
  for (const [what, changes] of damages) {
    const store = await storeWith(entries);
    await store.commit(changes);
    const { found, left } = await examine(store);
    t.ok(found.includes(what), `${what}: ${found.join(", ")}`);
    t.ok(left.includes(what), what);
  }
});
