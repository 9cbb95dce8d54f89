import t from "tap";
import { openReplayScene, openSet, workTask } from "../../support/replay-scene.js";
import { StreamReader } from "../../support/stream-reader.js";

t.test("a replay set is followed until it is deleted, by those who may read the team's outcomes", async (t) => {
  const place = await openReplayScene(t);
  const { ada, service } = place;
  const { runId } = await workTask(place);
  const set = await openSet(place);
  const topic = `replay-set/${set.split("/").at(-1)}`;
  const [reader, stranger] = [
    await StreamReader.open(ada),
    await StreamReader.open(await service.signIn("mallory@example.com")),
  ];
  t.teardown(() => [reader, stranger].map((one) => one.end()));
  for (const one of [reader, stranger]) one.subscribe(topic);
  t.match(await stranger.until(() => true), { kind: "error" });
  t.match(await reader.until(() => true), {
    kind: "snapshot",
    data: { name: "Hard ones", version: 1, entries: { length: 0 } },
  });
  await ada.request("POST", `${set}/entries`, { runId });
  const added = await reader.until(({ kind }) => kind === "change");
  t.match(added.data, { type: "replay-set", set: { version: 2 } });
  t.notMatch(JSON.stringify(added.data), /Hard ones/, "only what changed");
  await ada.request("DELETE", set);
  t.match(await reader.until(({ kind }) => kind === "error"), { topic });
});
