import t from "tap";
import { deliveryWorld } from "../../support/delivery-world.js";
import { expr } from "../../support/integration.js";

t.test("a flood of deliveries to one integration leaves another's in time", async (t) => {
  const events = [
    {
      forEach: expr("body.list"),
      when: expr("body.list.all(a, a >= 0.0)"),
      raise: { opens: { line: "dev", title: expr("string(item)") } },
    },
  ];
  const world = await deliveryWorld({ webhook: { events } }, ["int_2"]);
  const list = Array.from({ length: 20 }, (_, n) => n);
  const flood = Array.from({ length: 100 }, () => world.send({ json: { list } }));
  const isOver = ({ endedAt }: { readonly endedAt: string | null }) => endedAt !== null;
  while (!world.deliveries().some(isOver)) await world.harness.advance(5);
  const quiet = world.send({ integrationId: "int_2", json: { list: [1] } });
  while (!world.deliveries("int_2").some(isOver)) await world.harness.advance(5);
  const done = world.deliveries().filter(isOver).length;
  t.ok(done < 30, `${done} of 100 were worked before it`);
  while (!world.deliveries().every(isOver)) await world.harness.advance(500);
  await Promise.all([...flood, quiet]);
  t.equal(world.raised().length, 100 * 20 + 1);
});
