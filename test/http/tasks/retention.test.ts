import t, { type Test } from "tap";
import { createExaminations, createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { stays } from "../../../actors/run-facts/stay.table.js";
import { ManualClock } from "../../support/manual-clock.js";
import { passHours } from "../../support/retention-pass.js";
import type { RunnerPeer } from "../../support/runner-peer.js";
import { until } from "../../support/until.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

const HOUR_MS = 60 * 60 * 1_000;
const checkouts = [{ repository: "acme/app", base: "b".repeat(40), diff: "diff --git a/a.txt b/a.txt\n" }];
const settings = { RETENTION_WORK: "2h", RETENTION_FACTS: "80h", RETENTION_HOOKS: "2h", RETENTION_CHANGES: "2h" };

interface Worked {
  readonly taskId: string;
  readonly runId: string;
}

/** Works on a new task. `finish` ends the task; `ask` leaves the task open with a question. */
async function worked(place: Workplace, peer: RunnerPeer, ending: "finish" | "ask"): Promise<Worked> {
  const taskId = await place.open({ description: "x".repeat(10_000) });
  const job = await peer.job();
  peer.start(job);
  for (let n = 0; n < 20; n++) peer.step(job, n);
  peer.end(job, {
    ending: ending === "ask" ? { kind: "ask", question: "?" } : { kind: "finish", note: "" },
    checkouts,
  });
  const state = ending === "ask" ? "inbox" : "done";
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === state);
  return { taskId, runId: job.runId };
}

async function status(place: Workplace, path: string): Promise<number> {
  return (await place.ada.request("GET", path)).status;
}

async function openPlace(t: Test): Promise<{ place: Workplace; clock: ManualClock }> {
  const clock = new ManualClock();
  const stations = [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" } }];
  return { place: await openWorkplace(t, { clock, settings, stations }), clock };
}

t.test("an ended task goes with all that belongs to it, and what is open stays", async (t) => {
  const { place, clock } = await openPlace(t);
  const { reading } = place.service.runtime;
  const pass = (hours: number) => passHours(place.service.runtime, place.workspaceId, clock, hours);
  const peer = await place.runner();
  const ended = await worked(place, peer, "finish");
  const open = await worked(place, peer, "ask");
  peer.cut();
  const noting = [{ text: "well done" }, { "idempotency-key": "well-done" }] as const;
  t.equal((await place.ada.request("POST", `/api/tasks/${ended.taskId}/notes`, ...noting)).status, 200);
  const listRows = (id: string) => reading.range({ prefix: [] }).filter(({ key }) => key.includes(id));
  t.ok(listRows(ended.runId).length > 20);
  const list = `/api/teams/${place.teamId}/tasks`;
  t.match((await place.ada.request("GET", list)).body, { items: { length: 2 }, prunedBefore: null });

  await pass(23);
  t.equal(await status(place, `/api/tasks/${ended.taskId}`), 200, "a request about it may still be repeated");
  await pass(2);
  for (const path of [`/api/tasks/${ended.taskId}`, `/api/tasks/${ended.taskId}/runs`, `/api/runs/${ended.runId}`]) {
    t.equal(await status(place, path), 404, path);
  }
  t.equal(await status(place, `/api/runs/${ended.runId}/steps`), 404);
  const noted = await place.ada.request("POST", `/api/tasks/${ended.taskId}/notes`, { text: "too late" });
  t.equal(noted.status, 404);
  await pass(26);
  await pass(1);
  const left = () => [...listRows(ended.taskId), ...listRows(ended.runId)].map(({ key }) => key[2]);
  t.same(left(), ["run-fact", "run-fact-by-station"], "nothing of it is left but its facts, which outlive it");
  t.equal(await status(place, `/api/runs/${open.runId}`), 200);
  t.match((await place.ada.request("GET", `/api/runs/${open.runId}`)).body, { checkouts });
  t.match((await place.ada.request("GET", list)).body, {
    items: [{ id: open.taskId }],
    prunedBefore: /^2026-/,
  });
  const full = (await place.ada.request("GET", `${list}?limit=1`)).body;
  t.match(full, { items: { length: 1 }, next: null, prunedBefore: /^2026-/ }, "a full page can be the last one");
  t.match((await place.ada.request("GET", "/api/workspaces/acme/configuration-changes")).body, {
    items: { length: 0 },
    prunedBefore: /^2026-/,
  });
  const staysLeft = () => stays.list(reading, place.workspaceId).map(({ taskId }) => taskId);
  t.ok(staysLeft().includes(ended.taskId));
  await pass(48);
  t.same([left(), staysLeft()], [[], []], "facts have a time of their own");
  await until("bodies of no row are removed", () => {
    clock.advance(HOUR_MS);
    return reading.range({ prefix: [place.workspaceId, "row", "blob-unused"] }).length === 0;
  });
  t.equal(reading.range({ prefix: [place.workspaceId, "row", "blob"] }).length, 2, "the open task's text and diff");
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const findings = createExaminations(kinds, clock.now()).flatMap((examine) => [...examine(reading)]);
  t.same(findings, [], "the doctor finds nothing wrong");
});
