import t from "tap";
import { hookHealth } from "../../../actors/hooks/hook-health.table.js";
import { hook, hookScene } from "../../support/hook-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { join } from "../../support/people.js";
import { listItems, remove, replace, toProblem } from "../../support/resources.js";
import { until } from "../../support/until.js";

const HOUR = 60 * 60 * 1_000;
const none = { delivered: 0, refused: 0, failed: 0, waiting: 0, nextRetryAt: null };

t.test("a hook's reads have its health, which changes without a write of the hook", async (t) => {
  const clock = new ManualClock();
  const statuses = [200, 503, 200, 404];
  const scene = await hookScene(t, (response, n) => response.writeHead(statuses[n - 1] ?? 200).end("{}"), { clock });
  const { addHook, openTask, owner, workspaceId, firings } = scene;
  const id = await addHook(hook(scene.receiver.url));
  const one = `/api/resources/hooks/${id}`;
  const all = `/api/resources/workspaces/${workspaceId}/hooks`;
  const read = async () => (await owner.request("GET", one)).body ?? {};
  const settle = (state: string) =>
    until(`a firing that is ${state}`, async () => (await firings())[0]?.state === state || undefined);
  t.same((await read()).health, none);

  await openTask();
  await settle("delivered");
  t.same((await read()).health, { ...none, delivered: 1 });
  await openTask();
  await settle("waiting");
  const nextRetryAt = new Date(clock.now() + 2_000).toISOString();
  const waiting = { ...none, delivered: 1, waiting: 1, nextRetryAt };
  t.same((await read()).health, waiting);
  const listed = await owner.request("GET", all);
  t.same(listItems(listed)[0], await read(), "a list shows the same");
  t.same((await owner.request("GET", `${all}/import?address=core/tell`)).body, await read());

  clock.advance(2_000);
  await settle("delivered");
  await openTask();
  await settle("failed");
  const after = await read();
  t.match(after, { version: 1, health: { ...none, delivered: 2, failed: 1 } });
  t.same(listItems(await owner.request("GET", all))[0], after, "no cached list hides a later firing");
  clock.advance(25 * HOUR);
  t.same((await read()).health, none, "the last 24 hours are over");
});

t.test("a whole read can be written back with the health of an earlier time", async (t) => {
  const scene = await hookScene(t, (response) => response.end("{}"));
  const { addHook, openTask, owner, settled, teamId } = scene;
  const id = await addHook(hook(scene.receiver.url));
  const one = `/api/resources/hooks/${id}`;
  const early = (await owner.request("GET", one)).body ?? {};
  await openTask();
  await settled("delivered");
  const same = await replace(owner, one, 1, early);
  t.same([same.status, same.body?.version, same.body?.health], [200, 1, { ...none, delivered: 1 }], same.text);
  const changed = await replace(owner, one, 1, { ...early, timeoutSeconds: 5, health: "anything" });
  t.match(changed, { status: 200, body: { version: 2, timeoutSeconds: 5, health: { delivered: 1 } } });
  const made = await owner.request(
    "POST",
    `/api/resources/teams/${teamId}/hooks`,
    { ...hook(scene.receiver.url), key: "other", health: none },
    { "idempotency-key": "other" },
  );
  t.same([made.status, toProblem(made).errors?.[0]?.path], [422, "health"], "a create has no health to repeat");
});

t.test("who may not read a team's firings sees no health of its hooks", async (t) => {
  const scene = await hookScene(t, (response) => response.end("{}"));
  const { addHook, openTask, owner, settled, service, teamId, workspaceId } = scene;
  const id = await addHook(hook(scene.receiver.url));
  await openTask();
  await settled("delivered");
  const outside = await join(service, owner, "bob@example.com");
  t.equal((await outside.request("GET", `/api/teams/${teamId}/hook-occurrences`)).status, 404);
  const all = `/api/resources/workspaces/${workspaceId}/hooks`;
  for (const [person, health] of [
    [outside, null],
    [owner, { ...none, delivered: 1 }],
    [outside, null],
  ] as const) {
    t.same((await person.request("GET", `/api/resources/hooks/${id}`)).body?.health, health);
    t.same(listItems(await person.request("GET", all))[0]?.health, health, "nor in a list that others have read");
  }
});

t.test("a hook's counts go with it, and a new hook of its name has none", async (t) => {
  const scene = await hookScene(t, (response) => response.end("{}"));
  const { addHook, openTask, owner, settled, service, workspaceId } = scene;
  const id = await addHook(hook(scene.receiver.url));
  await openTask();
  await settled("delivered");
  const { reading } = service.runtime;
  t.ok(hookHealth.get(reading, workspaceId, id));
  t.equal((await remove(owner, `/api/resources/hooks/${id}`, 1)).status, 204);
  t.same(hookHealth.entries(reading, workspaceId), []);
  const again = await owner.request("POST", `/api/resources/teams/${scene.teamId}/hooks`, hook(scene.receiver.url), {
    "idempotency-key": "again",
  });
  t.same([again.status, again.body?.health], [201, none]);
});
