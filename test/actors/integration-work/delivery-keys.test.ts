import t from "tap";
import type { IntakeContext } from "../../../actors/integration-work/intake/delivery-intake.js";
import { ReceivedDelivery } from "../../../actors/integration-work/intake/received-delivery.js";
import { type DeliveryReceiver, toDeliveryKey } from "../../../actors/integration-work/intake/take-delivery.js";
import { resources } from "../../../actors/resources/resource.table.js";
import { isKey } from "../../../storage/key-check.js";
import { intake } from "../../support/intake-by-hand.js";
import { expr } from "../../support/integration.js";
import { INTEGRATION, WORKSPACE } from "../../support/integration-rows.js";

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

t.test("whatever a key is made of, it can be stored, and another key is another", async (t) => {
  const { rows } = intake();
  const integration = resources.get(rows, WORKSPACE, "integration", INTEGRATION) as DeliveryReceiver["integration"];
  const webhook = { ...integration.fields.webhook, delivery: expr("body.k") } as DeliveryReceiver["webhook"];
  const findKey = (k: string) => {
    const received = new ReceivedDelivery(Buffer.from(JSON.stringify({ k })), new Map());
    return toDeliveryKey({ integration, webhook }, received);
  };
  const keys = ["a", "a\ud800", "a\ud801", "\udc00a", "a\u0001", "a\u0004b", "a\0", "x".repeat(256), "é".repeat(255)];
  const found = keys.map((key) => findKey(key) ?? "");
  t.equal(new Set(found).size, keys.length);
  t.ok(found.every((key) => isKey([WORKSPACE, "row", "delivery-key", INTEGRATION, 1, key])));
  t.same([found[0], found.at(-1)], ["a", "é".repeat(255)], "what can be stored is");
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
