import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { open } from "lmdb";
import t, { type Test } from "tap";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { rewriteSpace } from "../../storage/migration-walks.js";
import { migrate } from "../../storage/migrations.js";
import type { Key, Reading } from "../../storage/store.js";
import { crc32OfShort, isIntact, isSealed, SEAL_BYTES, SEALED_FORMAT, seal } from "../../storage/stored-value.js";
import { flipped, RawStore } from "../support/raw-store.js";

function temporary(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-checksums-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const damaged = { name: "StoreError", code: "damaged" };
const FORMAT = ["~", "meta", "format"];

/** Reads all undamaged rows, and the keys of the damaged rows. */
function readPast(reading: Reading, limit?: number): { readonly values: unknown[]; readonly lost: Key[] } {
  const lost: Key[] = [];
  const entries = reading.range({ prefix: ["p", "row"], limit, onDamaged: (key) => lost.push(key) });
  return { values: entries.map(({ value }) => value), lost };
}

t.test("a value is intact under its own key alone, and not with any byte changed", async (t) => {
  const key = ["p", "row", "thing", 7, "é"];
  const bytes = seal(key, Buffer.from([...Array(SEAL_BYTES).fill(0), 0x81, 0xa1, 0x61, 0x01]));
  t.ok(isIntact(key, bytes, bytes.length));
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) t.notOk(isIntact(key, flipped(bytes, at, 1 << bit), bytes.length));
  }
  const others: Key[] = [
    ["p", "row", "thing", 6, "é"],
    ["p", "row", "thing", "7", "é"],
    ["p", "row", "thing7", "é"],
    [],
  ];
  for (const other of others) t.notOk(isIntact(other, bytes, bytes.length), JSON.stringify(other));
  for (let length = 0; length < bytes.length; length++) t.notOk(isIntact(key, bytes, length));
});

t.test("the checksum of a value is the one that earlier releases wrote", async (t) => {
  const written: [Key, number, string][] = [
    [["p", "row", "thing", 7, "é"], 4, "c123c2081d"],
    [["ws_1", "row", "thing", "a"], 160, "c1464d3ae9"],
    [["ws_1", "row", "thing", "a"], 161, "c1ad113a76"],
    [["~", "meta", "format"], 1, "c17a91c5e5"],
    [[7, "x"], 1000, "c109a26eb9"],
  ];
  // Check in both orders. Then a partition's keys follow each other, and also follow keys of other partitions.
  for (const [key, length, expected] of [...written, ...written.toReversed()]) {
    const bytes = Buffer.from(Array.from({ length: SEAL_BYTES + length }, (_, index) => (index - SEAL_BYTES) * 37));
    t.equal(seal(key, bytes).subarray(0, SEAL_BYTES).toString("hex"), expected, `${key}, ${length} bytes`);
  }
});

/** Returns the FNV-1a hash of a key, computed part by part. A stored value contains this hash of its key. */
function toHash(key: Key): number {
  const units = key.flatMap((part) => [
    ...Array.from(String(part), (unit) => unit.charCodeAt(0)),
    typeof part === "string" ? 0 : 1,
  ]);
  return units.reduce((hash, unit) => Math.imul(hash ^ unit, 0x01000193), 0x811c9dc5) >>> 0;
}

t.test("a checksum is zlib's crc32 that begins with the hash of the key, whatever keys came before", async () => {
  const part = fc.constantFrom<Key[number]>("ws_1", "ws_2", "row", "1", 1, 0, "", "e\u0301");
  const value = fc.record({
    key: fc.array(part, { minLength: 1, maxLength: 8 }),
    length: fc.oneof(fc.constantFrom(1, 159, 160, 161, 162), fc.integer({ min: 1, max: 600 })),
    left: fc.uint8Array({ minLength: SEAL_BYTES, maxLength: SEAL_BYTES }),
    room: fc.constantFrom(0, 1, 40),
  });
  fc.assert(
    fc.property(fc.array(value, { maxLength: 20 }), (values) =>
      values.every(({ key, length, left, room }) => {
        const own = Buffer.from(Array.from({ length }, (_, index) => (index * 37) ^ length));
        const bytes = seal(key, Buffer.concat([left, own]));
        const longer = Buffer.concat([bytes, Buffer.alloc(room, 1)]);
        return bytes.readUInt32LE(1) === crc32(own, toHash(key)) && isIntact(key, longer, bytes.length);
      }),
    ),
  );
});

