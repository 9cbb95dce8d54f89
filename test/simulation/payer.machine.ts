import { assign, setup } from "xstate";
import type { Address } from "../../runtime/address.js";
import type { Delivered, EffectEnded, Message } from "../../runtime/turn.js";
import { violate } from "./rows.js";

/** Asks a payer, one for each operation, to pay out. */
export type PayOut = Message & {
  readonly type: "pay-out";
  readonly op: string;
  readonly amount: number;
  readonly from: Address;
};
/** Reminds a payer, to no effect but on its state. */
export type Hurry = Message & { readonly type: "hurry" };
/** What a payer tells in the end. */
export type PaidOut = Message & { readonly type: "paid-out"; readonly op: string; readonly ok: boolean };

interface PayerContext {
  readonly op: string;
  readonly from: Address | null;
  readonly hurried: number;
}

type PayerEvent = Delivered<PayOut | Hurry | EffectEnded>;

/** Begins with an effect, ends when that does, and must know in between for whom it pays. */
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
