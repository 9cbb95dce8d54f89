import t from "tap";
import { setup } from "xstate";
import { address } from "../../runtime/cells/address.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { reference } from "../../runtime/cells/reference.js";
import { effect, isEffectResult } from "../../runtime/effects/effect-type.js";
import { RunAbort } from "../../runtime/effects/run-signal.js";
import type { Delivered, Message } from "../../runtime/turns/turn.js";
import { compileSnippets } from "../support/compile.js";
import { plainLane } from "../support/plain-effect.js";

interface Open extends Message {
  readonly type: "open";
}

t.test("a reference is an address and nothing more", async (t) => {
  const doors = reference<Open>("door");
  t.strictSame(doors("ws_1", "1"), { partition: "ws_1", kind: "door", id: "1" });
  t.equal(doors.kind, "door");
  t.strictSame(doors.widen<Message>()("ws_1", "1"), doors("ws_1", "1"));
  const main = reference<Open, [workspaceId: string]>("door", (workspaceId) => [workspaceId, "main"]);
  t.strictSame(main("ws_1"), { partition: "ws_1", kind: "door", id: "main" });
});

t.test("an actor type takes its kind from its references", async (t) => {
  const machine = setup({ types: { events: {} as Delivered<Open> } }).createMachine({
    initial: "shut",
    states: { shut: { on: { open: { target: "shut" } } } },
  });
  t.match(defineActor(reference<Open>("door"), { machine, version: 1 }), { kind: "door", version: 1 });
});

t.test("an effect's request, its implementation and its result go by its name", async (t) => {
  const mail = effect<string, number>("mail");
  t.match(mail.request("1", "hello"), { name: "mail", id: "1", input: "hello" });
  const lane = plainLane(3);
  const { name, prepare } = mail.implement(lane, async (text) => text.length);
  t.equal(name, "mail");
  const { place, begin } = prepare("hello", {
    id: "1",
    owner: address("ws_1", "door", "1"),
    memo: undefined,
    mayHaveBegun: false,
  });
  t.same(place, { lane, target: "", bytes: 0 });
  t.equal(await begin(new RunAbort()), 5);
  const ended = { type: "effect.ended", effect: "mail", id: "1", result: { ok: true, output: 5 } };
  t.ok(isEffectResult(mail, ended));
  t.notOk(isEffectResult(effect("other"), ended));
  t.notOk(isEffectResult(mail, { type: "woken" }));
});

/**
 * The code that all snippets start with: three message types and an effect. The door takes the first two message types,
 * and answers one of these.
 */
const given = `
import { setup } from "xstate";
import { address } from "../../runtime/cells/address.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { effect, isEffectResult } from "../../runtime/effects/effect-type.js";
import { reference } from "../../runtime/cells/reference.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Answered, Delivered, EffectEnded, Message, Turn, TurnReading, Woken } from "../../runtime/turns/turn.js";

export interface Open extends Answered<{ readonly opened: boolean }> { readonly type: "open"; readonly by: string }
export interface Shut extends Message { readonly type: "shut" }
export interface Knock extends Message { readonly type: "knock" }
export const doorRef = reference<Open | Shut>("door");
export const mail = effect<{ readonly to: string }, { readonly sent: boolean }>("mail");
declare const runtime: Runtime;
declare const turn: Turn;
const door = doorRef("ws_1", "1");
const lane = { name: "mail", places: 1, kept: 0, perClient: 1, perTarget: 1 };
const machineOf = <Event extends Message & { readonly turn: Turn }>() =>
  setup({ types: { events: {} as Event } }).createMachine({ initial: "a", states: { a: {} } });
`;

const compiles = {
  answers: `const answer: { readonly opened: boolean } = await runtime.ask(door, { type: "open", by: "ada" });
    const none: undefined = await runtime.ask(door, { type: "shut" });`,
  variable: `const message: Open = { type: "open", by: "ada" }; const { opened } = await runtime.ask(door, message);`,
  once: `const once: { readonly opened: boolean } | undefined =
      await runtime.ask(door, { type: "open", by: "ada" }, { messageId: "1" });`,
  sends: `turn.send(door, { type: "shut" }); turn.send(address("ws_1", "door", "1"), { type: "any" });`,
  narrower: `const opened: typeof door = doorRef.widen<Knock>()("ws_1", "1");`,
  takesAll: `defineActor(doorRef, { machine: machineOf<Delivered<Open | Shut | Woken>>(), version: 1 });`,
  classifies: `interface Opened extends Message { readonly type: "door.opened" }
    defineActor(doorRef, {
      machine: machineOf<Delivered<Opened | Shut>>(),
      version: 1,
      classify: (message: Open | Shut, { value }: { readonly value: "a" }, reading: TurnReading): Opened | Shut =>
        message.type === "shut" || reading.now === 0 || value !== "a" ? { type: "shut" } : { type: "door.opened" },
    });`,
  result: `declare const ended: Delivered<EffectEnded>;
    if (isEffectResult(mail, ended) && ended.result.ok) { const sent: boolean = ended.result.output.sent; }`,
  implements: `mail.implement(lane, async ({ to }) => ({ sent: to !== "" })); turn.start(mail.request("1", { to: "ada" }));`,
};