t.test("the sum of a short value is zlib's crc32 of it", async (t) => {
  const bytes = Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 167) ^ (index >> 3)));
  for (const seed of [0, 1, 0x8000_0000, 0xffff_ffff]) {
    const differ = [...bytes.keys()].filter(
      (end) => crc32OfShort(bytes, end % 7, end, seed) !== crc32(bytes.subarray(end % 7, end), seed),
    );
    t.same(differ, []);
  }
});

t.test("a row whose bytes changed on the disk is refused by every read, and all others are read", async (t) => {
  const folder = temporary(t);
  const rows = ["a", "b", "c", "d"].map((name, n) => ({
    key: ["p", "row", name],
    value: n === 1 ? true : { name, n },
  }));
  const store = await openLmdbStore({ folder });
  await store.commit(rows.map((row) => ({ op: "put" as const, ...row })));
  await store.close();
  for (const { key } of rows.slice(0, 2)) {
    const raw = new RawStore(folder);
    const whole = raw.get(key);
    await raw.flip(key);
    await raw.close();
    const again = await openLmdbStore({ folder });
    const view = again.view();
    const rest = rows.filter((row) => row.key !== key).map(({ value }) => value);
    for (const reading of [again.reading, view]) {
      t.throws(() => reading.get(key), damaged);
      t.throws(() => reading.range({ prefix: ["p"] }), damaged);
      t.same(reading.get(["p", "row", "c"]), { name: "c", n: 2 });
      t.same(readPast(reading), { values: rest, lost: [key] });
      t.same(readPast(reading, 2), { values: rest.slice(0, 2), lost: [key] }, "the limit counts what is read");
      t.same(reading.range({ prefix: ["p", "row"], after: ["p", "row", "b"] }), rows.slice(2));
    }
    view.close();
    await again.close();
    const repairing = new RawStore(folder);
    await repairing.put(key, whole);
    await repairing.close();
  }
});

t.test("a value under another key, or without a checksum, is refused", async (t) => {
  const folder = temporary(t);
  const store = await openLmdbStore({ folder });
  await store.commit([{ op: "put", key: ["p", "a"], value: { of: "a" } }]);
  await store.commit([{ op: "put", key: ["p", "b"], value: 3 }]);
  await store.close();
  const raw = new RawStore(folder);
  await raw.put(["p", "c"], raw.get(["p", "a"]));
  await raw.put(["p", "b"], raw.get(["p", "b"]).subarray(SEAL_BYTES));
  await raw.close();
  const again = await openLmdbStore({ folder });
  for (const name of ["b", "c"]) t.throws(() => again.reading.get(["p", name]), damaged, name);
  t.same(again.reading.get(["p", "a"]), { of: "a" });
  await again.close();
});

t.test("the names of fields, stored once for records of one shape, have a checksum too", async (t) => {
  const folder = temporary(t);
  const store = await openLmdbStore({ folder });
  await store.commit([{ op: "put", key: ["p", "a"], value: { first: 1, second: 2 } }]);
  await store.close();
  const raw = open<Buffer, symbol>({ path: folder, noSubdir: false, encoding: "binary", overlappingSync: false });
  const shapes = raw.get(Symbol.for("structures"));
  if (shapes === undefined) throw new Error("there are no shapes");
  await raw.put(Symbol.for("structures"), flipped(shapes, shapes.length - 1, 1));
  await raw.close();
  const again = await openLmdbStore({ folder });
  t.throws(() => again.reading.get(["p", "a"]), damaged);
  await again.close();
});

