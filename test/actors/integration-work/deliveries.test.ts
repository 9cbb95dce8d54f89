import t from "tap";
import { deliveryActor } from "../../../actors/integration-work/deliveries/delivery.machine.js";
import { deliveryRef } from "../../../actors/integration-work/deliveries/delivery.messages.js";
import { newDelivery } from "../../../actors/integration-work/deliveries/delivery-progress.js";
import { deliveryWorld } from "../../support/delivery-world.js";
import { expr } from "../../support/integration.js";
import { INTEGRATION, integrationRows, WORKSPACE } from "../../support/integration-rows.js";
import { stepByHand } from "../../support/turn.js";

const opening = {
  webhook: {
    mine: expr("body.sender == 'signalbox'"),
    route: { by: expr("body.project"), to: { web: { line: "dev", channel: "C1" } } },
    events: [
      {
        forEach: expr("body.issues"),
        when: expr("item.state == 'open'"),
        raise: {
          say: expr("item.title"),
          opens: { title: expr("item.title") },
          marks: { issue: { value: expr("item.id") } },
        },
      },
    ],
  },
};
const issue = (id: string, state = "open") => ({ id, state, title: `Issue ${id}` });

t.test("entries are evaluated whole, and raised in order of arrival", async (t) => {
  const world = await deliveryWorld(opening);
  const sent = Array.from({ length: 20 }, (_, n) =>
    world.send({ json: { project: "web", issues: [issue(`${n}a`), issue(`${n}b`, "closed"), issue(`${n}c`)] } }),
  );
  await world.harness.advance(5_000);
  await Promise.all(sent);
  const rows = world.deliveries();
  t.same([...new Set(rows.map(({ state }) => state))], ["done"]);
  t.equal(rows.length, 20);
  t.same(
    world.raised().map(({ marks }) => marks[0]?.value),
    Array.from({ length: 20 }, (_, n) => [`${n}a`, `${n}c`]).flat(),
  );
  const [first] = rows;
  t.equal(first?.skipped, 1);
  t.same(
    world.entries(first?.id ?? "").map(({ item, outcome, reason }) => [item, outcome, reason]),
    [
      [0, "opened", null],
      [2, "opened", null],
    ],
  );
  t.match(world.raised()[0], { channel: "C1", opens: { lineId: "line_1", title: "Issue 0a", station: null } });
});

t.test("what is its own, has no route or holds nowhere opens nothing", async (t) => {
  const world = await deliveryWorld(opening);
  const sent = [
    { sender: "signalbox", project: "web", issues: [issue("1")] },
    { project: "other", issues: [issue("2")] },
    { project: "web", issues: [issue("3", "closed")] },
  ].map((json) => world.send({ json }));
  await world.harness.advance(2_000);
  await Promise.all(sent);
  t.same(
    world.deliveries().map(({ state, reason }) => [state, reason]),
    [
      ["ignored", "mine"],
      ["unrouted", "no route for other"],
      ["ignored", "no event matches"],
    ],
  );
  t.same(world.raised(), []);
});

t.test("a delivery that waits for a lookup ends with its integration, and asks for no place", async (t) => {
  const rows = integrationRows({ webhook: opening.webhook });
  const actor = stepByHand(deliveryActor, deliveryRef(WORKSPACE, "dlv_gone"), { rows });
  actor.restore("waiting", { ...newDelivery, integrationId: INTEGRATION });
  const { stopped, sent } = actor.take({ type: "woken", name: "retry", dueMs: actor.now } as never);
  t.same([stopped, sent], [true, []]);
});
