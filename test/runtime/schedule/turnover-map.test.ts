import fc from "fast-check";
import t from "tap";
import { TurnoverMap } from "../../../runtime/schedule/turnover-map.js";

t.test("it holds what a map holds, however much comes and goes", async (t) => {
  const step = fc.record({ name: fc.nat(40), value: fc.nat(), isAdded: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { minLength: 200, maxLength: 600 }), (steps) => {
      const map = new TurnoverMap<number, number>();
      const model = new Map<number, number>();
      for (const { name, value, isAdded } of steps) {
        if (isAdded) {
          map.set(name, value);
          model.set(name, value);
        } else if (map.delete(name) !== model.delete(name)) return false;
      }
      const isSame = [...model].every(([name, value]) => map.has(name) && map.get(name) === value);
      return isSame && map.size === model.size && JSON.stringify([...map]) === JSON.stringify([...model]);
    }),
  );
  t.pass("200 to 600 changes of 40 names, a hundred times");
});

t.test("an iteration goes on over what was there, whatever is added meanwhile", async (t) => {
  const map = new TurnoverMap<number, string>();
  for (let n = 0; n < 100; n++) map.set(n, "there");
  let seen = 0;
  for (const [name] of map) {
    seen += 1;
    map.delete(name);
    map.set(1_000 + name, "added");
    if (seen > 1_000) break;
  }
  t.ok(seen >= 100 && seen <= 1_000, `${seen} entries`);
  t.same([map.size, [...map.values()].every((value) => value === "added")], [100, true]);
});
