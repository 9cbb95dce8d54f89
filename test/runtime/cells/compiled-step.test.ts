import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { assign, createMachine, not, raise } from "xstate";
import { createActorTypes, createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { address } from "../../../runtime/cells/address.js";
import { compileStep } from "../../../runtime/cells/compiled-step.js";
import { createStepper } from "../../../runtime/cells/step.js";
import type { Delivered, Message, Turn } from "../../../runtime/turns/turn.js";

const at = address("ws_1", "plan", "1");
const forbidden = {
  spawn: () => {
    throw new Error("no");
  },
  checkReturned: () => undefined,
};

interface Add extends Message {
  readonly by: number;
}

const edge = fc.record({
  type: fc.constantFrom("a", "b", "c"),
  guard: fc.constantFrom(null, "isEven", "isThird"),
  target: fc.option(fc.integer({ min: 0, max: 3 })),
  actions: fc.array(fc.constantFrom("add", "double", "note"), { maxLength: 3 }),
});
const edges = fc.array(edge, { maxLength: 5 });
const message = fc.record({ type: fc.constantFrom("a", "b", "c", "d"), by: fc.integer({ min: 0, max: 9 }) });
type Edges = readonly { type: string; guard: string | null; target: number | null; actions: string[] }[];

/** Sums that the `note` action recorded, in order. */
let notes: number[] = [];

interface Args {
  readonly context: { readonly sum: number };
  readonly event: Delivered<Add>;
}
const implementations = {
  guards: { isEven: ({ context }: Args) => context.sum % 2 === 0, isThird: ({ context }: Args) => context.sum % 3 },
  actions: {
    add: assign(({ context, event }: Args) => ({ sum: context.sum + event.by })),
    double: assign({ sum: ({ context }: Args) => (2 * context.sum) % 1_000 }),
    note: ({ context }: Args) => void notes.push(context.sum),
  },
};

/** Creates a machine of four states, plus the states in `beside`. */
function toMachine(states: readonly Edges[], root: Edges, beside: object) {
  const on = (given: Edges) => {
    const byType: Record<string, object[]> = {};
    for (const { type, guard, target, actions } of given) {
      byType[type] ??= [];
      byType[type].push({
        actions,
        ...(guard === null ? {} : { guard }),
        ...(target === null ? {} : { target: `#plan.s${target}` }),
      });
    }
    return byType;
  };
  const named = states.map((given, n) => [`s${n}`, { on: on(given) }]);
  const config = { id: "plan", initial: "s0", context: { sum: 0 }, on: on(root) };
  const all = { ...config, states: { ...Object.fromEntries(named), ...beside } };
  return createMachine(all as never, implementations as never);
}

/** Returns the outcome of every message, step by step. */
function history(machine: ReturnType<typeof toMachine>, messages: readonly Add[]): unknown[] {
  notes = [];
  const stepper = createStepper(machine);
  let state = stepper.initial(at);
  return messages.map((one) => {
    const next = stepper.step(state, one, {} as Turn);
    if (next !== null) state = next;
    return { taken: next !== null, stored: stepper.store(state), notes: [...notes] };
  });
}

t.test("a flat machine steps as XState steps it, whatever its transitions, guards and actions", async () => {
  const states = fc.array(edges, { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(states, edges, fc.array(message, { maxLength: 12 }), (each, root, messages) => {
      const flat = toMachine(each, root, {});
      // An unreachable nested state prevents compilation, so XState itself steps this machine.
      const nested = toMachine(each, root, { beside: { initial: "below", states: { below: {} } } });
      deepStrictEqual([compileStep(flat, forbidden) !== null, compileStep(nested, forbidden)], [true, null]);
      deepStrictEqual(history(flat, messages), history(nested, messages));
    }),
    { numRuns: 300 },
  );
});

t.test("a step that changes nothing gives back the state it was given", async (t) => {
  const machine = createMachine({ initial: "on", context: {}, states: { on: { on: { look: { actions: () => 0 } } } } });
  const stepper = createStepper(machine);
  const first = stepper.initial(at);
  t.equal(stepper.step(first, { type: "look" }, {} as Turn), first);
});

t.test("every machine of the product is flat and plain", async (t) => {
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  for (const { kind, machine } of createActorTypes(kinds)) t.not(compileStep(machine, forbidden), null, kind);
});

t.test("a machine that is not flat and plain is left to XState", async (t) => {
  const states = { a: {}, b: {} };
  const others: Record<string, object> = {
    nested: { initial: "a", states: { a: { initial: "c", states: { c: {} } } } },
    parallel: { type: "parallel", states },
    entry: { initial: "a", states: { a: { entry: () => 0 } } },
    exit: { initial: "a", states: { a: { exit: () => 0 } } },
    wildcard: { initial: "a", states: { a: { on: { "*": "b" } }, b: {} } },
    partial: { initial: "a", states: { a: { on: { "x.*": "b" } }, b: {} } },
    done: { initial: "a", states: { a: { type: "final" } }, on: { "xstate.done.state.m.a": ".a" } },
    initial: { initial: { target: "a", actions: () => 0 }, states },
    guard: { initial: "a", states: { a: { on: { x: { guard: not(() => true), target: "b" } } }, b: {} } },
    missingGuard: { initial: "a", states: { a: { on: { x: { guard: "none", target: "b" } } }, b: {} } },
    raise: { initial: "a", states: { a: { on: { x: { actions: raise({ type: "y" }) } } } } },
    missing: { initial: "a", states: { a: { on: { x: { actions: "none" } } } } },
    root: { id: "r", initial: "a", states: { a: { on: { x: "#r" } } } },
  };
  for (const [what, config] of Object.entries(others)) {
    t.equal(compileStep(createMachine(config as never), forbidden), null, what);
  }
});

t.test("a flat machine, too, can neither spawn nor return a promise", async (t) => {
  const machine = createMachine({
    id: "no",
    initial: "on",
    context: {},
    states: {
      on: { on: { spawn: { actions: assign(({ spawn }) => void spawn("child")) }, async: { actions: async () => 0 } } },
    },
  });
  const stepper = createStepper(machine);
  t.throws(() => stepper.step(stepper.initial(at), { type: "spawn" }, {} as Turn), /uses spawn/);
  t.throws(() => stepper.step(stepper.initial(at), { type: "async" }, {} as Turn), /returns a promise/);
});
