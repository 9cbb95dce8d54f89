import t from "tap";
import { pollActor } from "../../../actors/integration-work/polls/poll.machine.js";
import { pollRef } from "../../../actors/integration-work/polls/poll.messages.js";
import { scheduleActor } from "../../../actors/integration-work/schedules/schedule.machine.js";
import { scheduleRef } from "../../../actors/integration-work/schedules/schedule.messages.js";
import { schedulesView } from "../../../actors/integration-work/schedules/schedule.view.js";
import { beginIntegrationWork } from "../../../http/process/begin-integration-work.js";
import { storedWakeUp } from "../../../runtime/messages/offline-send.js";
import { Harness } from "../../support/harness.js";
import { INTEGRATION, integrationRows, WORKSPACE } from "../../support/integration-rows.js";

t.test("polls and schedules of integrations that an earlier release stored begin with the service, once", async (t) => {
  const request = { url: "https://api.example.com/sync" };
  const poll = { request, events: [{ raise: {} }] };
  const rows = integrationRows({
    poll,
    actions: { sync: { request, schedule: { everyMinutes: 10 } }, other: { request } },
  });
  const harness = new Harness({ catalogue: {} });
  const changes = rows.range({ prefix: [WORKSPACE] }).map(({ key, value }) => ({ op: "put" as const, key, value }));
  const stored = harness.disk.open().commit(changes);
  await harness.advance();
  await stored;
  const start = async () => {
    await harness.start({ actors: [pollActor, scheduleActor] });
    const over = beginIntegrationWork(harness.runtime);
    await harness.advance();
    await over;
    const schedules = ["sync", "other"].map((action) =>
      storedWakeUp(harness.durable, scheduleRef({ workspaceId: WORKSPACE, integrationId: INTEGRATION, action }), "due"),
    );
    const [shown, ...others] = schedulesView(harness.durable, { workspaceId: WORKSPACE, id: INTEGRATION });
    t.same([shown?.action, Date.parse(shown?.nextAt ?? ""), others], ["sync", schedules[0], []], "it is told when");
    return [...schedules, storedWakeUp(harness.durable, pollRef(WORKSPACE, INTEGRATION), "due")];
  };
  const [due, none, asked] = await start();
  t.type(asked, "number");
  t.ok(due !== null && due !== undefined && due > harness.world.clock.now());
  t.equal(none, null);
  harness.crash();
  await harness.advance(1_000);
  t.same(await start(), [due, null, asked], "a schedule that is there goes on as it was");
});
