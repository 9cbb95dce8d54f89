import t from "tap";
import { replace } from "../../support/resources.js";
import { openWorkplace } from "../../support/workplace.js";

const base = "/api/resources";

t.test("a workspace runs no more at once than it allows, and more as soon as it allows more", async (t) => {
  const stations = [{ key: "work", name: "Work", kind: "work" }];
  const place = await openWorkplace(t, { stations });
  const { ada, workspaceId } = place;
  const rules = await ada.create(`${base}/workspaces/${workspaceId}/workspace-runners`, {
    defaultPool: "main",
    maxConcurrentRuns: 1,
  });
  const peer = await place.runner({ slots: 4 });
  const tasks = [await place.open(), await place.open(), await place.open()];
  const runs = () => Promise.all(tasks.map(async (id) => (await place.runs(id))[0]));
  const states = async () => (await runs()).map((run) => run?.state);

  const first = await peer.job();
  peer.start(first);
  await place.until(async () => (await states()).includes("running"));
  t.same(await states(), ["running", "queued", "queued"]);
  t.match((await runs())[1]?.waiting, { reason: "The workspace allows no more than 1 runs at once." });

  const more = { defaultPool: "main", maxConcurrentRuns: 2 };
  t.equal((await replace(ada, `${base}/workspace-runners/${rules.id}`, 1, more)).status, 200);
  const second = await peer.job();
  peer.start(second);
  await place.until(async () => (await states())[1] === "running");
  t.same(await states(), ["running", "running", "queued"]);

  peer.end(first);
  peer.end(second);
  peer.end(await peer.job());
  await place.until(async () => (await states()).every((state) => state === "ended"));
  t.same(
    (await runs()).map((run) => run?.outcome),
    ["completed", "completed", "completed"],
  );
});
