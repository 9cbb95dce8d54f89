import t from "tap";
import type { Gate, Subscriber } from "../../runtime/cells/actor-type.js";
import type { Address } from "../../runtime/cells/address.js";
import { gateKind } from "../../runtime/cells/gate.machine.js";
import type { Fact, GateQuestion, Message, Turn } from "../../runtime/turns/turn.js";
import { actorSpace, GLOBAL_PARTITION, timerSpace } from "../../storage/keys.js";
import { table } from "../../storage/table.js";
import { Harness, partition } from "../support/harness.js";
import { type Note, probe } from "../support/probe.js";

const rules = table<{ readonly keeps: boolean }>("rule");

const actor = probe("actor", {
  publish: (_context, { facts, rule }, turn) => {
    if (rule === true) rules.put(turn, partition, "rule", { keeps: true });
    for (const fact of facts as Fact[]) turn.publish(fact);
  },
  told: (context, { what }) => ({ told: [...((context.told ?? []) as unknown[]), what] }),
  look: ({ told, answers }, _message, turn) => turn.reply({ told: told ?? [], answers: answers ?? [] }),
  ask: (_context, { id, rule }, turn) => {
    if (rule === true) rules.put(turn, partition, "rule", { keeps: true });
    turn.askGate({ name: "step", id: String(id) });
  },
  askOther: (_context, { name }, turn) => turn.askGate({ name: String(name), id: "1" }),
  "gate.answered": (context, { gate, id, refused }) => ({
    answers: [...((context.answers ?? []) as unknown[]), { gate, id, refused }],
  }),
});

type Request = Note & { readonly gate: { readonly replyTo: Address; readonly key: string } };
const keeper = probe("keeper", {
  review: (context, message, turn) => {
    const { replyTo, key } = (message as Request).gate;
    const { says } = message;
    if (["yes", "no", "twice", "stranger"].includes(String(says))) {
      turn.send(replyTo, { type: "keeper.answered", key, refused: says === "no" ? "not now" : null } as Message);
    }
    if (says === "twice") turn.send(replyTo, { type: "keeper.answered", key, refused: "again" } as Message);
    if (says === "stranger") turn.send(replyTo, { type: "keeper.answered", key: "77", refused: "who?" } as Message);
    if (says === "calls") {
      const called = (word: string) => ({
        to: { partition, kind: "keeper", id: `called-${word}` },
        message: { type: "review", says: word } as Message,
      });
      const requests = (message.called as string[]).map(called);
      turn.send(replyTo, { type: "keeper.called", key, requests } as Message);
      turn.send(replyTo, { type: "keeper.answered", key, refused: null } as Message);
    }
    return { asked: Number(context.asked ?? 0) + 1, gate: message.gate, says };
  },
  "keeper.late": ({ gate, says }, message, turn) => {
    const { replyTo, key } = gate as Request["gate"];
    if (message.key !== key) throw new Error("somebody else is late");
    const refused = says === "no when late" ? "out of time" : null;
    if (says !== "nothing") turn.send(replyTo, { type: "keeper.answered", key, refused } as Message);
  },
  answerNow: ({ gate }, _message, turn) => {
    const { replyTo, key } = gate as Request["gate"];
    turn.send(replyTo, { type: "keeper.answered", key, refused: null } as Message);
  },
});

function gating(name: string, gates: readonly string[], says: readonly string[], boundMs = 5_000): Gate {
  return {
    name,
    questions: gates,
    boundMs,
    gatekeepers: (_question: GateQuestion, where) =>
      says.map((word, index) => ({
        to: { partition: where, kind: "keeper", id: `${name}-${index}` },
        message: { type: "review", says: word } as Message,
      })),
  };
}

async function withGates(...gatings: Gate[]) {
  const harness = new Harness({ catalogue: { actors: [actor, keeper], gates: gatings } });
  await harness.start();
  const look = async () => (await harness.ask(harness.to("actor"), { type: "look" })) as { answers: unknown[] };
  return { harness, answers: async () => (await look()).answers };
}

t.test("a fact is heard by each who hears its name, after the publisher's turn, in order", async (t) => {
  const hear = (name: string, facts: string[]): Subscriber => ({
    name,
    facts,
    handle: (fact, turn) =>
      turn.send({ partition: turn.self.partition, kind: "actor", id: name }, { type: "told", what: fact } as Note),
  });
  const hearings = [hear("first", ["opened", "moved"]), hear("second", ["moved"])];
  const harness = new Harness({ catalogue: { actors: [actor], subscribers: hearings } });
  await harness.start();
  const facts = [{ name: "opened", n: 1 }, { name: "moved", n: 2 }, { name: "unheard" }];
  await harness.ask(harness.to("actor"), { type: "publish", facts } as Note);
  t.match(await harness.ask(harness.to("actor", "first"), { type: "look" }), { told: facts.slice(0, 2) });
  t.match(await harness.ask(harness.to("actor", "second"), { type: "look" }), { told: [facts[1]] });
  t.same(harness.durable.range({ prefix: [partition, actorSpace, "hearing"] }), [], "a hearing has no state");
});

