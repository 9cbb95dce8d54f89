import t from "tap";
import { type FiringFilter, firingsOf, putFiring } from "../../../actors/hooks/firing-list.js";
import type { FiringRow, FiringState } from "../../../actors/hooks/occurrence-rows.js";
import { countingRows } from "../../support/counting-rows.js";
import { memoryRows } from "../../support/turn.js";
import { teamId, workspaceId } from "../../support/work.js";

const states: readonly FiringState[] = ["attempting", "waiting", "delivered", "failed", "refused"];
const hooks = ["alpha", "beta", "gamma"];
const events = ["task.opened", "run.ended"] as const;

/** The n-th of many firings: every mix of hook, event and state comes up; one in twenty is not delivered. */
function firing(n: number): FiringRow {
  const pick = <One>(from: readonly One[], index: number): One => from[index % from.length] as One;
  return {
    ...{ id: `occ_${String(n).padStart(6, "0")}`, occurrence: "occ", hookId: "hook", hook: pick(hooks, n * 7) },
    ...{
      on: pick(events, n >> 2),
      teamId,
      taskId: "task",
      runId: null,
      code: null,
      reason: null,
      refused: null,
      firedAt: "",
    },
    ...{ state: n % 20 === 0 ? pick(states, n / 20) : "delivered", endedAt: null, resends: null },
  };
}

const filters: readonly FiringFilter[] = [undefined, "beta"].flatMap((hook) =>
  [undefined, "run.ended" as const].flatMap((event) =>
    [undefined, "failed" as const, "delivered" as const, "refused" as const].map((state) => ({ hook, event, state })),
  ),
);

t.test("a page of the history reads what it shows and little more, whatever it is narrowed by", async (t) => {
  const rows = countingRows(memoryRows());
  const all = Array.from({ length: 3_000 }, (_, n) => firing(n));
  for (const one of all) {
    putFiring(rows, workspaceId, { ...one, state: "attempting" }, null);
    putFiring(rows, workspaceId, one, "attempting");
  }
  for (const filter of filters) {
    const wanted = all
      .filter(
        (one) =>
          (filter.hook === undefined || one.hook === filter.hook) &&
          (filter.event === undefined || one.on === filter.event) &&
          (filter.state === undefined || one.state === filter.state),
      )
      .reverse();
    rows.reset();
    const first = firingsOf(rows, { workspaceId, teamId }, filter, { limit: 20 });
    t.same(first, wanted.slice(0, 20), JSON.stringify(filter));
    const { read } = rows;
    const before = first.at(-1)?.id;
    t.same(firingsOf(rows, { workspaceId, teamId }, filter, { before, limit: 20 }), wanted.slice(20, 40));
    // Besides the rows and the firings: one read a line, and a slice of each.
    const lines = hooks.length * events.length * states.length;
    t.ok(read <= 2 * 20 + lines * 11, `${read} rows were read`);
  }
});
