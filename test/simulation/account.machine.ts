import { assign, setup } from "xstate";
import { type Address, address } from "../../runtime/cells/address.js";
import { topic } from "../../runtime/feeds/topic.js";
import type {
  Answered,
  Delivered,
  EffectEnded,
  Fact,
  GateAnswer,
  GateQuestion,
  Message,
  Turn,
  Woken,
} from "../../runtime/turns/turn.js";
import type { Hurry, PaidOut, PayOut } from "./payer.machine.js";
import { arrive, operations, recordOperation, reminders, violate } from "./rows.js";

/** An operation that a client requests. `op` is its id in every part of the simulation. */
export type Operation = Message & { readonly op: string } & (
    | { readonly type: "deposit"; readonly amount: number }
    | { readonly type: "transfer"; readonly amount: number; readonly to: Address }
    | { readonly type: "reserve"; readonly amount: number; readonly to: Address }
    | { readonly type: "pay"; readonly amount: number }
    | { readonly type: "ping" }
    | { readonly type: "cancel-ping"; readonly target: string }
    | { readonly type: "remind"; readonly name: string; readonly inMs: number }
    | { readonly type: "forget"; readonly name: string }
    | { readonly type: "infect"; readonly to: Address }
    | { readonly type: "stumble"; readonly to: Address; readonly tries: number }
    | { readonly type: "crash" }
  );

/** A transfer of money between two accounts. */
export type Credit = Message & {
  readonly type: "credit";
  readonly op: string;
  readonly amount: number;
  readonly from: Address;
  /** Sequence number of the credits from this sender to this receiver. */
  readonly number: number;
};
type Poison = Message & { readonly type: "poison"; readonly op: string };
type Stumbling = Message & { readonly type: "stumbling"; readonly op: string; readonly tries: number };

export type Large = GateQuestion & { readonly name: "large"; readonly amount: number };
export type Transferred = Fact & { readonly name: "transferred"; readonly op: string };

type AccountMessage = Operation | Credit | Poison | Stumbling | Woken | EffectEnded | GateAnswer | PaidOut;

interface AccountContext {
  readonly balance: number;
  readonly sentTo: Readonly<Record<string, number>>;
  readonly heardFrom: Readonly<Record<string, number>>;
  readonly reserved: Readonly<Record<string, { readonly amount: number; readonly to: Address }>>;
  readonly paying: Readonly<Record<string, number>>;
}

/**
 * Number of attempts for each `stumbling` message. This map is not part of an actor's state, so a failed turn does not
 * reset it.
 */
export type Tries = Map<string, number>;

/**
 * An account of the simulated system. The total money of all accounts must neither grow nor shrink without a reason.
 * The account's turns use every kind of intent (message, effect, timer and others). The account has one state. A guard
 * rejects debits that exceed the balance.
 */
export function accountMachine(tries: Tries) {
  type AccountEvent = Delivered<AccountMessage & Answered<string>>;
  return setup({
    types: { context: {} as AccountContext, events: {} as AccountEvent },
    actions: { act: assign(({ context, event }) => act(context, event, event.turn, tries)) },
    guards: {
      covered: ({ context, event }) => !debits(event) || context.balance >= event.amount,
    },
  }).createMachine({
    id: "account",
    initial: "open",
    context: { balance: 0, sentTo: {}, heardFrom: {}, reserved: {}, paying: {} },
    states: {
      open: { on: { "*": { guard: "covered", actions: "act" } } },
    },
  });
}

function debits(message: AccountMessage): message is Operation & { readonly amount: number } {
  return message.type === "transfer" || message.type === "reserve" || message.type === "pay";
}

function act(
  context: AccountContext,
  message: AccountMessage,
  turn: Turn<string>,
  tries: Tries,
): Partial<AccountContext> {
  switch (message.type) {
    case "credit":
      return hearCredit(context, message, turn);
    case "poison":
      throw new Error("poison");
    case "stumbling":
      return stumble(message, turn, tries);
    case "woken":
      return wake(message, turn);
    case "effect.ended":
      return endEffect(context, message, turn);
    case "paid-out":
      return endPayment(context, message, turn);
    case "gate.answered":
      return hearGate(context, message, turn);
    case "crash":
      recordOperation(turn, message.op, { kind: "crash", created: 0 });
      turn.send(turn.self, { type: "poison" });
      throw new Error("crash");
    default:
      return operate(context, message, turn);
  }
}

function operate(context: AccountContext, message: Exclude<Operation, { type: "crash" }>, turn: Turn<string>) {
  const { partition, id } = turn.self;
  if (operations.get(turn, partition, message.op) !== undefined) violate(turn, `${message.op} was done twice`);
  const created = message.type === "deposit" ? message.amount : 0;
  recordOperation(turn, message.op, { kind: message.type, created });
  turn.publishChange(topic<unknown>("account")(id), { op: message.op });
  turn.reply(message.op);
  switch (message.type) {
    case "deposit":
      return { balance: context.balance + message.amount };
    case "transfer": {
      const fact: Transferred = { name: "transferred", op: message.op };
      turn.publish(fact);
      return { balance: context.balance - message.amount, ...credit(context, message, turn) };
    }
    case "reserve": {
      const question: Large = { name: "large", id: message.op, amount: message.amount };
      turn.askGate(question);
      const reserved = { ...context.reserved, [message.op]: { amount: message.amount, to: message.to } };
      return { balance: context.balance - message.amount, reserved };
    }
    case "pay":
      pay(message, turn);
      return {
        balance: context.balance - message.amount,
        paying: { ...context.paying, [message.op]: message.amount },
      };
    case "ping":
      turn.start({ name: "ping", id: message.op, input: null });
      return {};
    case "cancel-ping":
      turn.cancelEffect(message.target);
      recordOperation(turn, `cancelled-${id}-${message.target}`, { kind: "cancelled", created: 0 });
      return {};
    default:
      return operateBesides(message, turn);
  }
}

