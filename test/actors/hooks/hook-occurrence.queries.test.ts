import t from "tap";
import type { WorkEvent } from "../../../actors/events/catalogue.js";
import type { HookOccurrence, HookOccurrenceState } from "../../../actors/hooks/hook-occurrence.js";
import { type HookOccurrenceFilter, listHookOccurrences } from "../../../actors/hooks/hook-occurrence.queries.js";
import { hookOccurrences } from "../../../actors/hooks/hook-occurrence.table.js";
import { currentHookOccurrence } from "../../../actors/hooks/hook-occurrence.view.js";
import type { Cursor, Slice } from "../../../actors/tables/page-source.js";
import type { EffectWait } from "../../../runtime/effects/lane.js";
import type { Reading } from "../../../storage/store.js";
import { countingRows } from "../../support/counting-rows.js";
import { memoryRows } from "../../support/turn.js";
import { teamId, workspaceId } from "../../support/work.js";

const states: readonly HookOccurrenceState[] = ["attempting", "waiting", "delivered", "failed", "refused"];
const hooks = ["alpha", "beta", "gamma"];
const events = ["task.opened", "run.ended"] as const;

/** Returns the n-th of many hook occurrences. Every mix of hook, event and state occurs; most are delivered. */
function firing(n: number): HookOccurrence {
  const pick = <One>(from: readonly One[], index: number): One => from[index % from.length] as One;
  return {
    id: `occ_${String(n).padStart(6, "0")}`,
    hookId: "hook",
    hook: pick(hooks, n * 7),
    work: { teamId, on: pick(events, n >> 2), task: { id: "task" } } as WorkEvent,
    state: n % 20 === 0 ? pick(states, n / 20) : "delivered",
    code: null,
    reason: null,
    refused: null,
    firedAt: "",
    endedAt: null,
    retryAt: null,
    resends: null,
    resentAs: null,
  };
}

const filters: readonly HookOccurrenceFilter[] = [undefined, "beta"].flatMap((hook) =>
  [undefined, "run.ended" as const].flatMap((event) =>
    [undefined, "failed" as const, "delivered" as const, "refused" as const].map((state) => ({
      hook,
      event,
      state,
    })),
  ),
);

/**
 * Reads a page of up to 20 occurrences, slice by slice: those before the id `before`, or the first page if `before` is
 * undefined.
 */
function readPage(
  rows: Reading,
  filter: HookOccurrenceFilter,
  before: string | undefined,
  betweenSlices: () => void = () => undefined,
): HookOccurrence[] {
  const found: HookOccurrence[] = [];
  const read = listHookOccurrences({ workspaceId, teamId }, filter, { before, limit: 20 });
  let cursor: Cursor<HookOccurrence> | null = null;
  do {
    const slice: Slice<HookOccurrence> = read(rows, cursor);
    found.push(...slice.rows);
    cursor = slice.next;
    betweenSlices();
  } while (cursor !== null);
  return found;
}

t.test("a page of the history reads few more rows than it returns, with any filter", async (t) => {
  const rows = countingRows(memoryRows());
  const all = Array.from({ length: 3_000 }, (_, n) => firing(n));
  for (const one of all) {
    const begun: HookOccurrence = { ...one, state: "attempting" };
    hookOccurrences.insert(rows, workspaceId, begun);
    hookOccurrences.put(rows, workspaceId, begun, one);
  }
  for (const filter of filters) {
    const wanted = all
      .filter(
        (one) =>
          (filter.hook === undefined || one.hook === filter.hook) &&
          (filter.event === undefined || one.work.on === filter.event) &&
          (filter.state === undefined || one.state === filter.state),
      )
      .reverse();
    rows.reset();
    const first = readPage(rows, filter, undefined);
    t.same(first, wanted.slice(0, 20), JSON.stringify(filter));
    const { read } = rows;
    t.same(readPage(rows, filter, first.at(-1)?.id), wanted.slice(20, 40));
    // A returned row costs at most four reads. Each line of the index (one per hook, event and state) costs at most 11
    // reads: one to find it, and a slice of ten rows.
    const lines = hooks.length * events.length * states.length;
    t.ok(read <= 4 * 20 + lines * 11, `${read} rows were read`);
  }
});

t.test("rare hook occurrences of a common state are found, with few rows in each slice", async (t) => {
  const rows = countingRows(memoryRows());
  const isWanted = (n: number) => n === 17 || n === 4_000;
  for (let n = 0; n < 5_000; n++) {
    const one: HookOccurrence = { ...firing(n), state: isWanted(n) ? "attempting" : "delivered" };
    hookOccurrences.insert(rows, workspaceId, one);
  }
  for (const filter of [{ state: "attempting" as const }, { state: "attempting" as const, event: "run.ended" }]) {
    let most = 0;
    const found = readPage(rows, filter, undefined, () => {
      most = Math.max(most, rows.read);
      rows.reset();
    });
    const wanted = [4_000, 17].map(firing).filter(({ work }) => (filter.event ?? work.on) === work.on);
    t.same(
      found.map(({ id }) => id),
      wanted.map(({ id }) => id),
    );
    t.ok(most > 0 && most <= 1_000, `${most} rows were read in one slice`);
    t.same(readPage(rows, filter, wanted.at(-1)?.id), [], "and then there are no more");
  }
});

t.test("a firing that waits says for what", async (t) => {
  const reasons = (["target", "client", "process", null] as const).map((bound) => {
    const wait: EffectWait = { sinceMs: 0, bound, target: "service hooks.example.com" };
    const runtime = { reading: memoryRows(), lookUpWait: () => wait };
    return currentHookOccurrence(runtime, workspaceId, { ...firing(0), state: "attempting" }).waits?.reason;
  });
  t.same(reasons, [
    "the most requests to hooks.example.com that the workspace may have are under way",
    "the most requests that the workspace may have are under way",
    "requests of other workspaces are sent first",
    "the service is about to send it",
  ]);
});
