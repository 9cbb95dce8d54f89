import t from "tap";
import { assign, createMachine, emit, log, raise, setup } from "xstate";
import { address } from "../../../runtime/cells/address.js";
import { Behaviours } from "../../../runtime/cells/behaviour.js";
import { createStepper } from "../../../runtime/cells/step.js";
import type { Message, Turn } from "../../../runtime/turns/turn.js";
import { stepByHand, withTurn } from "../../support/turn.js";

const at = address("ws_1", "door", "1");

const door = createMachine({
  id: "door",
  initial: "closed",
  context: ({ input }) => ({ of: input, opened: 0 }),
  states: {
    closed: {
      on: {
        open: { target: "open", actions: assign({ opened: ({ context }) => context.opened + 1 }) },
        knock: { target: "closed" },
        ignore: {},
        guarded: { guard: () => false, target: "open" },
        wrong: { guard: () => raiseError("guard"), target: "open" },
      },
    },
    open: { on: { close: "closed", remove: "removed", look: { actions: () => undefined } } },
    removed: { type: "final" },
  },
});

function raiseError(text: string): never {
  throw new Error(text);
}

function step(type: string, from: { value: string; context: object }): unknown {
  const stepper = createStepper(door);
  const state = stepper.step(stepper.restore(from), { type }, {} as Turn);
  return state === null ? null : stepper.store(state);
}

t.test("a machine starts with its address as input, and steps by its transitions", async (t) => {
  const stepper = createStepper(door);
  const first = stepper.initial(at);
  t.same(stepper.store(first), { value: "closed", context: { of: at, opened: 0 } });
  const next = stepper.step(first, { type: "open" }, {} as Turn);
  t.match(next === null ? null : stepper.store(next), { value: "open", context: { opened: 1 } });
  t.same(stepper.store(first).context, { of: at, opened: 0 }, "the state before it is as it was");
});

t.test("what was stored steps on like what was not", async (t) => {
  t.same(step("close", { value: "open", context: { opened: 3 } }), { value: "closed", context: { opened: 3 } });
});

t.test("a transition is taken when it has a target or an action; nothing else is", async (t) => {
  const closed = { value: "closed", context: { opened: 0 } };
  t.same(step("knock", closed), closed, "a transition to the same state is taken");
  t.equal(step("ignore", closed), null, "an empty one is not");
  t.equal(step("guarded", closed), null);
  t.equal(step("unknown", closed), null);
  t.same(step("look", { value: "open", context: {} }), { value: "open", context: {} }, "an action alone is taken");
});

t.test("a final state is kept and takes nothing more", async (t) => {
  const removed = { value: "removed", context: { opened: 1 } };
  t.same(step("remove", { value: "open", context: { opened: 1 } }), removed);
  t.equal(step("open", removed), null);
});

t.test("what guards, actions and contexts throw comes out", async (t) => {
  t.throws(() => step("wrong", { value: "closed", context: {} }), /guard/);
  const failing = createMachine({ id: "failing", context: () => raiseError("context") });
  const stepper = createStepper(failing);
  t.throws(() => stepper.initial(at), /context/);
});

t.test("actions of the transition run in order, and see the context as it is by then", async (t) => {
  const seen: unknown[] = [];
  const machine = createMachine({
    id: "order",
    context: { n: 0 },
    on: {
      go: {
        actions: [
          ({ context }) => seen.push(context.n),
          assign({ n: ({ context }) => context.n + 1 }),
          ({ context }) => seen.push(context.n),
        ],
      },
    },
  });
  const stepper = createStepper(machine);
  stepper.step(stepper.initial(at), { type: "go" }, {} as Turn);
  t.same(seen, [0, 1]);
});

t.test("what a stored and stepped actor cannot keep is refused when it is registered", async (t) => {
  const refused: [RegExp, object][] = [
    [/invoke/, { invoke: { src: "x" } }],
    [/after/, { after: { 1000: "b" } }],
    [/always/, { always: "b" }],
    [/history/, { initial: "c", states: { h: { type: "history" }, c: {} } }],
  ];
  for (const [what, state] of refused) {
    const machine = createMachine({ id: "no", initial: "a", states: { a: state, b: {} } } as never);
    t.throws(() => createStepper(machine as never), what);
  }
});

t.test("what XState would do outside the step is refused when it is met", async (t) => {
  const child = createMachine({});
  const machine = setup({ actors: { child } }).createMachine({
    id: "no",
    on: {
      raise: { actions: raise({ type: "x" }) },
      emit: { actions: emit({ type: "x" }) },
      log: { actions: log("x") },
      spawn: { actions: assign(({ spawn }) => void spawn("child")) },
      async: { actions: async () => undefined },
      missing: { actions: "missing" as never },
    },
  });
  const stepper = createStepper(machine);
  const refusals: Record<string, RegExp> = {
    raise: /uses raise/,
    emit: /uses emit/,
    log: /uses log/,
    spawn: /uses spawn/,
    async: /returns a promise/,
    missing: /has no action missing/,
  };
  for (const [type, refusal] of Object.entries(refusals)) {
    t.throws(() => stepper.step(stepper.initial(at), { type }, {} as Turn), refusal, type);
  }
});

t.test("an older snapshot is brought up to date; a newer one, or none to migrate with, is refused", async (t) => {
  const catalogue = { subscribers: [], gates: [], effects: [] };
  const type = { kind: "door", machine: door, version: 2 };
  t.throws(() => new Behaviours({ ...catalogue, actors: [type] }), /has no migrate/);
  const migrate = () => ({ value: "open", context: { opened: 9 } });
  const behaviour = new Behaviours({ ...catalogue, actors: [{ ...type, migrate }] }).find(at);
  t.match(behaviour?.restore({ value: "ajar", context: {} }, 1), { value: "open", context: { opened: 9 } });
  t.match(behaviour?.restore({ value: "closed", context: {} }, 2), { value: "closed" });
  t.throws(() => behaviour?.restore({ value: "closed", context: {} }, 3), /stored at version 3/);
});

t.test("a machine is stepped by hand through the same turn", async (t) => {
  const stepping = stepByHand({ kind: "door", machine: door, version: 1 }, at);
  t.equal(stepping.take({ type: "unknown" }).taken, false);
  t.equal(stepping.take({ type: "open" }).taken, true);
  t.equal(stepping.value, "open");
  stepping.restore("closed", { opened: 4 });
  stepping.take({ type: "open" });
  t.equal(stepping.context<{ opened: number }>().opened, 5);
});

t.test("a turn cannot be used once it is over", async (t) => {
  let kept: Turn | undefined;
  const taken = withTurn(at, (turn) => {
    kept = turn;
    turn.send(at, { type: "x" } as Message);
  });
  t.same(taken.sent, [{ to: at, message: { type: "x" } }]);
  t.throws(() => kept?.send(at, { type: "y" }), /the turn is over/);
  t.throws(() => kept?.get(["a"]), /the turn is over/);
});
