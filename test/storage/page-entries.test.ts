import t from "tap";
import { PAGE_HEADER, PageEntries } from "../../storage/page-entries.js";

const PAGE_SIZE = 512;
const NODE_HEADER = 8;

/**
 * Writes a leaf page with these keys. Each key has a value of `valueBytes` bytes. As in LMDB, the page starts with the
 * pointers, and the entries are at its end.
 */
function writeLeaf(entries: PageEntries, keys: readonly string[], valueBytes = 4): void {
  const { bytes } = entries;
  bytes.fill(0);
  let offset = PAGE_SIZE - PAGE_HEADER;
  for (const [index, key] of keys.entries()) {
    offset -= NODE_HEADER + key.length + valueBytes;
    bytes.writeUInt16LE(offset, PAGE_HEADER + 2 * index);
    const at = PAGE_HEADER + offset;
    bytes.writeUInt16LE(valueBytes, at);
    bytes.writeUInt16LE(key.length, at + 6);
    bytes.write(key, at + NODE_HEADER, "latin1");
  }
  bytes.writeUInt16LE(2 * keys.length, 20);
  bytes.writeUInt16LE(offset, 22);
}

t.test("keys rise when each is greater than the one before, which is less when it is its beginning", async (t) => {
  const entries = new PageEntries(PAGE_SIZE);
  const rises = (...keys: string[]) => {
    writeLeaf(entries, keys);
    t.ok(entries.read(true));
    t.same(
      keys.map((_key, index) => entries.keyAt(index).toString("latin1")),
      keys,
    );
    return entries.risesFrom(0);
  };
  t.ok(rises("a"));
  t.ok(rises("a", "ab", "abc", "b", "b\xff"));
  t.notOk(rises("ab", "a"));
  t.notOk(rises("a", "a"));
  t.notOk(rises("a", "b", "\x7f", "\x7e"));
  t.notOk(rises("\xff", "\x7f"), "bytes are unsigned");
  t.notOk(rises("b", "a", "c"));
  t.ok(entries.risesFrom(1), "from the second on");
});

t.test("a page that is read in place of another has its own entries alone", async (t) => {
  const entries = new PageEntries(PAGE_SIZE);
  writeLeaf(entries, ["a", "b", "c"]);
  t.ok(entries.read(true));
  writeLeaf(entries, ["d"], 9);
  t.ok(entries.read(true));
  t.equal(entries.count, 1);
  t.match(entries.at(0), { data: 9, isBig: false });
  t.throws(() => entries.at(1), RangeError);
});

t.test("a page with an entry that is not inside it has none", async (t) => {
  const damages: readonly ((bytes: Buffer, at: number) => void)[] = [
    (bytes) => bytes.writeUInt16LE(3, 20),
    (bytes) => bytes.writeUInt16LE(PAGE_SIZE, 22),
    (bytes) => bytes.writeUInt16LE(PAGE_SIZE - PAGE_HEADER - NODE_HEADER + 1, PAGE_HEADER),
    (bytes) => bytes.writeUInt16LE(0, PAGE_HEADER),
    (bytes, at) => bytes.writeUInt16LE(6, at),
    (bytes, at) => bytes.writeUInt16LE(2, at + 6),
    (bytes, at) => bytes.writeUInt16LE(2, at + 4),
  ];
  for (const damage of damages) {
    const entries = new PageEntries(PAGE_SIZE);
    writeLeaf(entries, ["a"]);
    t.ok(entries.read(true));
    damage(entries.bytes, PAGE_SIZE - NODE_HEADER - 5);
    t.notOk(entries.read(true));
    t.equal(entries.count, 0);
  }
});
