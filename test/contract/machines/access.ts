import type { MachineTable } from "../machine-tables.js";

/** The tables of the machines for accounts, invites, OAuth states and trusts, by kind. */
export const accessMachines: Readonly<Record<string, MachineTable>> = {
  account: {
    any: { "link.send": "same", woken: "same", "effect.ended": "same" },
    unknown: { "session.open": "known | same" },
    known: { "session.open": "same", "session.close": "same", "name.set": "same" },
  },
  invite: {
    any: { "send.skipped": "same" },
    none: { "send.taken": "open" },
    open: {
      "send.taken": "same",
      "resend.refused": "same",
      "accept.refused": "same",
      "revoke.refused": "same",
      "resend.taken": "same",
      "revoke.taken": "revoked",
      "mail.ended": "same",
      "effect.ended": "same",
      "accept.taken": "accepted",
      "accept.late": "expired",
      "expiry.due": "expired",
      "expiry.early": "same",
    },
    expired: {
      "send.taken": "open",
      "resend.refused": "same",
      "accept.refused": "same",
      "revoke.refused": "same",
      "resend.taken": "open",
      "revoke.taken": "revoked",
      "mail.ended": "same",
      "effect.ended": "same",
      "invite.forget": "same",
    },
    revoked: {
      "send.taken": "open",
      "resend.refused": "same",
      "accept.refused": "same",
      "revoke.refused": "same",
      "revoke.taken": "same",
      "invite.forget": "same",
    },
    accepted: {
      "send.taken": "open",
      "resend.refused": "same",
      "accept.refused": "same",
      "revoke.refused": "same",
      "invite.forget": "same",
    },
  },
  link: {
    any: { "link.use": "same" },
    none: { "link.begin": "waiting" },
    waiting: { "link.begin": "same", woken: "same" },
  },
  "token-trust": {
    serving: { "trust.mint": "same", "trust.refuse": "same", woken: "same" },
  },
  "runner-trust": {
    serving: { "trust.mint": "same", "trust.refuse": "same", woken: "same" },
  },
};
