import { setImmediate } from "node:timers/promises";
import t from "tap";
import { BODY_SLICE_BYTES, readBodyInSlices } from "../../../actors/tables/text-blobs.js";
import type { Reading } from "../../../storage/store.js";
import { liveBytes } from "../../support/live-heap.js";

/**
 * Returns a reading whose only row is the body. As a store does, the reading returns a new copy of the bytes for each
 * read.
 */
function storeOf(body: Uint8Array): Reading & { readonly reads: number } {
  let reads = 0;
  return {
    get: <Value>() => {
      reads += 1;
      return Buffer.from(body) as Value;
    },
    range: () => [],
    get reads() {
      return reads;
    },
  };
}

t.test("a body is read in slices that keep no other bytes in memory", async (t) => {
  for (const length of [1, BODY_SLICE_BYTES - 1, BODY_SLICE_BYTES, BODY_SLICE_BYTES + 1, 3 * BODY_SLICE_BYTES]) {
    const body = Buffer.alloc(length, "a text ");
    const slices = [...readBodyInSlices(storeOf(body), "ws_1", "digest")];
    t.equal(slices.length, Math.ceil(length / BODY_SLICE_BYTES));
    t.ok(Buffer.concat(slices).equals(body), `${length} bytes`);
    for (const slice of slices) t.ok(slice.buffer.byteLength <= BODY_SLICE_BYTES);
  }
});

t.test("who waits after a slice keeps that slice alone, and gets the rest later", async (t) => {
  const body = Buffer.alloc(8 * BODY_SLICE_BYTES, "a long text ");
  const reading = storeOf(body);
  const before = liveBytes();
  const readers = Array.from({ length: 8 }, () => readBodyInSlices(reading, "ws_1", "digest"));
  const firsts = readers.map((reader) => reader.next().value ?? Buffer.alloc(0));
  t.equal(reading.reads, readers.length);
  await setImmediate();
  // The garbage collector frees the bytes of buffers in the background. The next measurement waits until they are free.
  liveBytes();
  const held = liveBytes() - before;
  t.ok(held < 9 * BODY_SLICE_BYTES, `${readers.length} readers hold ${held} bytes`);
  for (const [n, reader] of readers.entries()) {
    t.ok(Buffer.concat([firsts[n] ?? Buffer.alloc(0), ...reader]).equals(body));
  }
  t.ok(reading.reads <= 2 * readers.length, "a reader that does not wait reads the body once");
});
