import fc from "fast-check";
import t from "tap";
import { replayCopies } from "../../../../actors/replays/copies/replay-copy.table.js";
import { compareSides } from "../../../../actors/replays/figures/versus.js";
import type { ReplayRow } from "../../../../actors/replays/replay/replay.js";
import { replays } from "../../../../actors/replays/replay/replay.table.js";
import { ReplayMemory } from "../../../../actors/replays/replay/replay-memory.js";
import { successTotals } from "../../../../actors/statistics/success.js";
import { CountingReading } from "../../../support/counting-reading.js";
import { copyRow, picturedReplay, putReplay, replayPlace, toCounts } from "../../../support/pictured-replays.js";
import { memoryRows } from "../../../support/turn.js";

const { workspaceId } = replayPlace;

t.test("figures that are remembered are those of the rows, however copies settle", async () => {
  const step = fc.record({ at: fc.nat(11), result: fc.constantFrom("+", "-", "?", "j"), isRead: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const [rows, memory] = [memoryRows(), new ReplayMemory()];
      const base = putReplay(rows, picturedReplay({ a: "++-", b: "+-+", c: "---", d: "+?+" }, { id: "rep_1" }));
      const made = picturedReplay({ a: "...", b: "...", c: "...", d: "..." }, { id: "rep_2" });
      let replay: ReplayRow = putReplay(rows, made);
      const copies = [...made.copies];
      return steps.every(({ at, result, isRead }) => {
        const before = copies[at];
        // Skip this step if the copy already has a result: a result never changes.
        if (before === undefined || before.result !== null) return true;
        const after = copyRow(before, result);
        copies[at] = after;
        replayCopies.put(rows, workspaceId, before, after);
        const next = { ...replay, counts: toCounts(copies) };
        replays.put(rows, workspaceId, replay, next);
        replay = next;
        if (!isRead) return true;
        const totals = memory.getTotals(rows, workspaceId, replay);
        const versus = memory.versus(rows, workspaceId, { own: replay, other: base, live: [base], minGain: 0.05 });
        const other = { ...base, copies: memory.listCopies(rows, workspaceId, base) };
        const expected = compareSides({ ...replay, copies }, other, { minGain: 0.05, live: other.copies });
        return JSON.stringify([totals, versus]) === JSON.stringify([successTotals(copies), expected]);
      });
    }),
    { numRuns: 50 },
  );
});

t.test("what is remembered is not read again, and nothing is of a replay whose copies are not all there", async (t) => {
  const [rows, memory] = [memoryRows(), new ReplayMemory()];
  const reading = new CountingReading(rows);
  const made = picturedReplay({ a: "..", b: ".." });
  const [first, ...others] = made.copies;
  if (first === undefined) throw new Error("no copy");
  const replay = putReplay(rows, { ...made, copies: [first] });
  t.equal(memory.getTotals(reading, workspaceId, replay).entries, 1);
  for (const copy of others) replayCopies.insert(rows, workspaceId, copy);
  t.equal(memory.getTotals(reading, workspaceId, replay).entries, 4);
  t.equal(
    reading.during(() => {
      memory.getTotals(reading, workspaceId, replay);
      memory.listCopies(reading, workspaceId, replay);
    }),
    0,
  );
});