t.test("one that says which facts it hears has no turn for others, and sees what the publisher wrote", async (t) => {
  const asked: unknown[] = [];
  const choosy: Subscriber = {
    name: "choosy",
    facts: ["opened"],
    hears: (fact, where, reading) => {
      asked.push([fact, rules.get(reading, where, "rule")]);
      return "n" in fact && fact.n === 2;
    },
    handle: (fact, turn) =>
      turn.send({ partition: turn.self.partition, kind: "actor", id: "choosy" }, { type: "told", what: fact } as Note),
  };
  const harness = new Harness({ catalogue: { actors: [actor], subscribers: [choosy] } });
  await harness.start();
  const facts = [1, 2, 3].map((n) => ({ name: "opened", n }));
  await harness.ask(harness.to("actor"), { type: "publish", facts, rule: true } as Note);
  t.match(await harness.ask(harness.to("actor", "choosy"), { type: "look" }), { told: [facts[1]] });
  t.same(
    asked,
    facts.map((fact) => [fact, { keeps: true }]),
    "each once, after what was written in the turn",
  );
});

t.test("a hearing that throws, or does more than read and send, ends in a dead letter and hurts nobody", async (t) => {
  const deeds: Subscriber["handle"][] = [
    () => {
      throw new Error("deaf");
    },
    (_fact, turn) => turn.wake("a", 1),
    (_fact, turn) => turn.stop(),
    (_fact, turn) => (turn as Turn<number>).reply(1),
    (_fact, turn) => rules.put(turn, partition, "x", { keeps: true }),
  ];
  const hearings = deeds.map((handle, index) => ({ name: `h${index}`, facts: ["f"], handle: handle }));
  const harness = new Harness({ catalogue: { actors: [actor], subscribers: hearings } });
  await harness.start();
  await harness.ask(harness.to("actor"), { type: "publish", facts: [{ name: "f" }] } as Note);
  const letters = harness.runtime.deadLetters.list(partition, 10);
  t.same(letters.map(({ error }) => error).sort(), [
    "deaf",
    "the subscriber h1 may read and send, not wake",
    "the subscriber h2 may read and send, not stop",
    "the subscriber h3 may read and send, not reply",
    "the subscriber h4 may read and send, not write rows",
  ]);
  t.equal(rules.get(harness.durable, partition, "x"), undefined);
  await t.rejects(harness.ask(harness.to("hearing", "h1"), { type: "look" }), { name: "NotAccepted" });
});

t.test("a gate that nobody keeps is open at once", async (t) => {
  const { harness, answers } = await withGates(gating("none", ["step"], []), gating("other", ["leap"], ["no"]));
  await harness.ask(harness.to("actor"), { type: "ask", id: "q1" } as Note);
  t.same(await answers(), [{ gate: "step", id: "q1", refused: null }]);
});

t.test("keepers are found by what the asker's turn has written", async (t) => {
  const byRule: Gate = {
    ...gating("rule", ["step"], []),
    gatekeepers: (_question, where, reading) =>
      rules.get(reading, where, "rule") === undefined
        ? []
        : [{ to: { partition: where, kind: "keeper", id: "1" }, message: { type: "review", says: "no" } as Message }],
  };
  const { harness, answers } = await withGates(byRule);
  await harness.ask(harness.to("actor"), { type: "ask", id: "q1", rule: true } as Note);
  t.same(await answers(), [{ gate: "step", id: "q1", refused: "not now" }]);
});

t.test("all keepers must agree; the first refusal decides; each question is answered once", async (t) => {
  for (const [says, refused] of [
    [["yes", "yes", "yes"], null],
    [["yes", "no", "nothing"], "not now"],
    [["no", "no", "no"], "not now"],
    [["twice", "yes"], null],
    [["stranger", "yes"], null],
  ] as const) {
    const { harness, answers } = await withGates(gating("g", ["step"], says));
    await harness.ask(harness.to("actor"), { type: "ask", id: "q1" } as Note);
    await harness.advance(20_000);
    t.same(await answers(), [{ gate: "step", id: "q1", refused }], says.join());
    t.same(harness.durable.range({ prefix: [partition, actorSpace, gateKind] }), [], "the gate is gone");
    t.same(harness.durable.range({ prefix: [GLOBAL_PARTITION, timerSpace] }), [], "and its wake-ups");
  }
});

