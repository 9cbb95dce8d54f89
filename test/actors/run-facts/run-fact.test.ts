import t from "tap";
import { findRunFact, type RunFact, runFacts } from "../../../actors/run-facts/run-fact.table.js";
import { runs } from "../../../actors/runs/run.table.js";
import { runInputs } from "../../../actors/runs/run-input.table.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { SteppedWork } from "../../support/stepped-work.js";
import { lineId, teamId, workspaceId } from "../../support/work.js";

const by = "usr_1";
const ended = { ending: null, failure: null, checkouts: [], check: null, spent: null };
const listFacts = ({ rows }: SteppedWork): readonly RunFact[] => runFacts.list(rows, workspaceId, [teamId]);

/** Reports a step of the current run as the runner. */
function step(work: SteppedWork, more: object): void {
  const index = runs.get(work.rows, workspaceId, work.runId)?.steps;
  work.say({ type: "run.step", step: { index, kind: "tool", text: "", tool: null, spent: null, ...more } });
}

t.test("an ended run leaves one row with all that figures need, and none before its end", async (t) => {
  const work = new SteppedWork();
  const openedMs = work.now;
  work.claim();
  work.now += 10_000;
  work.say({ type: "run.started" });
  step(work, { call: { server: "tracker", tool: "find", failed: true, refusedBy: null }, skill: "greet" });
  step(work, { call: { server: null, tool: "shell", failed: false, refusedBy: "agent" } });
  t.same(listFacts(work), []);
  work.now += 20_000;
  const { runId } = work;
  const failure = { code: "harness-failed", message: "It ended.", output: "" };
  const spent = { amount: 0.25, currency: "EUR" };
  work.say({ type: "run.ended", outcome: "failed", ...ended, failure, spent, model: "large-2" });
  t.same(listFacts(work), [
    {
      runId,
      teamId,
      taskId: "task_1",
      lineId,
      stationId: "sta_work",
      stationKey: "work",
      endedDay: "2026-01-01",
      endedMs: openedMs + 30_000,
      queuedMs: openedMs,
      startedMs: openedMs + 10_000,
      openedBy: { kind: "person", userId: by },
      outcome: "failed",
      failure: "harness-failed",
      taskOutcome: "failed",
      next: null,
      harness: "command",
      model: "~default",
      reportedModel: "large-2",
      effort: null,
      profile: "shell",
      fingerprint: runs.get(work.rows, workspaceId, runId)?.fingerprint,
      repositories: ["acme/app"],
      skillsGiven: ["greet"],
      skillsRead: ["greet"],
      servers: [{ server: "tracker", calls: 1, failed: 1, lastFailed: true }],
      refused: [{ server: null, tool: "shell", by: "agent" }],
      spent: [spent],
      priced: true,
      steps: 2,
    },
  ]);
});

t.test("what becomes of a run in its task is told by its fact too, and by nothing else of it", async (t) => {
  const work = new SteppedWork();
  work.claim();
  work.complete("review");
  const [before] = listFacts(work);
  t.match(before, { outcome: "completed", taskOutcome: "other", next: null, priced: false, spent: { length: 0 } });
  work.now += 60_000;
  work.claim();
  work.complete("work");
  const [sentBack] = listFacts(work);
  t.same(sentBack, { ...before, taskOutcome: "sent-back" });
  work.tell({ type: "task.stop", by } as Message);
  const at = new Date(work.now).toISOString();
  t.same(listFacts(work)[0], { ...sentBack, next: { act: "parked", at } });
});

t.test("a run that ends before it began has a fact; its task knew of the end before", async (t) => {
  const work = new SteppedWork();
  const { runId } = work;
  work.tell({ type: "task.close", by } as Message);
  t.match(listFacts(work), [{ runId, outcome: "withdrawn", taskOutcome: "other", startedMs: null, steps: 0 }]);
});

t.test("a tool that a person dismissed is refused by a person", async (t) => {
  const work = new SteppedWork();
  work.claim();
  work.say({ type: "run.started" });
  const wish = { type: "run.permission", tool: "shell", inputs: "{}", reason: "" };
  for (const id of ["1", "2"]) work.say({ ...wish, id });
  const answer = { type: "approval.answer", by, edited: null, note: null };
  for (const [index, verdict] of ["dismissed", "approved"].entries()) {
    const approvalId = work.approvalIds()[index];
    work.run().take({ ...answer, approvalId, verdict } as Message);
  }
  work.say({ type: "run.ended", outcome: "failed", ...ended });
  t.match(listFacts(work), [{ refused: [{ server: null, tool: "shell", by: "person" }], servers: { length: 0 } }]);
});

t.test("facts are found by station, newest first, by the day, and by their run after that run is gone", async (t) => {
  const work = new SteppedWork();
  for (const to of ["review", "work", "review"]) {
    work.claim();
    work.now += 60_000;
    work.complete(to);
  }
  const stationId = "sta_work";
  const [newest, oldest] = runFacts.all(work.rows, workspaceId, { teamId, stationId });
  t.ok(newest !== undefined && oldest !== undefined && newest.endedMs > oldest.endedMs);
  t.equal(runFacts.list(work.rows, workspaceId, [teamId, "2026-01-01"]).length, 3);
  const run = runs.get(work.rows, workspaceId, newest?.runId ?? "");
  const input = runInputs.get(work.rows, workspaceId, newest?.runId ?? "");
  if (run === undefined || input === undefined) throw new Error("there is no such run");
  runs.remove(work.rows, workspaceId, run);
  runInputs.remove(work.rows, workspaceId, input);
  t.same(findRunFact(work.rows, workspaceId, run), newest);
  t.equal(findRunFact(work.rows, workspaceId, { ...run, endedAt: null }), undefined);
});
