import fc from "fast-check";
import t from "tap";
import {
  type DeliveryRow,
  deliverySources,
  deliveryStates,
} from "../../../actors/integration-work/deliveries/delivery.js";
import { deliveries } from "../../../actors/integration-work/deliveries/delivery.table.js";
import { intake } from "../../support/intake-by-hand.js";
import { INTEGRATION, TEAM, WORKSPACE } from "../../support/integration-rows.js";

const orNull = (value: fc.Arbitrary<string>) => fc.oneof(fc.constant(null), value);
const few = fc.oneof(fc.constant(0), fc.nat(3));
const text = fc.string({ maxLength: 4 });

const delivery: fc.Arbitrary<DeliveryRow> = fc.record(
  {
    id: fc.constant("dlv_1"),
    integrationId: fc.constant(INTEGRATION),
    teamId: fc.constant(TEAM),
    source: fc.constantFrom(...deliverySources),
    block: fc.constantFrom("webhook" as const, "poll" as const),
    key: orNull(text),
    receivedAt: fc.constant("2026-03-04T05:06:07.008Z"),
    state: fc.constantFrom(...deliveryStates),
    reason: orNull(text),
    endedAt: orNull(text),
    attempts: few,
    retryAt: orNull(text),
    headers: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
    body: fc.constantFrom(null, { digest: null, bytes: 1, content: new Uint8Array([1]) }),
    cursor: orNull(text),
    causes: fc.array(text, { maxLength: 2 }),
    repeated: few,
    skipped: few,
    redeliveryOf: orNull(text),
    redeliveredAs: orNull(text),
  },
  { noNullPrototype: true },
);

t.test("a delivery is read as it was written, also by an earlier release, with all its members", async (t) => {
  const { rows } = intake();
  const key = deliveries.key(WORKSPACE, INTEGRATION, "dlv_1");
  const read = () => deliveries.get(rows, WORKSPACE, INTEGRATION, "dlv_1");
  fc.assert(
    fc.property(delivery, (row) => {
      deliveries.insert(rows, WORKSPACE, row);
      t.strictSame(read(), row);
      rows.put(key, row);
      t.strictSame(read(), row);
    }),
    { numRuns: 200 },
  );
});

t.test("what has come, and nothing more, is stored without what it may get", async (t) => {
  const { rows, takeAll } = intake();
  const [id = ""] = takeAll(["a"]);
  const stored = rows.get<DeliveryRow>(deliveries.key(WORKSPACE, INTEGRATION, id));
  t.same(Object.keys(stored ?? {}).sort(), [
    ...["block", "body", "headers", "key", "receivedAt", "source", "state", "teamId"],
  ]);
});
