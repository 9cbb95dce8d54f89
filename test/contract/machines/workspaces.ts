import type { MachineTable } from "../machine-tables.js";

/** The tables of the machines for workspaces, their slugs, hashes and keys, retention and bodies, by kind. */
export const workspaceMachines: Readonly<Record<string, MachineTable>> = {
  workspace: {
    any: { "name.ask": "same", "resource.create": "same" },
    absent: { "workspace.open": "open | same" },
    open: {
      "workspace.open": "same",
      "resource.update": "same",
      "resource.delete": "closed | same",
      "member.role": "same",
      "member.remove": "same",
      "team.join": "same",
      "team.leave": "same",
      "token.expire": "same",
      woken: "same",
    },
    closed: {
      "workspace.open": "same",
      "resource.update": "same",
      "resource.delete": "same",
      "member.role": "same",
      "member.remove": "same",
      "team.join": "same",
      "team.leave": "same",
      woken: "same",
    },
  },
  "slug-claims": {
    keeping: {
      "slug.claim": "same",
      "name.confirm": "same",
      "name.release": "same",
      "name.lapse": "same",
      woken: "same",
    },
  },
  "hash-reservations": { keeping: { "hash.reserve": "same", "hash.release": "same", woken: "same" } },
  "sealing-key": {
    keeping: { "sealing.use": "same" },
  },
  retention: {
    "new": { "retention.begin": "resting" },
    resting: { "retention.begin": "same", woken: "sweeping" },
    sweeping: { "retention.begin": "same", woken: "same", "effect.ended": "resting | same" },
  },
  "blob-sweeper": {
    idle: { "blobs.unused": "waiting" },
    waiting: { "blobs.unused": "same", woken: "same" },
  },
};
