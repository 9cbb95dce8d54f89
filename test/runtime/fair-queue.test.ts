import fc from "fast-check";
import t from "tap";
import { FairQueue } from "../../runtime/fair-queue.js";

function filled(places: number, waiting: Readonly<Record<string, number>>): FairQueue<string> {
  const queue = new FairQueue<string>(places);
  for (const [party, count] of Object.entries(waiting)) {
    for (let n = 0; n < count; n++) queue.push(party, `${party}${n}`);
  }
  return queue;
}

const taken = (queue: FairQueue<string>, most: number) =>
  Array.from({ length: most }, () => queue.take()).filter((item) => item !== undefined);

t.test("parties have places in turn, each its own in order", async (t) => {
  t.same(taken(filled(8, { a: 3, b: 1, c: 2 }), 8), ["a0", "b0", "c0", "a1", "c1", "a2"]);
});

t.test("a party alone has three quarters of the places, and of few all", async (t) => {
  for (const [places, share] of [
    [1, 1],
    [3, 3],
    [4, 3],
    [8, 6],
    [512, 384],
  ] as const) {
    const queue = filled(places, { a: 1_000 });
    t.equal(taken(queue, places).length, share);
    t.equal(queue.length, 1_000 - share);
    if (share === places) continue;
    queue.push("b", "b0");
    t.equal(queue.take(), "b0", "who comes then waits for nobody");
    t.equal(queue.take(), undefined);
    queue.leave("a");
    t.equal(queue.take(), `a${share}`);
  }
});

t.test("whatever happens, nothing is lost or overtakes its own, and a share is never passed", async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("push" as const), party: fc.constantFrom("a", "b", "c") }),
    fc.record({ do: fc.constantFrom("take" as const, "leave" as const), party: fc.constantFrom("a", "b", "c") }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.array(step, { maxLength: 200 }), (places, steps) => {
      const queue = new FairQueue<{ party: string; n: number }>(places);
      const pushed: Record<string, number> = {};
      const next: Record<string, number> = {};
      const placed: Record<string, number> = {};
      for (const { do: what, party } of steps) {
        if (what === "push") {
          pushed[party] = (pushed[party] ?? 0) + 1;
          queue.push(party, { party, n: pushed[party] });
        } else if (what === "leave") {
          if ((placed[party] ?? 0) === 0) continue;
          placed[party] = (placed[party] ?? 0) - 1;
          queue.leave(party);
        } else {
          const item = queue.take();
          const share = places - Math.floor(places / 4);
          const isWanted = Object.keys(pushed).some(
            (one) => (pushed[one] ?? 0) > (next[one] ?? 0) && (placed[one] ?? 0) < share,
          );
          if ((item !== undefined) !== isWanted) throw new Error(`${JSON.stringify(item)} was taken`);
          if (item === undefined) continue;
          next[item.party] = (next[item.party] ?? 0) + 1;
          placed[item.party] = (placed[item.party] ?? 0) + 1;
          if (item.n !== next[item.party]) throw new Error(`${item.party} ${item.n} overtook`);
          if ((placed[item.party] ?? 0) > share) throw new Error("a share was passed");
        }
      }
      const waiting = Object.keys(pushed).reduce((sum, one) => sum + (pushed[one] ?? 0) - (next[one] ?? 0), 0);
      if (queue.length !== waiting) throw new Error(`${queue.length} wait, not ${waiting}`);
    }),
  );
});
