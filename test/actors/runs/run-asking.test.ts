import t from "tap";
import { approvals } from "../../../actors/runs/approval.table.js";
import type { RunContext } from "../../../actors/runs/run.js";
import { runActor } from "../../../actors/runs/run.machine.js";
import { taskRunOwner } from "../../../actors/tasks/task-run-owner.js";
import type { Message } from "../../../runtime/turns/turn.js";
import type { Range } from "../../../storage/store.js";
import { SteppedWork } from "../../support/stepped-work.js";
import { workspaceId } from "../../support/work.js";

/** Tests what a run records about its agent's requests, and what the run checks when it ends. */

const left = { ending: null, failure: null, checkouts: [], check: null, spent: null };
const permission = { type: "run.permission", id: "1-1", tool: "shell", inputs: "{}", reason: "" };

function running(): SteppedWork {
  const work = new SteppedWork();
  work.claim();
  work.say({ type: "run.started" });
  return work;
}

t.test(
  "the end of a run closes its approvals, also where an earlier release did not record that it has some",
  async (t) => {
    for (const version of [null, 1, 3]) {
      const work = running();
      work.say(permission);
      const run = work.run();
      const { runId } = work;
      const { hasAsked, ...context } = run.context<RunContext>();
      t.equal(hasAsked, true);
      if (version !== null) {
        const stored = { value: "running", context };
        const restored = version < 3 ? runActor([taskRunOwner]).migrate?.(stored, version) : stored;
        run.restore("running", restored?.context);
      }
      work.say({ type: "run.ended", outcome: "completed", ...left });
      t.equal(run.value, "ended");
      t.match(approvals.list(work.rows, workspaceId, [runId]), [{ state: "closed", note: "The run is over." }]);
    }
  },
);

t.test("a run whose agent asked for nothing looks for no approvals, calls and messages at its end", async (t) => {
  const work = running();
  const looked: unknown[] = [];
  const list = work.rows.range.bind(work.rows);
  Object.assign(work.rows, {
    range: (range: Range) => {
      looked.push(range.prefix[2]);
      return list(range);
    },
  });
  const run = work.run();
  const said = { runId: work.runId, fence: 1, type: "run.ended", outcome: "completed", ...left };
  run.take({ type: "run.said", runnerId: "runner_1", said } as Message);
  t.equal(run.value, "ended");
  for (const name of ["approval", "approval-open", "open-tool-call", "run-said"]) t.notOk(looked.includes(name), name);
});
