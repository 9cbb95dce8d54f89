import type { MachineTable } from "../machine-tables.js";

/** The tables of the machines for hooks and signing keys, by kind. */
export const hookMachines: Readonly<Record<string, MachineTable>> = {
  "hook-occurrence": {
    "new": { "fire.first": "attempting", "fire.looped": "failed" },
    attempting: {
      "delivery.next": "same",
      "delivery.again": "same",
      "delivery.done": "delivered",
      "delivery.refused": "refused",
      "delivery.retry": "waiting",
      "delivery.failed": "failed",
      "keeper.late": "failed",
    },
    waiting: { woken: "attempting" },
    delivered: {},
    failed: {},
    refused: {},
  },
  "hook-judge": {
    judging: { "hook.judge": "same | not taken", woken: "same", "keeper.late": "same | not taken" },
  },
  "hook-resender": {
    idle: { "hooks.resend": "sending" },
    sending: { "hooks.resend": "same", woken: "idle | same" },
  },
  "hook-rotation": {
    none: { "rotation.begun": "keeping", "rotation.over": "same" },
    keeping: { "rotation.begun": "same", "rotation.over": "none", woken: "none" },
  },
  "signing-keys": {
    keeping: { "keys.use": "same", woken: "same" },
  },
};
