import type { ServerResponse } from "node:http";
import t from "tap";
import { hook, hookScene } from "../../support/hook-scene.js";
import { StreamReader } from "../../support/stream-reader.js";

t.test("a hook occurrence is followed from its attempt to its end, by readers of its history only", async (t) => {
  const held: ServerResponse[] = [];
  const { addHook, openTask, receiver, settled, service, owner } = await hookScene(t, (response) => {
    held.push(response);
  });
  await addHook(hook(receiver.url));
  await openTask();
  await receiver.arrived(1);
  const { id } = await settled("attempting");
  const [reader, strangers] = await Promise.all(
    [owner, await service.signIn("mallory@example.com")].map((client) => StreamReader.open(client)),
  );
  t.teardown(() => [reader, strangers].map((one) => one?.end()));
  for (const one of [reader, strangers]) one?.subscribe(`hook-occurrence/${id}`);
  t.match(await reader?.until(() => true), {
    kind: "snapshot",
    data: { id, state: "attempting", attempts: { length: 0 } },
  });
  t.match(await strangers?.until(() => true), { kind: "error" });
  for (const response of held) response.end("{}");
  t.match(await reader?.until(({ kind }) => kind === "change"), { data: { type: "state", state: "delivered" } });
});
