import t from "tap";
import { createExaminations, createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { ManualClock } from "../../support/manual-clock.js";
import { openReplayScene, openSet, type ReplayScene, workTask } from "../../support/replay-scene.js";
import { listItems, remove } from "../../support/resources.js";
import { passHours } from "../../support/retention-pass.js";
import { until } from "../../support/until.js";

const settings = { RETENTION_WORK: "2h", RETENTION_FACTS: "2h", RETENTION_HOOKS: "2h", RETENTION_CHANGES: "2h" };
const ofSets = ["replay-set", "team-replay-set", "station-replay-set", "replay-entry", "replay-entry-of-run"];

/** Finds the rows about sets, and the rows whose key ends with a set's id. Returns the table names of these rows. */
function toLeft({ service, workspaceId }: ReplayScene): readonly unknown[] {
  const rows = service.runtime.reading.range({ prefix: [workspaceId, "row"] });
  return rows
    .map(({ key }) => key)
    .filter(([, , table, ...id]) => ofSets.includes(String(table)) || String(id.at(-1)).startsWith("rset_"))
    .map(([, , table]) => table);
}

t.test("a run in a set outlives the others, until it is in no set", async (t) => {
  const clock = new ManualClock();
  const place = await openReplayScene(t, { clock, settings });
  const { ada, service, workspaceId } = place;
  const [kept, other] = [await workTask(place), await workTask(place)];
  const [one, two] = [await openSet(place, "One"), await openSet(place, "Two")];
  for (const set of [one, two]) {
    t.equal((await ada.request("POST", `${set}/entries`, { runId: kept.runId })).status, 204);
  }
  const pass = (hours: number) => passHours(service.runtime, workspaceId, clock, hours);
  const readStatus = async (path: string) => (await ada.request("GET", path)).status;

  await pass(26);
  t.equal(await readStatus(`/api/runs/${other.runId}`), 404);
  t.equal(await readStatus(`/api/runs/${kept.runId}`), 200);
  t.equal(await readStatus(`/api/tasks/${kept.taskId}`), 200);
  t.match((await ada.request("GET", one)).body, {
    entries: [{ runId: kept.runId, title: "Mend it", replayable: true, outcome: "accepted", origin: "person" }],
  });
  t.same(listItems(await ada.request("GET", `${place.station}/replayable-runs`)), [], "its facts are gone");

  t.equal((await ada.request("DELETE", `${one}/entries/${kept.runId}`)).status, 204);
  await pass(2);
  t.equal(await readStatus(`/api/runs/${kept.runId}`), 200, "the other set has it");
  t.equal((await ada.request("DELETE", two)).status, 204);
  await pass(2);
  t.equal(await readStatus(`/api/runs/${kept.runId}`), 404);
  t.equal((await ada.request("DELETE", one)).status, 204);
  t.same(toLeft(place), []);
});

t.test("sets go with their team", async (t) => {
  const place = await openReplayScene(t);
  const { ada, lineId, teamId } = place;
  const { runId } = await workTask(place);
  for (const name of ["One", "Two"]) {
    t.equal((await ada.request("POST", `${await openSet(place, name)}/entries`, { runId })).status, 204);
  }
  t.equal((await remove(ada, `/api/resources/lines/${lineId}`, 1)).status, 204);
  t.match(listItems(await ada.request("GET", `${place.team}/replay-sets`)), [
    { stationLeft: true },
    { stationLeft: true },
  ]);
  t.equal((await remove(ada, `/api/resources/teams/${teamId}`, 1)).status, 204);
  await until("no set is left", () => toLeft(place).length === 0);
  t.equal((await ada.request("GET", `${place.team}/replay-sets`)).status, 404);
  t.same(listFindings(place), []);
});

t.test("sets go with their workspace", async (t) => {
  const place = await openReplayScene(t);
  const { ada, workspaceId } = place;
  const { runId } = await workTask(place);
  t.equal((await ada.request("POST", `${await openSet(place)}/entries`, { runId })).status, 204);
  t.not(toLeft(place).length, 0);
  t.equal((await remove(ada, `/api/resources/workspaces/${workspaceId}`, 1)).status, 204);
  await until("no set is left", () => toLeft(place).length === 0);
  t.same(listFindings(place), [], "of its pool neither");
});

t.test("a replay under way is stopped when its workspace is closed, and goes with its runs", async (t) => {
  const place = await openReplayScene(t);
  const { ada, workspaceId, service, peer } = place;
  const { reading } = service.runtime;
  const { runId } = await workTask(place);
  const set = await openSet(place);
  t.equal((await ada.request("POST", `${set}/entries`, { runId })).status, 204);
  const body = { candidate: "live", ceiling: { amount: 1, currency: "EUR" }, repeats: 3 };
  t.equal((await ada.request("POST", `${set}/replays`, body)).status, 201);
  const job = await peer.job();
  peer.start(job);
  t.same(listFindings(place), []);
  t.equal((await remove(ada, `/api/resources/workspaces/${workspaceId}`, 1)).status, 204);
  t.match(await peer.message("run.drop"), { runId: job.runId });
  const ofReplays = ["replay", "replay-input", "replay-copy", "made-candidate", "queued-run", "claim", "run-lane"];
  await until("nothing of it is left", () =>
    ofReplays.every((table) => reading.range({ prefix: [workspaceId, "row", table] }).length === 0),
  );
  const owned = reading.range<{ owner: { kind: string } }>({ prefix: [workspaceId, "row", "run"] });
  t.same(
    owned.filter(({ value }) => value.owner.kind === "replay"),
    [],
  );
  t.same(listFindings(place), []);
});

/** Returns the doctor's findings in the store. */
function listFindings({ service }: ReplayScene): readonly unknown[] {
  const { reading, clock } = service.runtime;
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  return createExaminations(kinds, clock.now()).flatMap((examine) => [...examine(reading)]);
}
