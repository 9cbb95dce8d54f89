import t from "tap";
import type { WorkEvent } from "../../../actors/events/catalogue.js";
import type { HookOccurrence } from "../../../actors/hooks/hook-occurrence.js";
import { hookOccurrences } from "../../../actors/hooks/hook-occurrence.table.js";
import { hookResendActor } from "../../../actors/hooks/resend.machine.js";
import type { ResendFailed } from "../../../actors/hooks/resend.messages.js";
import { type ResourceRow, resources } from "../../../actors/resources/resource.table.js";
import { address } from "../../../runtime/cells/address.js";
import { ulidTime } from "../../../runtime/turns/ids.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { memoryRows, stepByHand } from "../../support/turn.js";
import { teamId, workspaceId } from "../../support/work.js";

const woken = { type: "woken", name: "next", dueMs: 0 } as Message;
const ask = (of: Partial<ResendFailed["period"]> = {}): ResendFailed => ({
  type: "hooks.resend",
  period: { fromMs: 1_000, toMs: 2_000, hook: null, after: null, ...of },
});

/** Returns a team's resender, and failed occurrences of a hook at 1,000 ms, 1,001 ms and so on. */
function arrange(failed: number) {
  const rows = memoryRows();
  resources.put(rows, workspaceId, ["hook", "hook_1"], { id: "hook_1" } as ResourceRow);
  const put = (atMs: number, { test, ...more }: Partial<HookOccurrence> & Pick<WorkEvent, "test"> = {}) => {
    const firing = {
      id: `occ_${ulidTime(atMs)}0`,
      hookId: "hook_1",
      hook: "tell",
      firedAt: "",
      endedAt: "",
      retryAt: null,
      state: "failed",
      code: "rejected",
      reason: null,
      refused: null,
      resends: null,
      resentAs: null,
      work: { on: "task.opened", teamId, task: { id: "task_1" }, ...(test === undefined ? {} : { test }) } as WorkEvent,
      ...more,
    } as HookOccurrence;
    hookOccurrences.insert(rows, workspaceId, firing);
    return firing.id;
  };
  const ids = Array.from({ length: failed }, (_, n) => put(1_000 + n));
  const stepping = stepByHand(hookResendActor, address(workspaceId, "hook-resender", teamId), { rows });
  const resentBy = (message: Message) =>
    stepping.take(message).sent.map(({ message: sent }) => (sent as unknown as { resends: string }).resends);
  return { stepping, put, ids, resentBy };
}

t.test("twenty a second are sent again, oldest first, until the end of the period; then the actor ends", async (t) => {
  const { stepping, ids, resentBy } = arrange(45);
  const begun = stepping.take(ask());
  t.same(begun.wakes, [{ name: "next", dueMs: stepping.now }]);
  t.equal(begun.answer, null);
  t.same(resentBy(woken), ids.slice(0, 20));
  const second = stepping.take(woken);
  t.same(second.wakes, [{ name: "next", dueMs: stepping.now + 1_000 }]);
  t.equal(second.sent.length, 20);
  const last = stepping.take(woken);
  t.same([last.sent.length, last.stopped], [5, true]);
  t.equal(stepping.value, "idle");
});

t.test(
  "only failed hook occurrences of the period and the hook are sent again, unless that has succeeded",
  async (t) => {
    const { stepping, put, resentBy } = arrange(0);
    put(999);
    const first = put(1_000);
    put(1_001, { code: "loop" });
    put(1_002, { test: true });
    put(1_003, { hookId: "hook_gone" });
    put(1_004, { state: "delivered", code: null });
    put(1_005, { hook: "other" });
    put(1_006, { resends: first });
    const again = put(3_000, { resends: "x" });
    const failedAgain = put(1_007, { resentAs: again });
    const better = put(3_001, { state: "delivered", code: null });
    put(1_008, { resentAs: better });
    put(2_000);
    stepping.take(ask({ hook: "tell" }));
    t.same(resentBy(woken), [first, failedAgain]);
  },
);

t.test("periods wait for one another, up to ten of them", async (t) => {
  const { stepping, resentBy } = arrange(3);
  for (let n = 0; n < 10; n++)
    t.equal(stepping.take(ask({ fromMs: n === 9 ? 1_002 : 5_000, toMs: 9_000 })).answer, null);
  t.match(stepping.take(ask()).answer, { refused: "conflict" });
  for (let n = 0; n < 9; n++) t.same(resentBy(woken), [], "nothing failed there");
  const last = stepping.take(woken);
  t.same([last.sent.length, last.stopped], [1, true]);
});