function operateBesides(message: Exclude<Operation, { type: "crash" }>, turn: Turn): Partial<AccountContext> {
  const { partition, id } = turn.self;
  switch (message.type) {
    case "remind": {
      const dueMs = turn.now + message.inMs;
      turn.wake(message.name, dueMs);
      reminders.put(turn, partition, [id, message.name], { dueMs });
      break;
    }
    case "forget":
      turn.cancelWake(message.name);
      reminders.remove(turn, partition, id, message.name);
      break;
    case "infect":
      turn.send(message.to, { type: "poison", op: message.op } as Poison);
      break;
    case "stumble":
      turn.send(message.to, { type: "stumbling", op: message.op, tries: message.tries } as Stumbling);
  }
  return {};
}

/**
 * Pays out through an effect of the account, or through a payer actor. Some payers also receive the message `hurry`.
 */
function pay({ op, amount }: { readonly op: string; readonly amount: number }, turn: Turn): void {
  if (amount % 2 === 1) {
    turn.start({ name: "pay", id: op, input: { amount } });
    return;
  }
  const payer = address(turn.self.partition, "payer", op);
  const payOut: PayOut = { type: "pay-out", op, amount, from: turn.self };
  turn.send(payer, payOut);
  const hurry: Hurry = { type: "hurry" };
  if (amount % 4 === 0) turn.send(payer, hurry);
}

/** Sends a credit with the next sequence number for the receiver. */
function credit(
  context: AccountContext,
  { op, amount, to }: { readonly op: string; readonly amount: number; readonly to: Address },
  turn: Turn,
): Partial<AccountContext> {
  const name = `${to.partition}:${to.id}`;
  const number = (context.sentTo[name] ?? 0) + 1;
  const message: Credit = { type: "credit", op, amount, from: turn.self, number };
  turn.send(to, message);
  return { sentTo: { ...context.sentTo, [name]: number } };
}

function hearCredit(context: AccountContext, message: Credit, turn: Turn): Partial<AccountContext> {
  arrive(turn, `credit-${message.op}`);
  const name = `${message.from.partition}:${message.from.id}`;
  const last = context.heardFrom[name] ?? 0;
  if (message.number !== last + 1) violate(turn, `credit ${message.number} of ${name} came after ${last}`);
  return {
    balance: context.balance + message.amount,
    heardFrom: { ...context.heardFrom, [name]: message.number },
  };
}

function stumble(message: Stumbling, turn: Turn, tries: Tries): Partial<AccountContext> {
  const tried = (tries.get(message.op) ?? 0) + 1;
  tries.set(message.op, tried);
  turn.send(address(turn.self.partition, "account", "nobody"), { type: "poison" });
  if (tried < message.tries) throw new Error("stumbled");
  arrive(turn, `stumbling-${message.op}`);
  return {};
}

function wake(message: Woken, turn: Turn): Partial<AccountContext> {
  const { partition, id } = turn.self;
  const reminder = reminders.get(turn, partition, id, message.name);
  if (reminder?.dueMs !== message.dueMs) violate(turn, `${id} was woken for ${message.name}, which was not set so`);
  if (turn.now < message.dueMs) violate(turn, `${id} was woken too early`);
  reminders.remove(turn, partition, id, message.name);
  return {};
}

function endEffect(context: AccountContext, message: EffectEnded, turn: Turn): Partial<AccountContext> {
  arrive(turn, `effect-${message.id}`);
  if (operations.get(turn, turn.self.partition, `cancelled-${turn.self.id}-${message.id}`) !== undefined) {
    violate(turn, `${message.id} ended after it was cancelled`);
  }
  return paid(context, message.id, message.result.ok);
}

function endPayment(context: AccountContext, { op, ok }: PaidOut, turn: Turn): Partial<AccountContext> {
  arrive(turn, `effect-${op}`);
  return paid(context, op, ok);
}

function paid(context: AccountContext, op: string, isOk: boolean): Partial<AccountContext> {
  const amount = context.paying[op];
  if (amount === undefined) return {};
  const { [op]: _ended, ...paying } = context.paying;
  return { paying, balance: isOk ? context.balance : context.balance + amount };
}

function hearGate(context: AccountContext, message: GateAnswer, turn: Turn): Partial<AccountContext> {
  arrive(turn, `gate-${message.id}`);
  const held = context.reserved[message.id];
  if (held === undefined) {
    violate(turn, `${message.id} was answered and never asked`);
    return {};
  }
  const { [message.id]: _answered, ...reserved } = context.reserved;
  if (message.refused !== null) return { reserved, balance: context.balance + held.amount };
  return { reserved, ...credit(context, { op: message.id, ...held }, turn) };
}
