import fc from "fast-check";
import t from "tap";
import { excerptReasons, excerptTexts, firstBytes, lastBytes } from "../../../../actors/replays/figures/excerpt.js";

const text = fc.string({ unit: "grapheme", maxLength: 80 });
const max = fc.integer({ min: 0, max: 120 });

t.test("the beginning and the end of a text have as many whole characters as fit", async () => {
  fc.assert(
    fc.property(text, max, (whole, bytes) => {
      const [first, last] = [firstBytes(whole, bytes), lastBytes(whole, bytes)];
      // A UTF-8 character has at most four bytes. If fewer than four bytes are left in a part, it may have no space for
      // another character.
      const isFull = (part: string) => part === whole || Buffer.byteLength(part) > bytes - 4;
      const isWithin = (part: string) => Buffer.byteLength(part) <= bytes && !part.includes("\ufffd");
      return (
        [first, last].every((part) => isFull(part) && (isWithin(part) || whole.includes("\ufffd"))) &&
        whole.startsWith(first) &&
        whole.endsWith(last)
      );
    }),
  );
});

t.test("an excerpt of reasons has the first ones, in as many bytes as there may be", async (t) => {
  const reasons = fc.array(fc.record({ text, claim: fc.option(fc.nat(9)) }), { maxLength: 8 });
  fc.assert(
    fc.property(reasons, fc.integer({ min: 0, max: 400 }), (all, bytes) => {
      const kept = excerptReasons(all, bytes);
      const size = kept.reduce((sum, reason) => sum + Buffer.byteLength(JSON.stringify(reason)), 0);
      const areFirst = kept.every(({ text: part, claim }, at) => {
        const { text: whole = "", claim: of } = all[at] ?? {};
        return claim === of && (at < kept.length - 1 ? whole === part : whole.startsWith(part));
      });
      return size <= bytes && areFirst;
    }),
  );
  const long = { text: "x".repeat(5_000) };
  t.equal(JSON.stringify(excerptReasons([long], 1_000)[0]).length, 1_000, "one that is too long fills it");
  t.same(excerptReasons([{ text: "short" }], 1_000), [{ text: "short" }]);
});

t.test("an excerpt of texts gives each an equal part", async (t) => {
  t.same(excerptTexts(["aaaa", "b", "cccc"], 9), ["aaa", "b", "ccc"]);
  t.same(excerptTexts([], 9), []);
});
