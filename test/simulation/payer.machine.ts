import { assign, setup } from "xstate";
import type { Address } from "../../runtime/cells/address.js";
import type { Delivered, EffectEnded, Message } from "../../runtime/turns/turn.js";
import { violate } from "./rows.js";

/** Tells a payer to pay out. Each operation has its own payer. */
export type PayOut = Message & {
  readonly type: "pay-out";
  readonly op: string;
  readonly amount: number;
  readonly from: Address;
};
/** Reminds a payer. The message only changes the payer's state. */
export type Hurry = Message & { readonly type: "hurry" };
/** The payer's final message, with the outcome. */
export type PaidOut = Message & { readonly type: "paid-out"; readonly op: string; readonly ok: boolean };

interface PayerContext {
  readonly op: string;
  readonly from: Address | null;
  readonly hurried: number;
}

type PayerEvent = Delivered<PayOut | Hurry | EffectEnded>;

/**
 * Starts an effect, and stops when the effect ends. Until then, the payer must remember the account that it pays for.
 */
export const payerMachine = setup({
  types: { context: {} as PayerContext, events: {} as PayerEvent },
  actions: {
    begin: assign(({ context, event }) => {
      if (event.type !== "pay-out") return context;
      const { op, from, amount, turn } = event;
      turn.start({ name: "pay", id: op, input: { amount } });
      return { op, from, hurried: 0 };
    }),
    hurry: assign(({ context }) => ({ ...context, hurried: context.hurried + 1 })),
    end: ({ context, event }) => {
      if (event.type !== "effect.ended") return;
      const { turn, result } = event;
      const paid: PaidOut = { type: "paid-out", op: context.op, ok: result.ok };
      if (context.from === null) violate(turn, `${turn.self.id} forgot for whom it paid`);
      else turn.send(context.from, paid);
      turn.stop();
    },
  },
}).createMachine({
  id: "payer",
  context: { op: "", from: null, hurried: 0 },
  initial: "new",
  states: {
    new: { on: { "pay-out": { target: "paying", actions: "begin" } } },
    paying: { on: { hurry: { actions: "hurry" }, "effect.ended": { target: "over", actions: "end" } } },
    over: {},
  },
});