/** Snippets that must not compile, each with a pattern for the compiler's error. */
const refused: Record<string, readonly [text: string, why: RegExp]> = {
  askOfAnother: [`void runtime.ask(door, { type: "knock" });`, /"knock"/],
  sendOfAnother: [`turn.send(door, { type: "knock" });`, /"knock"/],
  missingField: [`void runtime.ask(door, { type: "open" });`, /'by' is missing/],
  unknownField: [`void runtime.ask(door, { type: "shut", by: "ada" });`, /'by' does not exist/],
  otherAnswer: [
    `const answer: string = await runtime.ask(door, { type: "open", by: "ada" });`,
    /not assignable to type 'string'/,
  ],
  wider: [`const wide = doorRef.widen<Knock>(); const knocked: ReturnType<typeof wide> = door;`, /not assignable/],
  anAddress: [`const made: typeof door = address("ws_1", "door", "1");`, /missing in type 'Address'/],
  lacksOne: [
    `defineActor(doorRef, { machine: machineOf<Delivered<Open>>(), version: 1 });`,
    /messages that are not taken/,
  ],
  lacksWidened: [
    `defineActor(doorRef.widen<Knock>(), { machine: machineOf<Delivered<Open | Shut>>(), version: 1 });`,
    /messages that are not taken/,
  ],
  otherFields: [
    `interface Other extends Message { readonly type: "open"; readonly by: number }
    defineActor(doorRef, { machine: machineOf<Delivered<Other | Shut>>(), version: 1 });`,
    /messages that are not taken/,
  ],
  classifiesTooFew: [
    `defineActor(doorRef, { machine: machineOf<Delivered<Shut>>(), version: 1, classify: (message: Shut) => message });`,
    /messages that are not taken/,
  ],
  classifiesToOthers: [
    `defineActor(doorRef, {
      machine: machineOf<Delivered<Shut>>(),
      version: 1,
      classify: (message: Open | Shut) => message,
    });`,
    /messages that are not taken/,
  ],
  classifiesToOtherReply: [
    `interface Opened extends Answered<number> { readonly type: "door.opened" }
    defineActor(doorRef, {
      machine: machineOf<Delivered<Opened | Shut>>(),
      version: 1,
      classify: (message: Open | Shut): Opened | Shut => message.type === "shut" ? message : { type: "door.opened" },
    });`,
    /replies that are not expected/,
  ],
  otherReply: [
    `setup({
      types: { events: {} as Delivered<Open> },
      actions: { open: ({ event }) => event.turn.reply({ opened: "yes" }) },
    });`,
    /not assignable to type 'boolean'/,
  ],
  unaskedReply: [
    `setup({ types: { events: {} as Delivered<Shut> }, actions: { shut: ({ event }) => event.turn.reply(1) } });`,
    /not assignable to parameter of type 'never'/,
  ],
  expectsOtherReply: [
    `interface Other extends Answered<number> { readonly type: "open"; readonly by: string }
    defineActor(doorRef, { machine: machineOf<Delivered<Other | Shut>>(), version: 1 });`,
    /messages that are not taken/,
  ],
  classifyWrites: [
    `defineActor(doorRef, {
      machine: machineOf<Delivered<Open | Shut>>(),
      version: 1,
      classify: (message: Open | Shut, _state: unknown, reading: TurnReading) => { reading.put(["x"], 1); return message; },
    });`,
    /'put' does not exist/,
  ],
  otherInput: [`turn.start(mail.request("1", { from: "ada" }));`, /'from' does not exist/],
  otherOutput: [`mail.implement(lane, async () => ({ sent: "yes" }));`, /not assignable to type 'boolean'/],
  otherResult: [
    `declare const ended: Delivered<EffectEnded>;
    if (isEffectResult(mail, ended) && ended.result.ok) { const sent: string = ended.result.output.sent; }`,
    /not assignable to type 'string'/,
  ],
};

t.test(
  "the compiler holds senders, machines and effects to the types that references and effects declare",
  async (t) => {
    const snippet = (text: string) => `${given}\n${text}\nexport {};`;
    const texts = Object.entries({
      ...compiles,
      ...Object.fromEntries(Object.entries(refused).map(([name, [text]]) => [name, text])),
    });
    const said = compileSnippets(Object.fromEntries(texts.map(([name, text]) => [name, snippet(text)])));
    const unused = /^'\w+' is declared but .*$\n?/gm;
    for (const name of Object.keys(compiles)) t.equal((said[name] ?? "?").replace(unused, ""), "", name);
    for (const [name, [, why]] of Object.entries(refused)) t.match(said[name], why, name);
  },
);
