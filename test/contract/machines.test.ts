import t from "tap";
import { setup } from "xstate";
import { createActorTypes, createKinds } from "../../actors/catalogue.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { address } from "../../runtime/cells/address.js";
import { createStepper } from "../../runtime/cells/step.js";
import { stepByHand, withTurn } from "../support/turn.js";
import { compareWithTable, isInTable, listEvents, type MachineTable } from "./machine-tables.js";
import { accessMachines } from "./machines/access.js";
import { actionMachines } from "./machines/actions.js";
import { connectionMachines } from "./machines/connections.js";
import { deliveryMachines } from "./machines/deliveries.js";
import { hookMachines } from "./machines/hooks.js";
import { searchMachines } from "./machines/searches.js";
import { toolCallMachines } from "./machines/tool-calls.js";
import { workMachines } from "./machines/work.js";
import { workspaceMachines } from "./machines/workspaces.js";

const tables: Readonly<Record<string, MachineTable>> = {
  ...workspaceMachines,
  ...accessMachines,
  ...connectionMachines,
  ...actionMachines,
  ...workMachines,
  ...toolCallMachines,
  ...searchMachines,
  ...hookMachines,
  ...deliveryMachines,
};
const types = createActorTypes(createKinds({ allowList: parseAllowList(""), signsTokens: true }));
/** The events of all machines, and one event that no machine takes. */
const events = [...new Set([...types.flatMap(({ machine }) => listEvents(machine)), "nothing.known"])];

t.test("every machine has a table and equals it", async (t) => {
  for (const { kind, machine } of types) {
    const table = tables[kind];
    if (table === undefined) {
      t.fail(`${kind} has no table: give it one in the file of its area in test/contract/machines, as its header says`);
    } else t.same(compareWithTable(machine, table), [], kind);
  }
  const kinds = types.map(({ kind }) => kind);
  const unused = Object.keys(tables).filter((kind) => !kinds.includes(kind));
  t.same(unused, [], "no table without a machine: take it out, or name its actor in the manifest of an area");
});

t.test("an event that the table lacks is not taken and has no effect", async (t) => {
  for (const { kind, machine } of types) {
    const table = tables[kind];
    if (table === undefined) continue;
    const stepper = createStepper(machine);
    const taken: string[] = [];
    for (const state of Object.keys(machine.states)) {
      const refused = events.filter((event) => !isInTable(table, state, event));
      const { intents } = withTurn(address("ws_1", kind, "1"), (turn) => {
        const before = stepper.restore({ value: state, context: {} });
        for (const type of refused) if (stepper.step(before, { type }, turn) !== null) taken.push(`${state}, ${type}`);
      });
      t.same(intents, [], `${kind}, ${state}`);
    }
    t.same(taken, [], kind);
  }
});

t.test("no actor takes a message of an unknown type, classified or not", async (t) => {
  for (const type of types) {
    const actor = stepByHand(type, address("ws_1", type.kind, "1"));
    const { context } = createStepper(type.machine).initial(address("ws_1", type.kind, "1"));
    for (const state of Object.keys(type.machine.states)) {
      actor.restore(state, context);
      const { taken, intents } = actor.take({ type: "nothing.known" });
      t.same([taken, intents, actor.value], [false, [], state], `${type.kind}, ${state}`);
    }
  }
});

t.test("where a table differs from its machine is reported", async (t) => {
  const machine = setup({ guards: { mayEnd: () => true } }).createMachine({
    initial: "new",
    on: { noted: { actions: () => undefined }, ignored: {} },
    states: {
      new: { on: { began: { target: "open" } } },
      open: { on: { ended: { guard: "mayEnd", target: "over" } } },
      over: {},
    },
  });
  const any = { noted: "same", ignored: "not taken" };
  const table = { any, new: { began: "open" }, open: { ended: "over | not taken" }, over: {} };
  t.same(compareWithTable(machine, table), []);
  t.same(compareWithTable(machine, { ...table, new: {} }), ["new, began: the machine says open, the table nothing"]);
  t.same(compareWithTable(machine, { ...table, new: { began: "same" } }), [
    "new, began: the machine says open, the table new",
  ]);
  t.same(compareWithTable(machine, { ...table, open: { ended: "over" } }), [
    "open, ended: the machine says not taken | over, the table over",
  ]);
  t.same(compareWithTable(machine, { ...table, over: { began: "open" } }), ["over, began: the machine says nothing"]);
  const { over: _over, ...less } = table;
  t.same(compareWithTable(machine, less), ["the table lacks the state over"]);
  t.same(compareWithTable(machine, { ...table, gone: {} }), ["the machine lacks the state gone"]);
});
