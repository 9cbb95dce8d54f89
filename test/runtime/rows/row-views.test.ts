import t from "tap";
import type { RowView } from "../../../runtime/rows/row-view.js";
import { TurnFailed } from "../../../runtime/runtime.js";
import { table } from "../../../storage/table.js";
import { Harness, partition } from "../../support/harness.js";
import { type Note, probe } from "../../support/probe.js";
import { stepByHand } from "../../support/turn.js";

const counts = table<number>("count");
const rules = table<number>("rule");

/** A row view of all counts, and of the single rule of kind `a`. */
interface Held {
  readonly counts: Map<string, number>;
  readonly rule: number | undefined;
}

let built = 0;
const held: RowView<Held> = {
  rows: [["count"], ["rule", "a"]],
  build: (reading, self) => {
    built += 1;
    const entries = counts.entries(reading, self.partition);
    return {
      counts: new Map(entries.map(({ key, value }) => [String(key[3]), value])),
      rule: rules.get(reading, self.partition, "a", 1),
    };
  },
};
const undeclared: RowView<null> = { rows: [["count"]], build: () => null };

/** An actor that stores counts in rows and in its row view. */
const keeper = probe(
  "keeper",
  {
    set: (_context, { id, n }, turn) => {
      turn.rowView(held).counts.set(String(id), Number(n));
      counts.put(turn, turn.self.partition, String(id), Number(n));
      turn.reply(shown(turn.rowView(held)));
    },
    show: (_context, _message, turn) => turn.reply(shown(turn.rowView(held))),
    fail: (_context, { id, n }, turn) => {
      turn.rowView(held).counts.set(String(id), Number(n));
      counts.put(turn, turn.self.partition, String(id), Number(n));
      throw new Error("on purpose");
    },
    forgetful: (_context, { id, n }, turn) => {
      turn.rowView(held);
      counts.put(turn, turn.self.partition, String(id), Number(n));
    },
    ask: (_context, _message, turn) => turn.rowView(undeclared),
    stop: (_context, _message, turn) => turn.stop(),
  },
  { rowViews: [held] },
);

/** An actor that writes two kinds of rows: rows from which the keeper's row view is built, and other rows. */
const writer = probe("writer", {
  count: (_context, { id, n }, turn) => counts.put(turn, turn.self.partition, String(id), Number(n)),
  rule: (_context, { kind, n }, turn) => rules.put(turn, turn.self.partition, [String(kind), 1], Number(n)),
  fail: (_context, _message, turn) => {
    counts.put(turn, turn.self.partition, "x", 1);
    throw new Error("on purpose");
  },
});

function shown({ counts: all, rule }: Held) {
  return { counts: Object.fromEntries(all), rule: rule ?? null };
}

async function started(idleCells = 100) {
  const harness = new Harness({ catalogue: { actors: [keeper, writer] }, limits: { idleCells } });
  await harness.start();
  const ask = (type: string, more: object = {}) => harness.ask(harness.to("keeper"), { type, ...more } as Note);
  const write = (type: string, more: object = {}) => harness.ask(harness.to("writer"), { type, ...more } as Note);
  built = 0;
  return { harness, ask, write };
}

/**
 * Returns the number of builds since the last call of this function. The runtime compares the view with the rows, which
 * adds one build per turn.
 */
function builds(): number {
  const times = built;
  built = 0;
  return times;
}

t.test("a row view is built once and then changed by its actor, turn by turn", async (t) => {
  const { ask } = await started();
  t.same(await ask("set", { id: "a", n: 1 }), { counts: { a: 1 }, rule: null });
  t.equal(builds(), 2, "once, and once to compare");
  t.same(await ask("set", { id: "b", n: 2 }), { counts: { a: 1, b: 2 }, rule: null });
  t.same(await ask("show"), { counts: { a: 1, b: 2 }, rule: null });
  t.equal(builds(), 2, "to compare");
});

t.test("of a turn that throws nothing stays in the row view", async (t) => {
  const { ask } = await started();
  await ask("set", { id: "a", n: 1 });
  await t.rejects(ask("fail", { id: "a", n: 7 }), TurnFailed);
  t.same(await ask("show"), { counts: { a: 1 }, rule: null });
});

t.test("what another actor writes shows in the next turn, and only rows that it stands for drop it", async (t) => {
  const { ask, write } = await started();
  await ask("set", { id: "a", n: 1 });
  await write("count", { id: "b", n: 2 });
  t.same(await ask("show"), { counts: { a: 1, b: 2 }, rule: null });
  await write("rule", { kind: "a", n: 3 });
  t.same(await ask("show"), { counts: { a: 1, b: 2 }, rule: 3 });
  builds();
  await write("rule", { kind: "b", n: 3 });
  await t.rejects(write("fail"), TurnFailed);
  await ask("show");
  t.equal(builds(), 1, "to compare");
});

t.test("rows of another partition drop nothing, nor does another partition's row view", async (t) => {
  const { harness, ask } = await started();
  await ask("set", { id: "a", n: 1 });
  const there = { partition: "ws_2", kind: "keeper", id: "1" };
  t.same(await harness.ask(there, { type: "set", id: "z", n: 9 } as Note), { counts: { z: 9 }, rule: null });
  builds();
  t.same(await ask("show"), { counts: { a: 1 }, rule: null });
  t.equal(builds(), 1, "to compare");
});

t.test("one that leaves memory takes its row view with it, and so does one that ends", async (t) => {
  const { harness, ask } = await started(0);
  await ask("set", { id: "a", n: 1 });
  for (let n = 0; n < 3; n++) await harness.ask(harness.to("writer", `w${n}`), { type: "rule", kind: "b", n } as Note);
  builds();
  t.same(await ask("show"), { counts: { a: 1 }, rule: null });
  t.equal(builds(), 2, "built, and compared");
  const other = await started();
  await other.ask("set", { id: "a", n: 1 });
  await other.ask("stop");
  builds();
  t.same(await other.ask("show"), { counts: { a: 1 }, rule: null });
  t.equal(builds(), 2);
});

t.test("a row view that its actor did not change with its rows fails the turn, where tests look for it", async (t) => {
  const { ask } = await started();
  await t.rejects(ask("forgetful", { id: "a", n: 1 }), TurnFailed);
  t.same(await ask("show"), { counts: {}, rule: null });
  const byHand = stepByHand(keeper, { partition, kind: "keeper", id: "1" });
  t.throws(() => byHand.take({ type: "forgetful", id: "a", n: 1 } as Note), /row view of count, rule that differs/);
  byHand.take({ type: "set", id: "a", n: 1 } as Note);
  counts.put(byHand.rows, partition, "b", 2);
  t.same(byHand.take({ type: "show" }).answer, { counts: { a: 1, b: 2 }, rule: null });
});

t.test("a row view that the actor type does not name is refused", async (t) => {
  const { ask } = await started();
  await t.rejects(ask("ask"), TurnFailed);
});
