import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { open } from "lmdb";
import t, { type Test } from "tap";
import { keyWriter, type WriteKey } from "../../storage/lmdb-values.js";

const BYTES = 2_048;

/** Returns the binding's own key writer. */
function toBinding(t: Test): WriteKey {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-keys-"));
  const root = open({ path: folder, noSubdir: false, overlappingSync: false });
  t.teardown(async () => {
    await root.close();
    rmSync(folder, { recursive: true });
  });
  return (root as unknown as { writeKey: WriteKey }).writeKey;
}

const written = (write: WriteKey, key: unknown, inSequence?: boolean) => {
  const target = Buffer.alloc(BYTES, 0xff);
  return { end: write(key, target, 12, inSequence), target };
};

t.test("every key is written byte for byte as the binding does", async (t) => {
  const binding = toBinding(t);
  const own = keyWriter(binding);
  const units = ["\u0000", "\u0004", "\u001b", "\u001f", " ", "~", "\u007f", "\u0080", "é", "\u07ff", "ł", "👍", "a"];
  const text = fc.oneof(
    fc.array(fc.constantFrom(...units), { maxLength: 70 }).map((all) => all.join("")),
    fc.string({ maxLength: 70 }),
    fc.constantFrom("x".repeat(63), "x".repeat(64), "x".repeat(200), ""),
  );
  const part = fc.oneof(text, fc.integer(), fc.maxSafeInteger(), fc.constantFrom(0, -1, 2 ** 40));
  const key = fc.oneof(fc.array(part, { maxLength: 8 }), text, fc.integer(), fc.constant(Symbol.for("structures")));
  fc.assert(
    fc.property(key, fc.constantFrom(undefined, true, false), (key, inSequence) => {
      const [expected, found] = [written(binding, key, inSequence), written(own, key, inSequence)];
      if (found.end !== expected.end) return false;
      // The bytes after the key are never read. They are leftovers from writing the key.
      return found.target.subarray(0, found.end + 1).equals(expected.target.subarray(0, expected.end + 1));
    }),
    { numRuns: 3_000 },
  );
});
