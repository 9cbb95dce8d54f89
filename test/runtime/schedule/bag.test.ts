import t from "tap";
import { ABSENT, Bag, type Member } from "../../../runtime/schedule/bag.js";

const toMember = (): Member => ({ place: ABSENT });

t.test("whoever was added is there until it is removed, once", async (t) => {
  const bag = new Bag<Member>();
  const members = Array.from({ length: 5 }, toMember);
  for (const member of members) bag.add(member);
  t.equal(bag.size, 5);
  for (const index of [1, 4, 0]) t.equal(bag.remove(members[index] as Member), true);
  t.equal(bag.remove(members[1] as Member), false, "it is there no more");
  t.equal(bag.remove(toMember()), false, "it never was");
  t.same(new Set(bag.list()), new Set([members[2], members[3]]));
  bag.add(members[1] as Member);
  t.equal(bag.size, 3);
});

t.test("one of another bag is not removed", async (t) => {
  const [one, other] = [new Bag<Member>(), new Bag<Member>()];
  const [mine, foreign] = [toMember(), toMember()];
  one.add(mine);
  other.add(foreign);
  t.equal(one.remove(foreign), false);
  t.equal(one.size, 1);
  t.equal(other.remove(foreign), true);
});

t.test("a list stays as it was while members go", async (t) => {
  const bag = new Bag<Member>();
  const members = Array.from({ length: 3 }, toMember);
  for (const member of members) bag.add(member);
  for (const member of bag.list()) bag.remove(member);
  t.equal(bag.size, 0);
});
