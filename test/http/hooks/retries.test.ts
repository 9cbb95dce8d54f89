import type { ServerResponse } from "node:http";
import t from "tap";
import { findHookOccurrence } from "../../../actors/hooks/hook-occurrence.table.js";
import { hookReceiver, hookSecret } from "../../support/hook-receiver.js";
import { hook, hookScene } from "../../support/hook-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { remove } from "../../support/resources.js";
import { until } from "../../support/until.js";
import { openWorkplace } from "../../support/workplace.js";

interface Firing {
  readonly state: string;
  readonly code: string | null;
  readonly attempts: readonly { readonly n: number; readonly at: string; readonly status: number | null }[];
}

t.test(
  "an after-hook that keeps failing is tried eight times, after 2 seconds first and then twice as long",
  async (t) => {
    const clock = new ManualClock();
    const receiver = await hookReceiver(t, (response) => response.writeHead(503).end("not now"));
    const place = await openWorkplace(t, { clock, settings: { OUTBOUND_ALLOW: receiver.url } });
    await place.ada.create(`/api/resources/teams/${place.teamId}/hooks`, {
      key: "tell",
      on: "task.opened",
      steps: [{ name: "tell", request: { url: receiver.url } }],
      signing: { secret: hookSecret, secretVersion: 1 },
    });
    const taskId = await place.open();
    const look = async () => {
      const history = await place.ada.request("GET", `/api/teams/${place.teamId}/hook-occurrences`);
      return ((history.body?.items ?? []) as readonly Firing[])[0];
    };
    const waits = [2, 4, 8, 16, 32, 64, 128];
    for (const [index, seconds] of waits.entries()) {
      await place.until(async () => {
        const firing = await look();
        return firing?.state === "waiting" && firing.attempts.length === index + 1;
      });
      clock.advance(seconds * 1_000 - 1);
      t.match(await look(), { state: "waiting" }, `not before ${seconds} seconds`);
      clock.advance(1);
      await receiver.arrived(index + 2);
    }
    await place.until(async () => (await look())?.state === "failed");
    const firing = await look();
    t.match(firing, { code: "server-error", attempts: Array.from({ length: 8 }, () => ({ status: 503 })) });
    const times = firing?.attempts.map(({ at }) => Date.parse(at)) ?? [];
    t.same(
      times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / 1_000),
      waits,
    );
    clock.advance(24 * 60 * 60 * 1_000);
    await place.when(
      `task/${taskId}`,
      async () => ((await place.task(taskId)).notes as readonly unknown[]).length === 1,
    );
    t.match((await place.task(taskId)).notes, [
      { from: "hook tell", text: /server-error.*tried 8 times and will not be retried/ },
    ]);
    const metrics = await place.service.anonymous.request("GET", "/metrics");
    t.match(metrics.text, /^signalbox_hook_firings_given_up_total 1$/m);
    t.equal(receiver.requests.length, 8);
  },
);

t.test(
  "a receiver that asks to be left alone for longer than the schedule is, and is never asked sooner",
  async (t) => {
    const clock = new ManualClock();
    const asks = ["1", "90", "7200"];
    const { addHook, openTask, receiver, settled, firings } = await hookScene(
      t,
      (response, n) => response.writeHead(n > asks.length ? 200 : 429, { "retry-after": asks[n - 1] ?? "" }).end(),
      { clock },
    );
    await addHook(hook(receiver.url));
    await openTask();
    // The scheduled waits are 2, 4 and 8 seconds. If the receiver requests a longer wait, that wait counts, up to an
    // hour.
    for (const [index, seconds] of [2, 90, 3_600].entries()) {
      await until(`attempt ${index + 1} to fail`, async () => {
        const [firing] = await firings();
        return firing?.attempts.length === index + 1 && firing.state === "waiting";
      });
      clock.advance(seconds * 1_000 - 1);
      const retryAt = new Date(clock.now() + 1).toISOString();
      t.match((await firings())[0], { state: "waiting", code: null, retryAt }, `not before ${seconds} seconds`);
      clock.advance(1);
      await receiver.arrived(index + 2);
    }
    const firing = await settled("delivered");
    t.match(firing.attempts, [{ retryAfterMs: 1_000 }, { retryAfterMs: 90_000 }, { retryAfterMs: 3_600_000 }, {}]);
    t.equal(firing.attempts.at(-1)?.status, 200);
    t.match(firing, { retryAt: null });
  },
);

t.test("a waiting hook occurrence makes no more requests after its workspace is closed", async (t) => {
  const clock = new ManualClock();
  const answer = (response: ServerResponse) => response.writeHead(503).end();
  const { addHook, openTask, receiver, settled, service, owner, teamId } = await hookScene(t, answer, { clock });
  await addHook(hook(receiver.url));
  await openTask();
  const { id } = await settled("waiting");
  const me = await owner.request("GET", "/api/sessions/me");
  const workspaceId = /"id":"(ws_\w+)"/.exec(me.text)?.[1] ?? "";
  t.equal((await remove(owner, `/api/resources/workspaces/${workspaceId}`, 1)).status, 204);
  clock.advance(2_000);
  const firing = () => findHookOccurrence(service.runtime.reading, workspaceId, teamId, id);
  await until("the firing to fail", () => firing()?.state === "failed");
  t.equal(receiver.requests.length, 1);
});

t.test("a redirect is no delivery and is followed nowhere, not even to a host that is allowed", async (t) => {
  for (const status of [301, 302, 303, 307, 308]) {
    const target = await hookReceiver(t, (response) => response.end("{}"));
    const { addHook, openTask, receiver, settled } = await hookScene(
      t,
      (response) => response.writeHead(status, { location: target.url }).end(),
      { allow: target.url },
    );
    await addHook(hook(receiver.url));
    await openTask();
    t.match(await settled("failed", "delivered", "waiting"), {
      state: "failed",
      code: "rejected",
      attempts: [{ status }],
    });
    t.same([receiver.requests.length, target.requests.length], [1, 0], String(status));
  }
});
