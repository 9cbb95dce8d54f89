import t from "tap";
import { RefusedDeliveries } from "../../../http/integration-work/refused-deliveries.js";

const to = { id: "int_1", workspaceId: "ws_1" };
const one = (bytes: number) => ({ headers: {}, bytes });

/** Records refused deliveries; the test decides when each write completes. */
function records() {
  const written: { id: string; count: number; bytes: number[] }[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const refused = new RefusedDeliveries(({ id }, { count, latest }) => {
    written.push({ id, count, bytes: latest.map(({ bytes }) => bytes) });
    return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  });
  return {
    refused,
    written,
    end: () => ends.shift()?.resolve(),
    fail: () => ends.shift()?.reject(new Error("closed")),
  };
}

t.test("a flood of deliveries that are not verified is one record at a time, and all are counted", async (t) => {
  const { refused, written, end } = records();
  const all = Array.from({ length: 1_000 }, (_, bytes) => refused.record(to, one(bytes)));
  const other = refused.record({ ...to, id: "int_2" }, one(7));
  t.same(written, [
    { id: "int_1", count: 1, bytes: [0] },
    { id: "int_2", count: 1, bytes: [7] },
  ]);
  end();
  end();
  await Promise.all([all[0], other]);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(written.length, 3);
  t.match(written[2], { id: "int_1", count: 999 });
  t.same(
    written[2]?.bytes,
    Array.from({ length: 20 }, (_, index) => 999 - index),
    "the newest are kept",
  );
  end();
  await Promise.all(all);
  const later = refused.record(to, one(1));
  t.equal(written.length, 4, "nothing is being written: it is at once");
  end();
  await later;
});

t.test("a record that fails fails those in it, and not those after it", async (t) => {
  const { refused, written, end, fail } = records();
  const first = refused.record(to, one(1));
  const second = refused.record(to, one(2));
  fail();
  await t.rejects(first, { message: "closed" });
  await new Promise((resolve) => setImmediate(resolve));
  t.match(written[1], { count: 1, bytes: [2] });
  end();
  await second;
});
