import t from "tap";
import type { IntakeContext } from "../../../actors/integration-work/delivery-intake.js";
import { intake } from "../../support/intake-by-hand.js";

const DAY_MS = 24 * 60 * 60 * 1_000;

t.test("of deliveries that are taken together a key counts from the first on, and each is answered", async (t) => {
  const { takeAll, answers, stored, actor } = intake();
  const ids = takeAll(["a", "b", "a", null, "a"]);
  t.match(answers(), [
    { isRepeated: false },
    { isRepeated: false },
    { id: ids[0], isRepeated: true },
    {},
    { id: ids[0] },
  ]);
  t.same(
    stored().map(({ repeated }) => repeated),
    [2, 0, 0],
  );
  actor.restore("taking", { ...actor.context<IntakeContext>(), backlog: 9_999 });
  takeAll(["c", "d", "a"]);
  t.match(answers(), [{ isRepeated: false }, { refused: "too-many-requests" }, { id: ids[0], isRepeated: true }]);
  t.equal(stored().length, 4);
});

t.test("a key is taken once in seven days, and again after a failure", async (t) => {
  const { actor, take, id, end, stored } = intake();
  const first = id(take("a"));
  t.match(take("a").answer, { id: first, isRepeated: true });
  t.equal(stored()[0]?.repeated, 1);
  actor.now += 7 * DAY_MS - 1;
  t.match(take("a").answer, { id: first, isRepeated: true });
  actor.now += 1;
  const second = id(take("a"));
  t.not(second, first);
  end(second, "failed");
  t.match(take("a").answer, { isRepeated: false });
  t.equal(take("b").answer !== undefined, true);
});

t.test("a key counts when its delivery is gone, but for one that failed; some go before they have to", async (t) => {
  const { actor, take, id, end, stored } = intake();
  const ids = Array.from({ length: 20 }, (_, n) => id(take(`k${n}`)));
  for (const [n, each] of ids.slice(0, 19).entries()) end(each, n === 3 ? "failed" : "done");
  actor.restore("taking", { ...actor.context<IntakeContext>(), ended: 10_000 });
  end(ids[19] ?? "");
  t.same(
    stored().map((row) => row.id),
    ids.slice(16),
    "the 16 oldest",
  );
  t.equal(actor.context<IntakeContext>().ended, 9_985);
  t.match(take("k0").answer, { id: ids[0], isRepeated: true });
  t.match(take("k3").answer, { isRepeated: false }, "it failed");
  t.match(take("k19").answer, { id: ids[19], isRepeated: true });
});

t.test("a key of the week before counts, whatever the clock was put to", async (t) => {
  const { actor, take, id } = intake();
  const hourMs = DAY_MS / 24;
  const nextWeekMs = Math.ceil(actor.now / (7 * DAY_MS)) * 7 * DAY_MS;
  actor.now = nextWeekMs + hourMs;
  const late = id(take("late"));
  actor.now = nextWeekMs - hourMs;
  const [first, second] = [id(take("a")), id(take("b"))];
  t.match(take("a").answer, { id: first, isRepeated: true });
  actor.now = nextWeekMs + 2 * hourMs;
  t.match(take("a").answer, { id: first, isRepeated: true }, "of the period before");
  t.match(take("b").answer, { id: second, isRepeated: true });
  t.match(take("late").answer, { id: late, isRepeated: true });
  t.match(take("c").answer, { isRepeated: false });
});
