import fc from "fast-check";
import t from "tap";
import { Ranking } from "../../../actors/runners/ranking.js";

interface Item {
  readonly name: number;
  rank: number;
}

const isBefore = (left: Item, right: Item) =>
  left.rank < right.rank || (left.rank === right.rank && left.name < right.name);

const put = fc.record({ name: fc.nat(20), rank: fc.nat(5), isRemoved: fc.boolean() });

t.test("after any puts, moves and removals, the first item is that of a sort", async () => {
  fc.assert(
    fc.property(fc.array(put, { maxLength: 60 }), (steps) => {
      const ranking = new Ranking(isBefore);
      const items = new Map<number, Item>();
      return steps.every(({ name, rank, isRemoved }) => {
        const item = items.get(name) ?? { name, rank };
        item.rank = rank;
        if (isRemoved) {
          items.delete(name);
          ranking.remove(item);
        } else {
          items.set(name, item);
          ranking.put(item);
        }
        const [first] = [...items.values()].sort((left, right) => (isBefore(left, right) ? -1 : 1));
        return ranking.first === first && ranking.size === items.size;
      });
    }),
    { numRuns: 1_000 },
  );
});

t.test("removing the first item repeatedly returns the items in order", async (t) => {
  const ranking = new Ranking<number>((left, right) => left < right);
  const numbers = Array.from({ length: 200 }, (_, n) => (n * 7_919) % 200);
  for (const number of numbers) ranking.put(number);
  const taken: number[] = [];
  for (let first = ranking.first; first !== undefined; first = ranking.first) {
    taken.push(first);
    ranking.remove(first);
  }
  t.same(
    taken,
    [...numbers].sort((left, right) => left - right),
  );
  ranking.remove(7);
  t.equal(ranking.size, 0, "one that is not there is fine");
});
