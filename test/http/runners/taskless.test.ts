import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { RUNNER_FEATURES } from "../../../actors/runners/protocol.js";
import type { RunRow } from "../../../actors/runs/run.js";
import { runs } from "../../../actors/runs/run.table.js";
import { type RunInputRow, runInputs } from "../../../actors/runs/run-input.table.js";
import { address } from "../../../runtime/cells/address.js";
import { openLmdbStore } from "../../../storage/lmdb-store.js";
import { openWorkplace } from "../../support/workplace.js";

type Input = Pick<RunInputRow, "beginning" | "claimed">;

/** Turns the input of a run into the input of a run without a task. */
const taskless = (input: Input): Input => ({ ...input, claimed: { brief: null, secrets: {} } });

/** Reconnects the runner of a claimed run whose input was changed after the claim. */
async function comeAgain(t: Test, features: readonly string[], change = taskless) {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-test-"));
  const store = await openLmdbStore({ folder });
  t.teardown(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });
  const place = await openWorkplace(t, { store, folder });
  const taskId = await place.open();
  const first = await place.runner();
  const job = await first.job();
  const { runnerId } = await first.frame("welcome");
  first.cut();
  const input = runInputs.get(store.reading, place.workspaceId, job.runId);
  if (input === undefined) throw new Error("a run without its input");
  const key = [place.workspaceId, "row", runInputs.name, job.runId];
  await store.commit([{ op: "put", key, value: { ...input, ...change(input) } }]);
  const again = await place.runner({ runnerId, features: [...features] });
  return { place, taskId, job, again, store };
}

t.test("a job of a run without a task has no task", async (t) => {
  const { job, again } = await comeAgain(t, RUNNER_FEATURES);
  const { task, ...rest } = job;
  t.ok(task);
  t.same(await again.job(), rest);
});

t.test("such a job is not sent to a runner without the feature: the run fails with the reason", async (t) => {
  const { place, taskId, job, again } = await comeAgain(t, ["messages", "permissions"]);
  t.match(await again.message("run.drop"), { runId: job.runId });
  t.same(again.messages("run.assign"), []);
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "inbox");
  t.match(await place.task(taskId), { failure: { code: "not-supported", message: /supports only task runs/ } });
});

/** Returns a change that adds fields to `beginning` of a run's input. */
const begun =
  (more: Partial<NonNullable<Input["beginning"]>>) =>
  ({ beginning, claimed }: Input): Input => ({
    beginning: beginning === null ? null : { ...beginning, ...more },
    claimed,
  });

t.test("a job of a replay is not sent to a runner that knows no replays", async (t) => {
  const replay = { does: "repeat", secretsFor: { check: false, setup: [] } } as const;
  const features = RUNNER_FEATURES.filter((feature) => feature !== "replays");
  const { place, taskId, job, again } = await comeAgain(t, features, begun({ replay }));
  t.match(await again.message("run.drop"), { runId: job.runId });
  t.same(again.messages("run.assign"), []);
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "inbox");
  t.match(await place.task(taskId), { failure: { code: "not-supported", message: /does not support replays/ } });
});

t.test("a job of a search is not sent to a runner that knows no searches, and says what its agent does", async (t) => {
  const search = { kind: "reflect" } as const;
  const features = RUNNER_FEATURES.filter((feature) => feature !== "search");
  const { place, taskId, job, again } = await comeAgain(t, features, begun({ search }));
  t.match(await again.message("run.drop"), { runId: job.runId });
  t.same(again.messages("run.assign"), []);
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "inbox");
  t.match(await place.task(taskId), { failure: { code: "not-supported", message: /does not support searches/ } });

  const knowing = await comeAgain(t, RUNNER_FEATURES, begun({ search }));
  t.same((await knowing.again.job()).search, search);
});

t.test("a run without a task is visible to readers of the team's outcomes only", async (t) => {
  const { place, job, store } = await comeAgain(t, RUNNER_FEATURES);
  const key = [place.workspaceId, "row", runs.name, job.runId];
  const ownerAddress = address(place.workspaceId, "search", "sea_1");
  const row = { ...store.reading.get<RunRow>(key), owner: { kind: "search", id: "sea_1" }, ownerAddress, taskId: null };
  await store.commit([{ op: "put", key, value: row }]);
  const path = `/api/runs/${job.runId}`;
  t.match((await place.ada.request("GET", path)).body, {
    id: job.runId,
    taskId: "",
    station: "work",
    state: "claimed",
  });
  const bob = await place.service.signIn("bob@example.com");
  t.equal((await bob.request("GET", path)).status, 404);
  t.equal((await bob.request("GET", `${path}/steps`)).status, 404);
});
