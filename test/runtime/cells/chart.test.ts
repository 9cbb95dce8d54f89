import t from "tap";
import { address } from "../../../runtime/cells/address.js";
import { createChart, toEvent } from "../../../runtime/cells/chart.js";
import { createGeneralStepper, createStepper } from "../../../runtime/cells/step.js";
import type { Answered, Message, Replies, Turn } from "../../../runtime/turns/turn.js";

interface Push extends Message {
  readonly type: "push";
  readonly by: number;
}
interface Plain extends Message {
  readonly type: "knock" | "lock" | "unlock";
}
interface DoorContext {
  readonly strength: number;
  readonly pushes: readonly number[];
}

const { on, choose, machine } = createChart<DoorContext, Push | Plain>();

const always = on("knock");
const door = machine({
  id: "door",
  context: { strength: 3, pushes: [] },
  initial: "closed",
  states: {
    closed: {
      on: {
        ...always,
        ...on("lock", "locked"),
        ...choose(
          "push",
          { when: ({ by }, { strength }) => by >= strength, to: "open", act: recordPush },
          { act: [recordPush, (_event, { strength }) => ({ strength: strength - 1 })] },
        ),
      },
    },
    open: { on: { ...always, ...on("push", recordPush, recordPush) } },
    locked: { on: { ...on("unlock", "closed"), ...choose("push", { when: ({ by }) => by > 100, to: "open" }) } },
  },
});

function recordPush({ by }: Push, { pushes }: DoorContext): Partial<DoorContext> {
  return { pushes: [...pushes, by] };
}

/** The two ways to step the door: by its compiled table, and by XState's own transition function. */
const steppers = { compiled: createStepper(door), general: createGeneralStepper(door) };
const at = address("ws_1", "door", "1");

for (const [name, stepper] of Object.entries(steppers)) {
  const step = (value: string, message: Message, context: object = { strength: 3, pushes: [] }) => {
    const next = stepper.step(stepper.restore({ value, context }), message, {} as Turn);
    return next === null ? null : stepper.store(next);
  };

  t.test(`${name}: a function gets its event and the context, and its result changes the context`, async (t) => {
    const push: Push = { type: "push", by: 1 };
    t.same(step("open", push), { value: "open", context: { strength: 3, pushes: [1, 1] } }, "in their order");
    t.same(stepper.store(stepper.initial(at)), { value: "closed", context: { strength: 3, pushes: [] } });
  });

  t.test(`${name}: without functions an event is accepted and changes nothing`, async (t) => {
    t.same(step("closed", { type: "knock" }), { value: "closed", context: { strength: 3, pushes: [] } });
    t.same(step("closed", { type: "lock" }), { value: "locked", context: { strength: 3, pushes: [] } });
    t.equal(step("locked", { type: "lock" }), null, "a state that does not list it refuses it");
  });

  t.test(`${name}: of several cases the first that holds is taken, and none when none holds`, async (t) => {
    const weak: Push = { type: "push", by: 2 };
    const strong: Push = { type: "push", by: 3 };
    t.same(step("closed", weak), { value: "closed", context: { strength: 2, pushes: [2] } });
    t.same(step("closed", strong), { value: "open", context: { strength: 3, pushes: [3] } });
    t.equal(step("locked", strong), null);
  });
}

t.test("an event has its own type, the fields of its message, and the answer that the message expects", async (t) => {
  interface Ring extends Answered<number> {
    readonly type: "ring";
    readonly times: number;
  }
  const ring: Ring = { type: "ring", times: 2 };
  const refused = toEvent("ring.refused", { ...ring, why: "closed" });
  const type: "ring.refused" = refused.type;
  const answer: Replies<typeof refused> = 1;
  t.same(refused, { type, times: 2, why: "closed" });
  t.equal(answer, 1);
  t.same(toEvent("ring.other"), { type: "ring.other" });
});
