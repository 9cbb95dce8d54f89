import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { assign, setup } from "xstate";
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { address } from "../../runtime/cells/address.js";
import { createActorStepper, createGeneralStepper, createStepper } from "../../runtime/cells/step.js";
import { NotAccepted, type RuntimeLimits, TurnFailed } from "../../runtime/runtime.js";
import type { Answered, Delivered, Message, Turn, TurnReading } from "../../runtime/turns/turn.js";
import { undeliveredSpace } from "../../storage/keys.js";
import { table } from "../../storage/table.js";
import { Harness, partition, settled } from "../support/harness.js";
import { type Note, probe } from "../support/probe.js";

/**
 * The message of the scales, a test machine. `classify` turns the message into one of three events:
 *
 * - `put.light` moves the scales up.
 * - `put.heavy` moves the scales down. By default, a weight of 3 or more is heavy.
 * - `put.nothing` does not move the scales.
 */
interface Put extends Message {
  readonly type: "put";
  readonly weight: number;
}
interface Weighed extends Answered<{ readonly type: string; readonly weight: number }> {
  readonly type: "put.light" | "put.heavy" | "put.nothing";
  readonly weight: number;
}

const lightLimits = table<{ readonly light: number }>("light");
let classified: string[] = [];

const scales = setup({
  types: { context: {} as { readonly weight: number }, events: {} as Delivered<Weighed> },
  actions: {
    add: assign(({ context, event }) => ({ weight: context.weight + event.weight })),
    answer: ({ context, event }) => event.turn.reply({ type: event.type, weight: context.weight }),
  },
}).createMachine({
  id: "scales",
  context: { weight: 0 },
  initial: "up",
  states: {
    up: {
      on: {
        "put.light": { target: "up", actions: ["add", "answer"] },
        "put.heavy": { target: "down", actions: ["add", "answer"] },
      },
    },
    down: { on: { "put.light": { target: "up", actions: "add" } } },
  },
});

function classify(
  message: Put,
  { value, context }: { readonly value: unknown; readonly context: unknown },
  turn: TurnReading,
): Weighed {
  classified.push(`${message.type} ${message.weight} ${value} ${JSON.stringify(context)} ${turn.now}`);
  if (message.weight < 0) throw new Error("nothing weighs less than nothing");
  if (message.weight === 0) return { type: "put.nothing", weight: 0 };
  const light = lightLimits.get(turn, turn.self.partition, "1")?.light ?? 3;
  return { type: message.weight < light ? "put.light" : "put.heavy", weight: message.weight };
}

const scalesActor: ActorType = { kind: "scales", machine: scales, version: 1, classify };

function put(weight: number): Put {
  return { type: "put", weight };
}

t.test("the compiled step takes the class of a message as XState's own transition takes it", async () => {
  const self = address(partition, "scales", "1");
  const turn = { self, now: 1, get: () => undefined, reply: () => undefined } as unknown as Turn;
  const steppers = [createStepper, createGeneralStepper].map((create) => createActorStepper(scalesActor, create));
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 12 }), (weights) => {
      const [compiled, general] = steppers.map((stepper) => {
        classified = [];
        let state = stepper.initial(self);
        const steps = weights.map((weight) => {
          const next = stepper.step(state, put(weight), turn);
          state = next ?? state;
          return { taken: next !== null, stored: stepper.store(state) };
        });
        return { steps, classified };
      });
      deepStrictEqual(compiled, general);
      deepStrictEqual(compiled?.classified.length, weights.length);
    }),
    { numRuns: 100 },
  );
});

async function started(limits: Partial<RuntimeLimits> = {}) {
  classified = [];
  const sender = probe("sender", {
    limit: (_context, { light }, turn) => lightLimits.put(turn, partition, "1", { light: Number(light) }),
    pass: (_context, { messages }, turn) => {
      for (const message of messages as Note[]) turn.send(address(partition, "scales", "1"), message);
    },
  });
  const harness = new Harness({ catalogue: { actors: [scalesActor, sender] }, limits });
  await harness.start();
  return { harness, scales: harness.to("scales"), sender: harness.to("sender") };
}

t.test("a message is classified once a turn, by the state before it, the rows and the time", async (t) => {
  const { harness, scales, sender } = await started();
  t.same(await harness.ask(scales, put(1)), { type: "put.light", weight: 1 });
  await harness.ask(sender, { type: "limit", light: 1 } as Note);
  t.same(await harness.ask(scales, put(1)), { type: "put.heavy", weight: 2 });
  t.match(classified, [/^put 1 up \{"weight":0\} \d+$/, /^put 1 up \{"weight":1\} \d+$/]);
  t.equal(classified.length, 2);
});

t.test("a class that no transition takes refuses the message, by the message's own name", async (t) => {
  const { harness, scales } = await started();
  const untaken = { kind: "scales", message: "put" };
  const refusal = (more: object) => new NotAccepted("scales does not take put now", { ...untaken, ...more });
  await t.rejects(harness.ask(scales, put(0)), refusal({}), "it has no state yet");
  await harness.ask(scales, put(1));
  await t.rejects(harness.ask(scales, put(0)), refusal({ state: "up" }));
});

t.test("what is deduplicated is the message: the same id is not classified again", async (t) => {
  const { harness, scales } = await started();
  t.same(await harness.ask(scales, put(1), { messageId: "a" }), { type: "put.light", weight: 1 });
  t.equal(await harness.ask(scales, put(9), { messageId: "a" }), undefined);
  t.equal(classified.length, 1);
});

t.test("a throw is a crash of the turn, and the message is set aside as it was sent", async (t) => {
  const { harness, scales, sender } = await started();
  const { error } = await settled(harness.ask(scales, put(-1))).then((one) => one as { readonly error?: unknown });
  t.ok(error instanceof TurnFailed);
  await harness.ask(sender, { type: "pass", messages: [put(-2), put(1)] } as Note);
  const letters = harness.runtime.deadLetters.list(partition, 10);
  t.match(letters, [{ message: put(-2), error: /less than nothing/ }]);
  t.same(await harness.ask(scales, put(1)), { type: "put.light", weight: 2 }, "and the actor goes on");
});

t.test("what waits on disk is the message: it is classified when its turn comes", async (t) => {
  const { harness, scales, sender } = await started({ turnsPerBatch: 2 });
  void settled(harness.runtime.ask(sender, { type: "pass", messages: [1, 1, 1, 1, 1].map(put) } as Note));
  const kept = () => harness.durable.range({ prefix: [partition, undeliveredSpace] });
  for (let steps = 0; kept().length === 0 && steps < 10_000; steps++) await harness.world.step();
  t.match(kept().at(-1)?.value, { message: put(1) });
  harness.crash();
  await harness.start();
  await harness.advance();
  t.same(await harness.ask(scales, put(1)), { type: "put.light", weight: 6 });
});