t.test("past the bound each keeper is told so once, and what it answers then counts", async (t) => {
  for (const [says, refused] of [
    [["yes when late", "yes", "yes when late"], null],
    [["yes when late", "no when late"], "out of time"],
  ] as const) {
    const { harness, answers } = await withGates(gating("g", ["step"], says, 5_000));
    await harness.ask(harness.to("actor"), { type: "ask", id: "q1" } as Note);
    await harness.advance(4_000);
    t.same(await answers(), [], "not before");
    harness.crash();
    await harness.start();
    await harness.advance(1_500);
    t.same(await answers(), [{ gate: "step", id: "q1", refused }], says.join());
    t.same(harness.durable.range({ prefix: [partition, actorSpace, gateKind] }), [], "the gate is gone");
    t.same(harness.durable.range({ prefix: [GLOBAL_PARTITION, timerSpace] }), [], "and its wake-ups");
  }
});

t.test("what silence means after that is said by the request", async (t) => {
  for (const [whenSilent, refused] of [
    [null, null],
    ["it has to be heard", "it has to be heard"],
    [undefined, "no answer in time from keeper/g-0"],
  ] as const) {
    const asked = gating("g", ["step"], ["nothing", "yes"], 5_000);
    const keepers: Gate["gatekeepers"] = (...of) =>
      asked.gatekeepers(...of).map((request) => (whenSilent === undefined ? request : { ...request, whenSilent }));
    const { harness, answers } = await withGates({ ...asked, gatekeepers: keepers });
    await harness.ask(harness.to("actor"), { type: "ask", id: "q1" } as Note);
    await harness.advance(7_000);
    t.same(await answers(), [], "there is time to answer when it was told");
    await harness.advance(4_000);
    t.same(await answers(), [{ gate: "step", id: "q1", refused }], String(whenSilent));
  }
});

t.test("a keeper may call others, who decide as if they had been asked at first", async (t) => {
  const words: readonly (readonly [readonly string[], string | null])[] = [
    [["yes"], null],
    [["yes", "no"], "not now"],
    [["yes when late"], null],
    [["no when late"], "out of time"],
  ];
  for (const [called, refused] of words) {
    const asked = gating("g", ["step"], ["calls", "yes"], 5_000);
    const keepers: Gate["gatekeepers"] = (...of) =>
      asked.gatekeepers(...of).map(({ to, message }) => ({ to, message: Object.assign({}, message, { called }) }));
    const { harness, answers } = await withGates({ ...asked, gatekeepers: keepers });
    await harness.ask(harness.to("actor"), { type: "ask", id: "q1" } as Note);
    if (called.some((word) => word.endsWith("late"))) t.same(await answers(), [], "those called are waited for");
    await harness.advance(5_500);
    t.same(await answers(), [{ gate: "step", id: "q1", refused }], called.join());
  }
});

t.test("past the bound of a gating the step is refused, naming who did not answer", async (t) => {
  const { harness, answers } = await withGates(
    gating("quick", ["step"], ["yes"], 1_000),
    gating("slow", ["step"], ["nothing", "yes"], 5_000),
  );
  await harness.ask(harness.to("actor"), { type: "ask", id: "q1" } as Note);
  await harness.advance(3_000);
  t.same(await answers(), [], "the bound of those who answered is no matter");
  harness.crash();
  await harness.advance(3_600_000);
  await harness.start();
  await harness.advance(10_000);
  t.same(await answers(), [{ gate: "step", id: "q1", refused: "no answer in time from keeper/slow-0" }]);
  await harness.ask(harness.to("keeper", "slow-0"), { type: "answerNow" });
  t.equal(harness.runtime.stats().unhandled, 1, "an answer after the bound changes nothing");
});

t.test("a keeper of a kind that does not exist fails the asker's turn", async (t) => {
  const wrong: Gate = {
    ...gating("wrong", ["step"], []),
    gatekeepers: () => {
      throw new Error("no such rule");
    },
  };
  const { harness } = await withGates(wrong);
  await t.rejects(harness.ask(harness.to("actor"), { type: "ask", id: "q1" } as Note), { name: "TurnFailed" });
  await harness.ask(harness.to("actor"), { type: "askOther", name: "anything" } as Note);
  t.match(await harness.ask(harness.to("actor"), { type: "look" }), { answers: [{ gate: "anything", refused: null }] });
});

t.test("kinds and names are unique, and the runtime's own are taken", async (t) => {
  for (const kind of [gateKind, "hearing", ""]) {
    await t.rejects(new Harness({ catalogue: { actors: [{ ...actor, kind }] } }).start(), /is taken/);
  }
  await t.rejects(new Harness({ catalogue: { actors: [actor, actor] } }).start(), /is taken/);
  const hearing: Subscriber = { name: "h", facts: [], handle: () => undefined };
  await t.rejects(
    new Harness({ catalogue: { subscribers: [hearing, hearing] } }).start(),
    /two subscribers are named h/,
  );
});
