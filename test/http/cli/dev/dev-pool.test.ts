import t from "tap";
import { type Dev, openDevScene, openTask, untilTaskIs } from "../../../support/dev-scene.js";

t.test(
  "after its pool's token was replaced, the next start restores it, and further starts change nothing",
  async (t) => {
    const scene = openDevScene(t);
    const dev = await scene.start();
    t.match(await scene.run(["pool", "rotate", "main", "--yes"]), {
      out: /^\S+$/,
      err: /the runner of signalbox dev also stops working: the next start of signalbox dev restores its token/,
    });
    t.equal(await readVersion(dev), 2);
    await dev.end();

    const again = await scene.start();
    t.equal(await readVersion(again), 3);
    await untilTaskIs(again, await openTask(again, "The tests fail"), "done");
    await again.end();

    const third = await scene.start();
    t.equal(await readVersion(third), 3, "the pool has this token already");
  },
);

/** Reads the version of the only pool. */
async function readVersion({ client }: Dev): Promise<number | undefined> {
  const [workspace] = (await client.get("/api/resources/workspaces")).items;
  const path = { workspaceId: workspace?.id ?? "" };
  return (await client.get("/api/resources/workspaces/{workspaceId}/runner-pools", { path })).items[0]?.version;
}
