import t from "tap";
import type { WorkEvent } from "../../../actors/events/catalogue.js";
import type { HookOccurrence } from "../../../actors/hooks/hook-occurrence.js";
import { hookOccurrenceActor } from "../../../actors/hooks/hook-occurrence.machine.js";
import type { FireHook } from "../../../actors/hooks/hook-occurrence.messages.js";
import { findHookOccurrence, hookOccurrences } from "../../../actors/hooks/hook-occurrence.table.js";
import { chainFrom, chainWithin } from "../../../actors/hooks/loop-guard.js";
import { type ResourceRow, resources } from "../../../actors/resources/resource.table.js";
import { address } from "../../../runtime/cells/address.js";
import { rowSpace } from "../../../storage/keys.js";
import { memoryRows, stepByHand, type TurnTaken } from "../../support/turn.js";
import { lineId, putTeam, teamId, workspaceId } from "../../support/work.js";

const begunMs = Date.parse("2026-01-01T00:00:00.000Z");

/** Returns rows with a hook, and a function that fires the hook as a new occurrence each time. */
function arrange() {
  const rows = memoryRows();
  const hook = {
    id: "hook_1",
    kind: "hook",
    version: 1,
    workspaceId,
    teamId,
    address: "core/tell",
    hidden: {},
    added: {},
    fields: { key: "tell", on: "task.moved", failure: "continue", timeoutSeconds: 5, steps: [{ name: "one" }] },
    createdAt: "",
    updatedAt: "",
  } as unknown as ResourceRow;
  resources.put(rows, workspaceId, ["hook", "hook_1"], hook);
  putTeam(rows);
  let fired = 0;
  const fire = (of: Partial<WorkEvent> & { atMs?: number; resends?: string; hookId?: string } = {}) => {
    fired += 1;
    const { atMs = begunMs, resends = null, hookId = "hook_1", ...more } = of;
    const work: WorkEvent = {
      on: "task.moved",
      workspaceId,
      teamId,
      lineId,
      stationId: "sta_work",
      run: null,
      causes: [],
      occurrence: `occ_${fired}`,
      task: {
        id: "task_1",
        title: "",
        url: "",
        line: "dev",
        station: "Work",
        stationKey: "work",
        marks: {},
        repositories: [],
        pullRequest: null,
      },
      event: { at: new Date(atMs).toISOString(), from: "work", to: "review" },
      ...more,
    };
    const id = `occ_${fired}-x`;
    const stepping = stepByHand(hookOccurrenceActor, address(workspaceId, "hook-occurrence", id), {
      rows,
      now: atMs,
      seed: fired * 40_503_001,
    });
    const message: FireHook = { type: "hook.fire", hookId, work, resends };
    const taken = stepping.take(message);
    const row = findHookOccurrence(rows, workspaceId, teamId, id);
    return { id, taken, row: row as HookOccurrence };
  };
  return { rows, fire };
}

function isStopped({ row, taken }: { readonly row: HookOccurrence; readonly taken: TurnTaken }): boolean {
  return row.code === "loop" && taken.started.length === 0;
}

t.test("a hook does not fire for its own effects, but other hooks do, and it does for other tasks", async (t) => {
  const { fire } = arrange();
  const first = fire();
  t.notOk(isStopped(first));
  const causes = ["occ_1", first.id];
  const again = fire({ causes });
  t.ok(isStopped(again));
  t.match(again.row, { state: "failed", code: "loop", reason: /caused itself/, endedAt: /./ });
  t.match(again.taken.sent, [
    { to: { kind: "task", id: "task_1" }, message: { type: "note", from: "hook tell", text: /stopped \(loop\)/ } },
  ]);
  t.ok(again.taken.stopped, "no actor is left");
  t.notOk(isStopped(fire({ causes, hookId: "hook_2" })), "another hook");
  const task = { ...fire({ causes: [], hookId: "hook_3" }) };
  t.notOk(isStopped(task));
  const work = { id: "task_2" } as WorkEvent["task"];
  t.notOk(isStopped(fire({ causes, task: work })), "another task");
});

t.test("a chain of eight causes ends; one of seven goes on", async (t) => {
  const { fire } = arrange();
  const chain = Array.from({ length: 8 }, (_, n) => `occ_other_${n}`);
  t.notOk(isStopped(fire({ causes: chain.slice(0, 7) })));
  const stopped = fire({ causes: chain });
  t.ok(isStopped(stopped));
  t.match(stopped.row.reason, /8 causes deep/);
});

