import t from "tap";
import { hookOccurrences, storeAttempt } from "../../../actors/hooks/hook-occurrence.table.js";
import { hookOccurrenceView } from "../../../actors/hooks/hook-occurrence.view.js";
import { hookSecret } from "../../support/hook-receiver.js";
import { hookScene, ok } from "../../support/hook-scene.js";
import { memoryRows } from "../../support/turn.js";

const key = "key-of-the-query";
const signing = { secret: hookSecret, secretVersion: 1 };

t.test("an attempt shows where its request went and what it said, without secrets", async (t) => {
  const scene = await hookScene(t, (response, n) => {
    response.statusCode = n === 1 ? 400 : 200;
    response.end("{}");
  });
  const url = `${scene.receiver.url}/in?key=${key}`;
  const headers = { "x-api-key": "key-of-the-header" };
  const body = { title: `\${{ task.title }}`, keys: [key, "key-of-the-header"] };
  await scene.addHook({
    key: "own",
    on: "task.opened",
    signing,
    steps: [{ name: "post", request: { url, headers, body } }],
  });
  await scene.openTask();
  const own = await scene.settled("failed", "delivered");
  t.match(own.attempts, [
    {
      url: `${scene.receiver.url}/in?key=***`,
      requestBody: '{"title":"Do it","keys":["***","***"]}',
      requestHeaders: { "x-api-key": "(left out)" },
    },
  ]);
  t.match(JSON.parse(scene.receiver.requests[0]?.text ?? ""), { keys: [key, "key-of-the-header"] });
});

t.test("an attempt with the event as its body shows what the receiver got", async (t) => {
  const scene = await hookScene(t, ok);
  const request = { url: `${scene.receiver.url}/in` };
  await scene.addHook({ key: "whole", on: "task.opened", signing, steps: [{ name: "post", request }] });
  await scene.openTask();
  const whole = await scene.settled("delivered");
  t.match(whole.attempts, [{ url: `${scene.receiver.url}/in`, requestBody: scene.receiver.requests[0]?.text }]);
});

t.test("an attempt shows the address of a refused request, and null where an earlier release stored it", async (t) => {
  const scene = await hookScene(t, ok);
  const request = { url: `${scene.receiver.url}/in` };
  await scene.addHook({ key: "whole", on: "task.opened", signing, steps: [{ name: "post", request }] });
  scene.service.allow("");
  await scene.openTask();
  t.match((await scene.settled("failed")).attempts, [{ ...request, status: null, code: "not-allowed" }]);

  const found = hookOccurrences.list(scene.service.runtime.reading, scene.workspaceId, [scene.teamId])[0];
  if (found === undefined) throw new Error("there is no firing");
  const rows = memoryRows();
  const none = { requestHeaders: {}, status: 200, body: "", code: null, reason: null };
  storeAttempt(rows, "ws_1", found.id, { n: 1, step: "post", at: found.firedAt, tookMs: 1, ...none });
  t.match(hookOccurrenceView(rows, "ws_1", found).attempts, [{ url: null, requestBody: null, retryAfterMs: null }]);
});
