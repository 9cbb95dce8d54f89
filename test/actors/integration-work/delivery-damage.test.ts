import t from "tap";
import { deliveries } from "../../../actors/integration-work/deliveries/delivery.table.js";
import { uses } from "../../../actors/tables/blob.table.js";
import { readPastDamage } from "../../../storage/past-damage.js";
import { deliveryWorld } from "../../support/delivery-world.js";
import { INTEGRATION, WORKSPACE } from "../../support/integration-rows.js";

const DAY_MS = 24 * 60 * 60 * 1_000;

t.test("damaged deliveries do not end the daily removal of old ones", async (t) => {
  const world = await deliveryWorld({ webhook: { events: [{ raise: {} }] } });
  const { harness } = world;
  const large = { text: "x".repeat(100 * 1024) };
  for (const key of ["a", "b", "c", "d"]) {
    await Promise.all([world.send({ key, ...(key === "c" && { json: large }) }), harness.advance(1_000)]);
  }
  const toId = (key: string) => world.deliveries().find((row) => row.key === key)?.id ?? "";
  const digest = world.deliveries().find((row) => row.key === "c")?.body?.digest ?? "";
  t.not(digest, "", "a large body is a row of its own");
  harness.crash();
  for (const key of [deliveries.key(WORKSPACE, INTEGRATION, toId("a")), uses.key(WORKSPACE, digest)]) {
    harness.disk.damaged.add(JSON.stringify(key));
  }
  await harness.start();
  const left = () => [...deliveries.rows(readPastDamage(harness.durable), WORKSPACE)].map(({ key }) => key);
  t.same(left(), ["b", "c", "d"]);
  await harness.advance(32 * DAY_MS);
  t.same(left(), ["c"], "deliveries without damage are removed; one whose body's count is damaged stays");
  await Promise.all([world.send({ key: "late" }), harness.advance(1_000)]);
  t.ok(left().includes("late"));
  await harness.advance(32 * DAY_MS);
  t.same(left(), ["c"], "so is one that came after the sweep met the damage");
});
