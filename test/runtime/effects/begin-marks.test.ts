import t from "tap";
import { address } from "../../../runtime/cells/address.js";
import { cellName } from "../../../runtime/cells/cell-record.js";
import { checkActors } from "../../../runtime/cells/check-actors.js";
import { effect, withBeginMarked } from "../../../runtime/effects/effect-type.js";
import { type EffectRow, effectKey, pendingName, startedKey } from "../../../runtime/effects/pending-effect.js";
import { GLOBAL_PARTITION, metaSpace, startedSpace } from "../../../storage/keys.js";
import type { Change } from "../../../storage/store.js";
import { partition } from "../../support/harness.js";
import { plainLane } from "../../support/plain-effect.js";
import type { Note } from "../../support/probe.js";
import { startedWith, worker } from "../effect-scene.js";

/**
 * Starts a runtime whose effects share a lane with this many places. Records each run of an effect with its
 * `mayHaveBegun`. The test ends the runs.
 */
async function scene(places: number) {
  const lane = plainLane(places);
  const runs: { readonly id: string; readonly mayHaveBegun: boolean; end(): void }[] = [];
  const unmarked = effect<unknown, unknown>("work").implementPrepared((_input, { id, mayHaveBegun }) => ({
    place: { lane, target: "", bytes: 0 },
    begin: () => new Promise((resolve) => runs.push({ id, mayHaveBegun, end: () => resolve(null) })),
  }));
  const { harness, tell } = await startedWith(withBeginMarked(unmarked));
  const restart = async () => {
    harness.crash();
    runs.splice(0);
    await harness.start();
    await harness.advance();
  };
  const told = () => Object.fromEntries(runs.map(({ id, mayHaveBegun }) => [id, mayHaveBegun]));
  const marks = () => harness.durable.range({ prefix: [partition, startedSpace] }).map(({ key }) => key.at(-1));
  /** Starts the effect and pauses the write of its mark. The returned function lets that write finish. */
  const startUntilMarked = async (id: string, actor: string) => {
    const [row, mark] = [gate(), gate()];
    harness.held = row.opened;
    const asked = tell({ type: "start", id }, actor).catch(() => undefined);
    await harness.advance();
    harness.held = mark.opened;
    row.open();
    await harness.advance();
    await asked;
    return async () => {
      harness.held = null;
      mark.open();
      await harness.advance();
    };
  };
  const write = async (changes: readonly Change[]) => {
    const written = harness.disk.open().commit(changes);
    await harness.advance();
    await written;
  };
  return { harness, tell, runs, restart, told, marks, startUntilMarked, write };
}

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

t.test("however often the process is killed, what waits for its place has not begun", async (t) => {
  const { harness, tell, runs, restart, told, marks } = await scene(1);
  await tell({ type: "start", id: "first" });
  await tell({ type: "start", id: "second" }, "2");
  for (let kill = 1; kill <= 8; kill++) {
    await restart();
    t.same(told(), { first: true }, `after kill ${kill}`);
  }
  runs[0]?.end();
  await harness.advance();
  t.same(told(), { first: true, second: false });
  t.same(marks(), ["second"], "the mark of what ended is gone");
  await restart();
  t.same(told(), { second: true });
});

t.test("a run begins once its mark is on disk, and a kill before that has begun nothing", async (t) => {
  const { harness, tell, restart, told, marks, runs } = await scene(1);
  harness.killAt = { commit: harness.batches.length + 2, when: "before" };
  await tell({ type: "start", id: "e1" });
  t.same([runs.length, marks()], [0, []], "its row is on disk, its mark is not");
  harness.killAt = null;
  await restart();
  t.same([told(), marks()], [{ e1: false }, ["e1"]]);
});

t.test("what is cancelled while its mark is written does not begin, and gives its place to the next", async (t) => {
  const { harness, tell, told, marks, startUntilMarked } = await scene(1);
  const release = await startUntilMarked("e1", "1");
  const cancelled = harness.runtime.ask(harness.to("worker"), { type: "cancel", id: "e1" } as Note);
  const started = harness.runtime.ask(harness.to("worker", "2"), { type: "start", id: "e2" } as Note);
  await harness.advance();
  await release();
  await Promise.all([cancelled, started]);
  t.same(told(), { e2: false });
  t.same(marks(), ["e2"]);
  await tell({ type: "cancel", id: "e2" }, "2");
  t.same(marks(), []);
});

t.test("what has its place and did not begin before the stop is not told that it may have", async (t) => {
  const { harness, tell, told, marks, restart, startUntilMarked } = await scene(2);
  await tell({ type: "start", id: "begun" });
  const release = await startUntilMarked("placed", "2");
  void harness.runtime.finishEffects();
  await release();
  t.same(marks(), ["begun", "placed"]);
  const stopping = harness.runtime.stop();
  await harness.advance();
  await stopping;
  t.same(marks(), ["begun"]);
  await restart();
  t.same(told(), { begun: true, placed: false });
});

t.test("of what an earlier release left, which wrote no marks, that which it may have begun is told so", async (t) => {
  const named = (id: string) => [pendingName({ ownerName: cellName(address(partition, "worker", "1")), id })];
  for (const [begun, expected] of [
    [true, true],
    [false, false],
    [named("e1"), true],
    [named("e2"), false],
  ] as const) {
    const { harness, startUntilMarked, told, restart, write } = await scene(1);
    await startUntilMarked("e1", "1");
    harness.crash();
    harness.held = null;
    const key = effectKey(harness.to("worker"), "e1");
    const row = harness.durable.get<EffectRow>(key);
    await write([
      { op: "put", key, value: { ...row, marks: undefined } },
      { op: "remove", key: startedKey(harness.to("worker"), "e1") },
      { op: "put", key: [GLOBAL_PARTITION, metaSpace, "stopped"], value: { left: null, begun } },
    ]);
    await restart();
    t.same(told(), { e1: expected }, String(begun));
  }
});

t.test("the doctor removes a mark whose effect is not pending", async (t) => {
  const { harness, tell, write } = await scene(1);
  await tell({ type: "start", id: "e1" });
  const key = startedKey(harness.to("worker"), "lost");
  await write([{ op: "put", key, value: true }]);
  const catalogue = { actors: [worker], subscribers: [], gates: [], effects: [] };
  t.same(
    [...checkActors(harness.durable, catalogue)],
    [{ what: "a mark of an effect that is not pending", key, repair: [{ op: "remove", key }] }],
  );
});
