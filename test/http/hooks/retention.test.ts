import t from "tap";
import { type Firing, hook, hookScene } from "../../support/hook-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { listItems } from "../../support/resources.js";
import { passHours } from "../../support/retention-pass.js";
import { until } from "../../support/until.js";

t.test("a firing goes with its attempts; its event says that nobody knows whether the hook fired", async (t) => {
  const clock = new ManualClock();
  let failures = 1;
  const scene = await hookScene(
    t,
    (response) => {
      response.statusCode = failures-- > 0 ? 500 : 200;
      response.end("{}");
    },
    { clock, environment: { RETENTION_HOOKS: "2h" } },
  );
  const { service, owner, teamId, workspaceId, receiver } = scene;
  const { reading } = service.runtime;
  await scene.addHook(hook(receiver.url, { key: "fires" }));
  const closed = await scene.openTask();
  const open = await scene.openTask();
  const delivered = async () => (await scene.firings()).filter(({ state }) => state === "delivered");
  await until("both are delivered", async () => {
    clock.advance(1_000);
    return (await delivered()).length === 2;
  });
  const [ofOpen, ofClosed] = await delivered();
  t.equal((await owner.request("POST", `/api/tasks/${closed}/close`, {})).status, 200);
  const firing = `/api/teams/${teamId}/hook-occurrences/${ofClosed?.id}`;
  t.equal((await owner.request("GET", firing)).status, 200);

  await passHours(service.runtime, workspaceId, clock, 3);
  t.equal((await owner.request("GET", firing)).status, 404);
  t.equal((await owner.request("GET", firing.replace(/[^/]+$/, ofOpen?.id ?? ""))).status, 200, "its task is open");
  const list = await owner.request("GET", `/api/teams/${teamId}/hook-occurrences`);
  t.match(list.body, { items: [{ id: ofOpen?.id } as Firing], next: null, prunedBefore: /^2026-/ });
  await passHours(service.runtime, workspaceId, clock, 3);
  const id = ofClosed?.id ?? "";
  t.same(
    reading.range({ prefix: [] }).filter(({ key }) => key.includes(id)),
    [],
    "no row of it is left",
  );

  const events = listItems(await owner.request("GET", `/api/teams/${teamId}/events?event=task.opened`));
  t.equal(events.length, 2, "its event is listed as long as work is stored");
  const readMatch = async (taskId: string) => {
    const event = events.find((each) => each.taskId === taskId);
    const asked = await owner.request("GET", `/api/teams/${teamId}/events/${event?.occurrence}/hooks`);
    return (asked.body?.hooks as unknown[] | undefined)?.[0];
  };
  t.match(await readMatch(closed), { hook: "fires", firing: null, notFired: null, unknown: true });
  t.match(await readMatch(open), { hook: "fires", firing: { id: ofOpen?.id }, notFired: null, unknown: false });
});
