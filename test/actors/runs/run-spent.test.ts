import t from "tap";
import { MAX_AMOUNT } from "../../../actors/money.js";
import type { RunRow } from "../../../actors/runs/run.js";
import { runs } from "../../../actors/runs/run.table.js";
import { runRowView } from "../../../actors/runs/run-row.view.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { SteppedWork } from "../../support/stepped-work.js";
import { workspaceId } from "../../support/work.js";

/** The spent amount of a run: the sum of its steps, or the amount in its runner's final report. */

const most = { amount: MAX_AMOUNT, currency: "USD" };

function running(): SteppedWork {
  const work = new SteppedWork();
  work.claim();
  work.say({ type: "run.started" });
  return work;
}

function toRow({ rows, runId }: SteppedWork): RunRow {
  const row = runs.get(rows, workspaceId, runId);
  if (row === undefined) throw new Error("the run has a row");
  return row;
}

/** Reports one step per amount. Returns the run's spent amount after each step. */
function spend(work: SteppedWork, amounts: readonly number[]): RunRow["spent"][] {
  return amounts.map((amount, index) => {
    const spent = { amount, currency: "USD" };
    work.say({ type: "run.step", step: { index, kind: "message", text: "", tool: null, spent } });
    return toRow(work).spent;
  });
}

t.test("what steps say was spent is added up exactly, to the most that an amount is", async (t) => {
  t.same(spend(running(), [0.1, 0.1, 0.1]).at(-1), { amount: 0.3, currency: "USD" });
  t.same(spend(running(), [1.7e308, 1.7e308]), [most, most]);
});

t.test("a sum of an earlier release that is no number is shown, added to and left behind as the most", async (t) => {
  const spent = { ...most, amount: Number.POSITIVE_INFINITY };
  const earlier = (): SteppedWork => {
    const work = running();
    const row = toRow(work);
    work.rows.put(runs.key(workspaceId, row.id), { ...row, spent });
    return work;
  };
  t.same(runRowView(toRow(earlier())).spent, most);
  t.same(spend(earlier(), [1]), [most]);
  const left = { ending: null, failure: null, checkouts: [], check: null };
  const ends: readonly Message[] = [
    { type: "claim.lost", runnerId: "runner_1" } as Message,
    { type: "run.end", outcome: "withdrawn", reason: "closed" } as Message,
  ];
  for (const end of ends) {
    const work = earlier();
    const { runId } = work;
    work.run().take(end);
    t.match(runs.get(work.rows, workspaceId, runId), { state: "ended", spent: most }, end.type);
  }
  for (const reported of [null, spent]) {
    const work = earlier();
    const { runId } = work;
    work.say({ type: "run.ended", outcome: "stopped", ...left, spent: reported });
    t.match(runs.get(work.rows, workspaceId, runId), { state: "ended", spent: most });
  }
});