/** Writes a store in the format of releases before checksums. */
async function unsealed(folder: string, values: readonly unknown[]): Promise<void> {
  const root = open<unknown, (string | number)[]>({
    path: folder,
    noSubdir: false,
    overlappingSync: false,
    encoding: "msgpack",
    sharedStructuresKey: Symbol.for("structures"),
  });
  for (const [n, value] of values.entries()) await root.put(["p", "row", n], value);
  await root.put(["~", "meta", "mail-sequence"], 9);
  await root.put(["q", "meta", "migration"], { to: 4, walk: 0, after: null });
  await root.put(FORMAT, SEALED_FORMAT - 1);
  await root.close();
}

const none = Array.from({ length: SEALED_FORMAT - 2 }, (_, index) => ({ to: index + 2, title: "", walks: [] }));
const sealing = { to: SEALED_FORMAT, title: "sealed", walks: [rewriteSpace("row", { of: "all" })] };
const values = [{ a: 1 }, { a: 2, b: [true] }, "text", 5, true, null, Buffer.from([0xc1, 1, 2]), -1, { a: 3 }];
const migrating = { folder: "", steps: [...none, sealing], log: { info: () => undefined }, nowMs: () => 0 };

t.test("a store of an earlier format is read, and every value of it has a checksum once it was migrated", async (t) => {
  const folder = temporary(t);
  await unsealed(folder, values);
  const store = await openLmdbStore({ folder });
  t.same(
    store.reading.range({ prefix: ["p", "row"] }).map(({ value }) => value),
    values,
  );
  await store.commit([{ op: "put", key: ["p", "row", "new"], value: { of: "this", release: true } }]);
  t.same(store.reading.get(["p", "row", 0]), { a: 1 });
  await migrate(store, { ...migrating, slice: 2 });
  t.same(
    store.reading.range({ prefix: ["p", "row"], limit: values.length }).map(({ value }) => value),
    values,
  );
  await store.close();
  const raw = new RawStore(folder);
  t.ok(raw.all().every(isSealed), "the rows, and those of the store itself");
  await raw.put(["p", "row", 3], Buffer.from([5]));
  await raw.close();
  const again = await openLmdbStore({ folder });
  t.throws(() => again.reading.get(["p", "row", 3]), damaged, "from then on a value without one is damaged");
  t.equal(again.reading.get(["~", "meta", "mail-sequence"]), 9);
  await again.close();
});

t.test("a migration that was cut short goes on, with values of both forms", async (t) => {
  const folder = temporary(t);
  await unsealed(folder, values);
  const ending = new AbortController();
  ending.abort();
  const store = await openLmdbStore({ folder });
  await t.rejects(migrate(store, { ...migrating, slice: 2, ending: ending.signal }), { name: "MigrationCutShort" });
  await store.close();
  const again = await openLmdbStore({ folder });
  t.same(
    again.reading.range({ prefix: ["p", "row"] }).map(({ value }) => value),
    values,
  );
  await migrate(again, migrating);
  t.same(
    again.reading.range({ prefix: ["p", "row"] }).map(({ value }) => value),
    values,
  );
  await again.close();
});

t.test("a store whose format is damaged or lost is refused, with what to do", async (t) => {
  const folder = temporary(t);
  const store = await openLmdbStore({ folder });
  await migrate(store, migrating);
  await store.commit([{ op: "put", key: ["p", "a"], value: 1 }]);
  await store.commit([{ op: "remove", key: FORMAT }]);
  await t.rejects(migrate(store, migrating), { ...damaged, message: /has no format number: restore a backup/ });
  await store.commit([{ op: "put", key: FORMAT, value: SEALED_FORMAT }]);
  await store.close();
  const raw = new RawStore(folder);
  const whole = raw.get(FORMAT);
  await raw.close();
  for (const [at] of whole.entries()) {
    const changed = new RawStore(folder);
    await changed.put(FORMAT, flipped(whole, at));
    await changed.close();
    await t.rejects(openLmdbStore({ folder }), damaged, `byte ${at}`);
  }
});
