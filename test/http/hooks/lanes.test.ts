import type { ServerResponse } from "node:http";
import t from "tap";
import { hookReceiver } from "../../support/hook-receiver.js";
import { hook, hookScene, ok } from "../../support/hook-scene.js";
import { until } from "../../support/until.js";

/** Maximum number of a workspace's concurrent requests to one host. */
const AT_ONE_HOST = 64;

t.test("a receiver that hangs holds up no other of its workspace; what waits says since when and why", async (t) => {
  const held: ServerResponse[] = [];
  const other = await hookReceiver(t, ok);
  const scene = await hookScene(t, (response) => held.push(response), { allow: other.url });
  await scene.addHook(hook(scene.receiver.url));
  await scene.addHook(hook(other.url, { key: "other" }));
  const before = new Date().toISOString();
  for (let n = 0; n < AT_ONE_HOST + 6; n++) await scene.openTask();
  await other.arrived(AT_ONE_HOST + 6);
  await until("the receiver has all it may have", () => held.length === AT_ONE_HOST);

  const hanging = (await scene.firings()).filter((firing) => firing.hook === "tell");
  const waiting = hanging.flatMap(({ waits }) => (waits === null ? [] : [waits]));
  t.equal(hanging.length, AT_ONE_HOST + 6);
  t.equal(waiting.length, 6);
  const host = new URL(scene.receiver.url).host;
  for (const { since, reason } of waiting) {
    t.equal(reason, `the most requests to ${host} that the workspace may have are under way`);
    t.ok(since >= before && since <= new Date().toISOString());
  }
  const metrics = (await scene.service.anonymous.request("GET", "/metrics")).text;
  t.match(metrics, `signalbox_outbound_requests{lane="hooks-after",state="under-way"} ${AT_ONE_HOST}`);
  t.match(metrics, 'signalbox_outbound_requests{lane="hooks-after",state="waiting"} 6');

  while (held.length > 0) held.pop()?.end("{}");
  await scene.receiver.arrived(AT_ONE_HOST + 6);
  for (const response of held.splice(0)) response.end("{}");
  await until("all are delivered", async () => (await scene.firings()).every(({ state }) => state === "delivered"));
  t.ok((await scene.firings()).every(({ attempts, waits }) => attempts.length === 1 && waits === null));
});
