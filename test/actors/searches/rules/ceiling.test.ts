import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { compare, decimal, fraction, fromText, sum, toNumber } from "../../../../actors/fraction.js";
import { freeAmount, grantPart, paysParts, type UnderWay } from "../../../../actors/searches/rules/ceiling.js";
import { allotments, euro } from "./snapshots.js";

const spend = (ceiling: number, counted: string, underWay: readonly UnderWay[] = []) => ({
  ceiling: euro(ceiling),
  counted,
  underWay,
});

const one = { searchReplay: 1, heldOutReplay: 0, agentRun: 0 };

t.test("what runs reserves what it has not spent of its allotment, and what it spent beyond counts", async (t) => {
  const free = (counted: string, underWay: readonly UnderWay[]) => toNumber(freeAmount(spend(10, counted, underWay)));
  t.equal(free("0/1", []), 10);
  t.equal(free("2/1", []), 8);
  t.equal(free("2/1", [{ allotted: euro(3), counted: "2/1" }]), 7);
  t.equal(free("4/1", [{ allotted: euro(3), counted: "4/1" }]), 6);
  t.equal(free("12/1", [{ allotted: euro(3), counted: "1/1" }]), -4);
});

t.test("a part starts when what is free is exactly its allotment, and not a billionth below", async (t) => {
  const grant = (counted: string) =>
    grantPart("searchReplay", { allotments, spending: spend(3.3, counted), toCome: { ...one, heldOutReplay: 3 } });
  t.same(grant("3/10"), euro(3));
  t.equal(grant("300000001/1000000000"), null);
});

t.test("what earlier parts left is shared by those to come, by their allotments", async (t) => {
  const terms = { allotments, spending: spend(18, "0/1"), toCome: { searchReplay: 2, heldOutReplay: 1, agentRun: 1 } };
  // 18 are left for parts that were planned at 2 x 3 + 2 + 1 = 9, so each part gets twice its planned amount.
  t.same(grantPart("searchReplay", terms), euro(6));
  t.same(grantPart("heldOutReplay", terms), euro(4));
  t.same(grantPart("agentRun", terms), euro(2));
});

t.test("a part that nobody expected any more counts as one to come", async (t) => {
  const none = { searchReplay: 0, heldOutReplay: 0, agentRun: 0 };
  t.same(grantPart("searchReplay", { allotments, spending: spend(18, "0/1"), toCome: none }), euro(18));
});

t.test("what earlier parts overran is not taken from the next ones, but from the last", async (t) => {
  const toCome = { searchReplay: 1, heldOutReplay: 3, agentRun: 0 };
  t.same(
    grantPart("searchReplay", { allotments, spending: spend(9, "1/1"), toCome }),
    euro(3),
    "8 is free of 9 wanted",
  );
  const last = { searchReplay: 0, heldOutReplay: 3, agentRun: 0 };
  const starts: (number | undefined)[] = [];
  for (let counted = 0; counted < 3; counted++) {
    const underWay = starts.map((amount = 0) => ({ allotted: euro(amount), counted: "0/1" }));
    starts.push(grantPart("heldOutReplay", { allotments, spending: spend(5, "0/1", underWay), toCome: last })?.amount);
  }
  t.same(starts, [2, 2, undefined]);
});

t.test("several parts are paid when all of them are", async (t) => {
  const parts = { searchReplay: 1, heldOutReplay: 0, agentRun: 1 };
  t.ok(paysParts(allotments, spend(4, "0/1"), parts));
  t.notOk(paysParts(allotments, spend(4, "1/1000000000"), parts));
});

t.test("what is granted is never above what is free, however much came before", async () => {
  const amount = fc.integer({ min: 0, max: 4_000 });
  const underWay = fc.array(fc.tuple(amount, amount), { maxLength: 4 });
  const count = fc.nat(5);
  fc.assert(
    fc.property(
      fc.constantFrom("searchReplay", "heldOutReplay", "agentRun"),
      amount,
      underWay,
      fc.tuple(count, count, count),
      (kind, ended, parts, [searchReplay, heldOutReplay, agentRun]) => {
        const running = parts.map(([allotted, counted]) => ({
          allotted: euro(allotted / 100),
          counted: `${counted}/100`,
        }));
        const counted = sum([fraction(ended, 100), ...running.map((each) => fromText(each.counted))]);
        const spending = spend(39, `${counted.numerator}/${counted.denominator}`, running);
        const toCome = { searchReplay, heldOutReplay, agentRun };
        const granted = grantPart(kind, { allotments, spending, toCome });
        const own = decimal(allotments[kind].amount);
        assert.equal(granted === null, compare(freeAmount(spending), own) < 0);
        if (granted === null) return;
        assert.ok(compare(decimal(granted.amount), own) >= 0);
        assert.ok(compare(decimal(granted.amount), freeAmount(spending)) <= 0);
      },
    ),
  );
});
