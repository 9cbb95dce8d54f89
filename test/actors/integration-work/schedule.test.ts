import t from "tap";
import { scheduleActor } from "../../../actors/integration-work/schedules/schedule.machine.js";
import { schedules } from "../../../actors/integration-work/schedules/schedule.table.js";
import { scheduleSubscriber } from "../../../actors/integration-work/schedules/schedule-subscriber.js";
import { resources } from "../../../actors/resources/resource.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import {
  INTEGRATION,
  integrationRows,
  requesting,
  WORKSPACE,
  writeIntegration,
} from "../../support/integration-rows.js";
import { stepByHand, withTurn } from "../../support/turn.js";

const MINUTE_MS = 60_000;
const every = (everyMinutes: number | null) => ({
  actions: {
    sync: {
      request: { url: "https://api.example.com/sync" },
      schedule: everyMinutes === null ? null : { everyMinutes },
    },
  },
});
const check: Message = { type: "schedule.check" };
const woken = { type: "woken", name: "due", dueMs: 0 } as Message;
const over = (runId: unknown) => ({ type: "action.over", runId }) as Message;

function open() {
  const rows = integrationRows(every(10));
  const actor = stepByHand(scheduleActor, address(WORKSPACE, "schedule", `${INTEGRATION}:sync`), { rows });
  return { actor, rows, row: () => schedules.get(rows, WORKSPACE, INTEGRATION, "sync") };
}

t.test("an action runs a while after its last run ended, one at a time", async (t) => {
  const { actor, row } = open();
  t.same(actor.take(check).wakes, [{ name: "due", dueMs: actor.now + 10 * MINUTE_MS }]);
  actor.now += 10 * MINUTE_MS;
  const { sent } = actor.take(woken);
  t.match(sent, [
    { to: { kind: "action-run" }, message: { type: "action.due", integrationId: INTEGRATION, action: "sync" } },
  ]);
  const runId = sent[0]?.to.id;
  t.match(row(), { nextAt: null, runId });
  t.equal(actor.take(check).wakes.length, 0, "nothing is due while it runs");
  t.match(actor.take(over("act_other")), { wakes: { length: 0 }, sent: { length: 0 } });
  actor.now += 3 * MINUTE_MS;
  t.same(actor.take(over(runId)).wakes, [{ name: "due", dueMs: actor.now + 10 * MINUTE_MS }]);
  t.match(row(), { nextAt: new Date(actor.now + 10 * MINUTE_MS).toISOString(), runId });
});

t.test("a changed interval counts from when it began to rest", async (t) => {
  const { actor, rows } = open();
  actor.take(check);
  const begun = actor.now;
  actor.now += 5 * MINUTE_MS;
  writeIntegration(rows, every(7));
  t.equal(actor.take(check).wakes[0]?.dueMs, begun + 7 * MINUTE_MS);
  writeIntegration(rows, every(1));
  t.equal(actor.take(check).wakes[0]?.dueMs, actor.now, "and never lies in the past");
  actor.now -= 30 * 24 * 60 * MINUTE_MS;
  t.equal(actor.take(check).wakes[0]?.dueMs, actor.now + MINUTE_MS, "whatever a clock said that was put right");
});

t.test("it ends with its block, its integration and its workspace; what runs is waited for", async (t) => {
  const resting = open();
  resting.actor.take(check);
  writeIntegration(resting.rows, every(null));
  t.match(resting.actor.take(check), { stopped: true, cancelledWakes: ["due"] });
  t.equal(resting.row(), undefined);

  const running = open();
  running.actor.take(check);
  const runId = running.actor.take(woken).sent[0]?.to.id;
  resources.remove(running.rows, WORKSPACE, "integration", INTEGRATION);
  t.match(running.actor.take(check), { stopped: false });
  t.match(running.actor.take(over(runId)), { stopped: true, wakes: { length: 0 } });

  const closed = open();
  closed.actor.take(check);
  resources.remove(closed.rows, WORKSPACE, "workspace", WORKSPACE);
  t.match(closed.actor.take(woken), { stopped: true, sent: { length: 0 } });
});

t.test("schedules begin with their blocks and are told of every change", async (t) => {
  const { rows } = open();
  const told = (fact: Parameters<typeof scheduleSubscriber.handle>[0]) =>
    withTurn(address(WORKSPACE, "subscriber", "1"), (turn) => scheduleSubscriber.handle(fact, turn), { rows }).sent;
  const changed = { name: "integration.changed", id: INTEGRATION } as Parameters<typeof scheduleSubscriber.handle>[0];
  t.match(told(changed), [{ to: { kind: "schedule", id: `${INTEGRATION}:sync` }, message: check }]);
  schedules.put(rows, WORKSPACE, [INTEGRATION, "old"], {
    integrationId: INTEGRATION,
    action: "old",
    nextAt: null,
    runId: null,
  });
  t.equal(told(changed).length, 2, "also one whose block is gone");
  t.equal(told({ name: "workspace.closed" } as Parameters<typeof scheduleSubscriber.handle>[0]).length, 1);
});

t.test("an integration that acts as people runs no schedule: there is nobody to act as", async (t) => {
  const url = "https://api.example.com";
  const oauth2 = { authorizeUrl: `${url}/a`, tokenUrl: `${url}/t`, clientId: "c" };
  const rows = integrationRows({ ...every(1), connection: { holder: "requester", oauth2 } });
  const { run, sent } = requesting(rows);
  t.match(await run({ block: { kind: "action", name: "sync" } }), { code: "not-connected" });
  t.equal(sent.length, 0);
});
