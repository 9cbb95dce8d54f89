import fc from "fast-check";
import t from "tap";
import { BoundedList, toJsonList } from "../../../http/wire/bounded-list.js";

const item = fc.record({ text: fc.string({ unit: "grapheme", maxLength: 30 }) });

t.test("a list has as many items as fit into its bytes, and one at least", async () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 20 }), fc.nat(300), (items, max) => {
      const list = new BoundedList<{ readonly text: string }>(max);
      const added = items.findIndex((one) => !list.add(one));
      const taken = items.slice(0, added < 0 ? items.length : added);
      const toSize = (some: readonly object[]) =>
        some.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)), 0);
      return (
        list.json === JSON.stringify(taken) &&
        list.items.length === taken.length &&
        (taken.length <= 1 || toSize(taken) <= max) &&
        (added < 0 || toSize(items.slice(0, added + 1)) > max)
      );
    }),
  );
});

t.test("a list as JSON is made with other work in between", async (t) => {
  const items = Array.from({ length: 120 }, (_, n) => ({ n }));
  let pauses = 0;
  const json = await toJsonList(items, {
    pause: async () => {
      pauses += 1;
    },
  });
  t.equal(json, JSON.stringify(items));
  t.ok(pauses > 0);
});
