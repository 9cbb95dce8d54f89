import t from "tap";
import { RoundRobin } from "../../../runtime/schedule/round-robin.js";

t.test("clients are served in turn, each its own in order", async (t) => {
  const queue = new RoundRobin<string>();
  for (const item of ["a0", "a1", "a2", "b0", "c0", "c1"]) queue.push(item.slice(0, 1), item);
  t.equal(queue.length, 6);
  t.same([queue.take(), queue.take()], ["a0", "b0"]);
  queue.push("d", "d0");
  queue.push("b", "b1");
  const rest = Array.from({ length: 6 }, () => queue.take());
  t.same(rest, ["c0", "a1", "d0", "b1", "c1", "a2"]);
  t.equal(queue.take(), undefined);
  t.equal(queue.length, 0);
});
