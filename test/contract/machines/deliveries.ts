import type { MachineTable } from "../machine-tables.js";

/** The tables of the machines for integration deliveries, by kind. */
export const deliveryMachines: Readonly<Record<string, MachineTable>> = {
  "delivery-intake": {
    taking: {
      "deliveries.take": "same",
      "delivery.recorded": "same",
      "delivery.refuse": "same",
      "delivery.ready": "same",
      "delivery.left": "same",
      "delivery.due": "same",
      "delivery.redeliver": "same",
      "deliveries.redeliver": "same",
      "intake.gone": "clearing",
      woken: "same",
    },
    clearing: { "deliveries.take": "same", woken: "same" },
  },
  delivery: {
    accepted: { "delivery.placed": "working", "delivery.gone": "same" },
    working: {
      "delivery.goes-on": "same",
      "delivery.waits": "waiting",
      "delivery.done": "done",
      "delivery.failed": "failed",
      "delivery.ignored": "ignored",
      "delivery.unrouted": "unrouted",
      "delivery.gone": "same",
    },
    waiting: { woken: "same", "delivery.placed": "working", "delivery.gone": "same" },
    done: {},
    failed: {},
    ignored: {},
    unrouted: {},
  },
};
