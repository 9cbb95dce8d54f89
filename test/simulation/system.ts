import { setup } from "xstate";
import type { Catalogue, Effect, Gate, GatekeeperAnswer, Subscriber } from "../../runtime/cells/actor-type.js";
import { type Address, address } from "../../runtime/cells/address.js";
import type { Delivered, Message, Woken } from "../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { accountMachine, type Large, type Transferred, type Tries } from "./account.machine.js";
import { payerMachine } from "./payer.machine.js";
import { arrive, ledger } from "./rows.js";

/** The ids of the accounts in each partition. */
export const accountIds = ["a", "b", "c"] as const;
/** Reservations of at least this amount need the keepers' approval. */
const LARGE = 30;
const GATE_BOUND_MS = 5_000;

type Review = Message & {
  readonly type: "review";
  readonly amount: number;
  readonly gate: { readonly replyTo: Address; readonly key: string };
};
type Audit = Message & { readonly type: "audit"; readonly op: string };

/**
 * Agrees to a review or refuses it. The amount decides the answer and its time: immediately, late but before the
 * timeout, after the timeout, or never.
 */
const keeperMachine = setup({
  types: { events: {} as Delivered<Review> | Delivered<Woken> },
  actions: {
    review: ({ event }) => {
      if (event.type !== "review") return;
      const { replyTo, key } = event.gate;
      const choice = event.amount % 5;
      if (choice === 4) return;
      if (choice < 2) event.turn.send(replyTo, answered(key, choice === 1));
      else
        event.turn.wake(`${replyTo.partition}|${replyTo.id}|${key}`, event.turn.now + (choice === 2 ? 3_000 : 8_000));
    },
    answer: ({ event }) => {
      if (event.type !== "woken") return;
      const [partition = "", id = "", key = ""] = event.name.split("|");
      event.turn.send(address(partition, "gate", id), answered(key, false));
    },
  },
}).createMachine({
  id: "keeper",
  initial: "keeping",
  states: { keeping: { on: { review: { actions: "review" }, woken: { actions: "answer" } } } },
});

function answered(key: string, refuses: boolean): GatekeeperAnswer {
  return { type: "keeper.answered", key, refused: refuses ? "no" : null };
}

const auditorMachine = setup({
  types: { events: {} as Delivered<Audit> },
  actions: { audit: ({ event }) => arrive(event.turn, `audit-${event.op}`) },
}).createMachine({
  id: "auditor",
  initial: "auditing",
  states: { auditing: { on: { audit: { actions: "audit" } } } },
});

const auditing: Subscriber = {
  name: "auditing",
  facts: ["transferred"],
  handle: (fact, turn) => {
    const audit: Audit = { type: "audit", op: (fact as Transferred).op };
    turn.send(address(GLOBAL_PARTITION, "auditor", "all"), audit);
  },
};

const keeping: Gate = {
  name: "keeping",
  questions: ["large"],
  boundMs: GATE_BOUND_MS,
  gatekeepers: (question, partition) => {
    const { amount } = question as Large;
    if (amount < LARGE) return [];
    return ["first", "second"].map((id, index) => ({
      to: address(partition, "keeper", id),
      message: { type: "review", amount: amount + index } as Message,
    }));
  },
};

/** Returns the catalogue of the simulated process. */
export function createCatalogue(tries: Tries, effects: readonly Effect[]): Catalogue {
  const supervision = { attempts: 2, maxRestarts: 4, withinMs: 1_000, backoffMs: 4_000 };
  return {
    actors: [
      { kind: "account", machine: accountMachine(tries), version: 1, supervision, rowViews: [ledger] },
      { kind: "keeper", machine: keeperMachine, version: 1 },
      { kind: "payer", machine: payerMachine, version: 1 },
      { kind: "auditor", machine: auditorMachine, version: 1 },
    ],
    subscribers: [auditing],
    gates: [keeping],
    effects,
  };
}
