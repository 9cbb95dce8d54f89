import fc from "fast-check";
import t from "tap";
import { type ComposedRun, composeRuns } from "../../../../actors/replays/sets/composition.js";
import { MAX_SUGGESTED, suggestRuns } from "../../../../actors/replays/sets/suggestions.js";
import { type TaskOutcome, taskOutcomes } from "../../../../actors/run-facts/run-outcome.table.js";

const at = (day: number) => new Date(Date.UTC(2026, 8, day)).toISOString();
const outcome = fc.constantFrom(...taskOutcomes);
const run = fc.record<ComposedRun>({
  outcome,
  origin: fc.constantFrom("person", "station", "linear", null),
  endedAt: fc.option(fc.integer({ min: 1, max: 28 }).map(at)),
});
const runs = fc.array(run, { maxLength: 50 });

function repeated(one: TaskOutcome, count: number): ComposedRun[] {
  return Array.from({ length: count }, () => ({ outcome: one, origin: "person", endedAt: at(1) }));
}

t.test("a composition counts each run once, whatever their order", async () => {
  fc.assert(
    fc.property(runs, (set) => {
      const { outcomes, origins, oldest, median, newest } = composeRuns(set);
      const sum = (counted: readonly { readonly count: number }[]) =>
        counted.reduce((all, { count }) => all + count, 0);
      const ends = set.flatMap(({ endedAt }) => endedAt ?? []).sort();
      const isOrdered = origins.every((each, index) => {
        const next = origins[index + 1];
        return (
          next === undefined || each.count > next.count || (each.count === next.count && each.origin < next.origin)
        );
      });
      // The median is the earlier of the two middle ends: at least half of the ends are not later, and at least half
      // are not earlier.
      const isMiddle =
        median === null
          ? ends.length === 0
          : 2 * ends.filter((end) => end <= median).length >= ends.length &&
            2 * ends.filter((end) => end < median).length < ends.length;
      return (
        outcomes.map((each) => each.outcome).join() === taskOutcomes.join() &&
        [sum(outcomes) === set.length, sum(origins) === set.length, isOrdered, isMiddle].every(Boolean) &&
        oldest === (ends[0] ?? null) &&
        newest === (ends.at(-1) ?? null) &&
        JSON.stringify(composeRuns([...set].reverse())) === JSON.stringify(composeRuns(set))
      );
    }),
  );
});

t.test("of 6 runs or more, more than two thirds of one outcome but `other` are a warning", async (t) => {
  const findWarning = (...of: ComposedRun[][]) => composeRuns(of.flat()).balanceWarning;
  t.same(findWarning(repeated("failed", 5)), null, "too few");
  t.same(findWarning(repeated("failed", 4), repeated("asked", 2)), null, "two thirds are not more");
  t.same(findWarning(repeated("failed", 5), repeated("asked", 1)), { dominant: "failed", count: 5, entries: 6 });
  t.same(findWarning(repeated("other", 6)), null);
  t.same(findWarning(repeated("accepted", 6), repeated("other", 3)), null);
  t.same(findWarning(repeated("accepted", 7), repeated("other", 3)), { dominant: "accepted", count: 7, entries: 10 });
});

t.test("no times and origins of an empty set", async (t) => {
  t.match(composeRuns([]), { origins: { length: 0 }, oldest: null, median: null, newest: null, balanceWarning: null });
  t.same(composeRuns([{ outcome: "other", origin: null, endedAt: null }]).origins, [{ origin: "unknown", count: 1 }]);
});

interface Candidate {
  readonly outcome: TaskOutcome;
  readonly id: number;
}

/** Picks candidates by trying all of them in each step. This is slow, but follows the written rule word by word. */
function pickSlowly(inSet: readonly TaskOutcome[], candidates: readonly Candidate[]): readonly number[] {
  const taken: Candidate[] = [];
  const toCount = (wanted: TaskOutcome) =>
    [...inSet, ...taken.map((each) => each.outcome)].filter((each) => each === wanted).length;
  while (taken.length < 5 && taken.length < candidates.length) {
    const left = candidates.filter((each) => !taken.includes(each));
    const [next] = left.toSorted(
      (one, two) =>
        Number(one.outcome === "other") - Number(two.outcome === "other") ||
        toCount(one.outcome) - toCount(two.outcome) ||
        candidates.indexOf(one) - candidates.indexOf(two),
    );
    if (next !== undefined) taken.push(next);
  }
  return taken.map(({ id }) => id).sort((one, two) => one - two);
}

t.test("suggestions even out a set, newest first", async () => {
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 50 }), fc.array(outcome, { maxLength: 50 }), (inSet, latest) => {
      const candidates = latest.map((each, id) => ({ outcome: each, id }));
      const suggested = suggestRuns(
        inSet.map((each) => ({ outcome: each })),
        candidates,
      ).map(({ id }) => id);
      return (
        suggested.length === Math.min(MAX_SUGGESTED, candidates.length) &&
        suggested.join() === pickSlowly(inSet, candidates).join()
      );
    }),
  );
});