t.test(
  "the fourth hook occurrence for the same change within ten minutes is stopped, a later one is not",
  async (t) => {
    const { fire } = arrange();
    const minute = 60_000;
    const at = (minutes: number) => ({ atMs: begunMs + minutes * minute });
    for (const minutes of [0, 3, 9]) t.notOk(isStopped(fire(at(minutes))), `minute ${minutes}`);
    const fourth = fire(at(9.5));
    t.ok(isStopped(fourth));
    t.match(fourth.row.reason, /3 times for the same change/);
    t.notOk(isStopped(fire({ ...at(9.6), event: { at: "", from: "review", to: "work" } })), "another change");
    t.notOk(isStopped(fire({ ...at(9.6), hookId: "hook_2" })), "another hook");
    t.notOk(isStopped(fire({ ...at(9.7), resends: fourth.id })), "a person sends it again");
    t.ok(isStopped(fire(at(9.99))), "what was stopped does not count, what was sent does");
    t.notOk(isStopped(fire(at(10.5))), "ten minutes after the first");
    t.ok(isStopped(fire(at(11))), "three of the last ten minutes again");
  },
);

t.test("hooks on before events are not counted", async (t) => {
  const { fire } = arrange();
  for (let n = 0; n < 5; n++) t.notOk(isStopped(fire({ on: "run.starting", event: { at: "" } })));
});

t.test("old counts are removed while new ones are recorded", async (t) => {
  const { fire, rows } = arrange();
  for (let n = 0; n < 400; n++) {
    fire({ atMs: begunMs + n * 60_000, task: { id: `task_${n}` } as WorkEvent["task"] });
  }
  const counted = rows.range({ prefix: [workspaceId, rowSpace, "hook-change-fired"] });
  t.ok(counted.length < 200, `${counted.length} rows are left of 400`);
});

t.test("a cause is the id of a hook occurrence or the webhook-id of its request, within the workspace", async (t) => {
  const { rows, fire } = arrange();
  const { id } = fire({ causes: ["occ_0", "occ_0-x"] });
  const chain = ["occ_0", "occ_0-x", "occ_1", id];
  t.same(chainFrom(rows, workspaceId, id), chain);
  t.same(chainFrom(rows, workspaceId, "msg_1-x_tell-them"), chain);
  for (const wrong of ["", "msg_1-x", "occ_9-x", "msg__", "task_1"]) t.same(chainFrom(rows, workspaceId, wrong), []);
  const work = { teamId, causes: [], occurrence: "occ_5" } as unknown as WorkEvent;
  hookOccurrences.insert(rows, "ws_other", { id: "occ_5-x", work } as HookOccurrence);
  t.same(chainFrom(rows, workspaceId, "occ_5-x"), [], "a firing of another workspace");
});

t.test("a service-cause stands for the latest firing that was sent it, a webhook-id for its own", async (t) => {
  const { rows, fire } = arrange();
  const first = fire();
  const causes = ["occ_1", first.id];
  t.same(chainFrom(rows, workspaceId, first.id), causes, "it caused none yet");
  for (const n of [2, 3]) {
    const caused = fire({ causes, task: { id: `task_${n}` } as WorkEvent["task"] });
    t.same(chainFrom(rows, workspaceId, first.id), [...causes, `occ_${n}`, caused.id]);
  }
  t.same(chainFrom(rows, workspaceId, "msg_1-x_one"), causes);
  const stopped = fire({ causes });
  t.ok(isStopped(stopped));
  t.same(chainFrom(rows, workspaceId, first.id).at(-1), "occ_3-x", "what is stopped is sent to nobody");
  const within = (...named: string[]) => chainWithin(rows, { workspaceId, teamId }, [undefined, ...named]).length;
  t.same([within(), within("msg_1-x_one"), within("msg_1-x_one", first.id), within("msg_3-x_one")], [0, 2, 4, 4]);
  t.same(chainWithin(rows, { workspaceId, teamId: "team_other" }, [first.id]), [], "a firing of another team");
});

/**
 * Returns the number of rounds until the loop guard stops a receiver, or infinity if 20 rounds are not enough. The
 * receiver opens a task for each request, and gives the cause that `name` returns.
 */
function toRounds(name: (sent: { readonly webhookId: string; readonly cause: string | undefined }) => string): number {
  const { rows, fire } = arrange();
  let causes: readonly string[] = [];
  for (let round = 1; round <= 20; round++) {
    const fired = fire({ causes, task: { id: `task_${round}` } as WorkEvent["task"] });
    if (isStopped(fired)) return round;
    const webhookId = `msg_${fired.id.slice("occ_".length)}_one`;
    causes = chainWithin(rows, { workspaceId, teamId }, [name({ webhookId, cause: causes.at(-1) })]);
  }
  return Number.POSITIVE_INFINITY;
}

t.test("a receiver that sends back an id that it was sent is stopped within 8 rounds, whichever it is", async (t) => {
  let turn = 0;
  const ways: Readonly<Record<string, Parameters<typeof toRounds>[0]>> = {
    "webhook-id": ({ webhookId }) => webhookId,
    "service-cause, and webhook-id where there is none": ({ webhookId, cause }) => cause ?? webhookId,
    "one and the other": ({ webhookId, cause }) => (turn++ % 2 === 0 ? webhookId : (cause ?? webhookId)),
  };
  for (const [way, name] of Object.entries(ways)) t.equal(toRounds(name), 5, way);
});
