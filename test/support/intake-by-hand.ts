import { deliveryIntakeRef } from "../../actors/integration-work/deliveries/delivery.messages.js";
import { deliveries } from "../../actors/integration-work/deliveries/delivery.table.js";
import { emptyIntake, type IntakeContext } from "../../actors/integration-work/intake/delivery-intake.js";
import { deliveryIntakeActor } from "../../actors/integration-work/intake/delivery-intake.machine.js";
import { INTEGRATION, integrationRows, TEAM, WORKSPACE } from "./integration-rows.js";
import { stepByHand } from "./turn.js";

/** Returns the intake of an integration's deliveries, stepped by hand over in-memory rows. */
export function intake(context: Partial<IntakeContext> = {}) {
  const rows = integrationRows({ webhook: { events: [{ raise: {} }] } });
  const actor = stepByHand(deliveryIntakeActor, deliveryIntakeRef(WORKSPACE, INTEGRATION), { rows });
  actor.restore("taking", { ...emptyIntake, ...context });
  const findDelivery = (key: string | null, bytes = 2) => ({
    integrationId: INTEGRATION,
    teamId: TEAM,
    source: "webhook",
    block: "webhook",
    key,
    headers: {},
    cursor: null,
    causes: [],
    redeliveryOf: null,
    body: Buffer.alloc(bytes, `${key ?? ""} `),
  });
  let latest: readonly { readonly id: string }[] = [];
  /** Accepts deliveries that arrive in one message. */
  const takeAll = (keys: readonly (string | null)[]) => {
    const deliveries = keys.map((key) => findDelivery(key));
    const taken = actor.take({ type: "deliveries.take", deliveries } as never);
    latest = taken.answer as typeof latest;
    return latest.map(({ id }) => id);
  };
  const take = (key: string | null = null, bytes = 2) => {
    const taken = actor.take({ type: "deliveries.take", deliveries: [findDelivery(key, bytes)] } as never);
    return { ...taken, answer: (taken.answer as typeof latest)[0] };
  };
  const id = (taken: ReturnType<typeof take>) => taken.answer?.id ?? "";
  /** Ends a delivery, as the delivery's actor does. */
  const end = (which: string, state: "done" | "failed" | "unrouted" = "done") => {
    const row = deliveries.get(rows, WORKSPACE, INTEGRATION, which);
    if (row !== undefined) deliveries.put(rows, WORKSPACE, row, { ...row, state, endedAt: "2026-01-01T00:00:00.000Z" });
    return actor.take({ type: "delivery.left", id: which, isOver: true, bytes: row?.body?.bytes ?? 0 } as never);
  };
  return {
    actor,
    rows,
    take,
    takeAll,
    answers: () => latest,
    id,
    end,
    stored: () => deliveries.list(rows, WORKSPACE, [INTEGRATION]),
  };
}
