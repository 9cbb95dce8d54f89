import t from "tap";
import { workEventNames, workEvents } from "../../../actors/events/catalogue.js";
import { runFacts } from "../../../actors/run-facts/run-fact.table.js";
import { dispatcherActor } from "../../../actors/runners/dispatcher.machine.js";
import { RUNNER_FEATURES, type RunnerMessage } from "../../../actors/runners/protocol.js";
import { listLines } from "../../../actors/runners/run-queue.table.js";
import { runnerActor } from "../../../actors/runners/runner.machine.js";
import { type RunnerHello, type RunnerReported, runnerRef } from "../../../actors/runners/runner.messages.js";
import { type OutboxMessage, outbox } from "../../../actors/runners/runner.table.js";
import { listOpenApprovals } from "../../../actors/runs/approval.table.js";
import { buildJob } from "../../../actors/runs/job.js";
import { runActor } from "../../../actors/runs/run.machine.js";
import { type EndRun, runRef, type StartRun } from "../../../actors/runs/run.messages.js";
import { runSteps, runs } from "../../../actors/runs/run.table.js";
import { runItemView } from "../../../actors/runs/run.view.js";
import type { RunOwner, RunOwnerKind } from "../../../actors/runs/run-owner.js";
import { reference } from "../../../runtime/cells/reference.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import { table } from "../../../storage/table.js";
import { Harness } from "../../support/harness.js";
import { type Note, probe } from "../../support/probe.js";
import { line, lineId, putLine, putPool, teamId, workspaceId } from "../../support/work.js";

/**
 * Run owners other than tasks, without a gate or hooks. Runs of `people` have an assignee who answers their requests;
 * runs of `nobody` have no assignee.
 */
const nobody: RunOwner = {
  kind: "replay",
  hearsClaims: false,
  hasGate: false,
  hasHooks: false,
  handOver: "refused",
  hasConversation: false,
  hasApprovals: false,
  assignee: () => null,
  brief: null,
  opener: null,
  eventSubject: () => null,
};
const people: RunOwner = {
  ...nobody,
  kind: "search",
  handOver: "accepted",
  hasConversation: true,
  hasApprovals: true,
  assignee: () => "usr_1",
};

const probeRef = reference<Note>("probe");
/** The messages that each probe received, in order. The key is `[probe, n]`. */
const told = table<Note>("test-told");

/** Records a message that a probe received. Omits the turn, which the message contains. */
function keep(_context: unknown, { turn: _turn, ...message }: Note, turn: Turn): void {
  const n = told.list(turn, workspaceId, [turn.self.id]).length;
  told.put(turn, workspaceId, [turn.self.id, n], message);
}

const probeActor = probe("probe", {
  seed: (_context, _message, turn) => {
    putLine(turn);
    putPool(turn, "pool_1");
  },
  want: (_context, { runId, owner, lane, replay }, turn) => {
    const [work] = line.stations;
    const start = {
      type: "run.start",
      owner: { kind: owner, id: turn.self.id },
      ownerAddress: probeRef(workspaceId, turn.self.id),
      teamId,
      lineId,
      stationId: "sta_work",
      stationKey: "work",
      fingerprint: "f",
      config: { station: work, repositories: line.repositories, skills: [], profile: null },
      beginning: {
        line: { key: "dev", name: "Dev" },
        station: { name: "work", passesTo: ["review"], next: ["review"] },
        checkouts: [{ repository: "acme/app", base: "a".repeat(40), diff: null }],
        ...(replay === undefined ? {} : { replay }),
      },
      needs: { poolId: null, labels: [], harness: "command" },
      ...(lane === undefined ? {} : { lane }),
    } as unknown as StartRun;
    turn.send(runRef(workspaceId, String(runId)), start);
  },
  "run.began": keep,
  "run.asking": keep,
  "run.over": keep,
  note: keep,
});

/** The real runtime with runs, a dispatcher, a runner, and a probe that queues runs. */
class Scene {
  readonly harness = new Harness({
    catalogue: {
      actors: [dispatcherActor, runnerActor, runActor([people, nobody]), probeActor],
      subscribers: [
        {
          name: "everything",
          facts: workEventNames.filter((name) => workEvents[name].timing === "after"),
          handle: (fact, turn) => turn.send(probeRef(workspaceId, "hooks"), { type: "note", heard: fact.name }),
        },
      ],
      gates: [
        {
          name: "everything",
          questions: workEventNames.filter((name) => workEvents[name].timing === "before"),
          boundMs: 1_000,
          gatekeepers: ({ name }) => [{ to: probeRef(workspaceId, "hooks"), message: { type: "note", asked: name } }],
        },
      ],
    },
  });
  readonly #runner = runnerRef(workspaceId, "runner_1");
  #connection = "";
  #said = 0;

  static async open(): Promise<Scene> {
    const scene = new Scene();
    await scene.harness.start();
    await scene.harness.ask(probeRef(workspaceId, "1"), { type: "seed" });
    await scene.connect("first");
    return scene;
  }

  /** Connects the runner as the named process. */
  async connect(instance: string, features: readonly string[] = RUNNER_FEATURES): Promise<void> {
    const hello: RunnerHello["hello"] = {
      instance: `${instance}-0123456789abcdef`,
      name: "peer",
      version: "1",
      labels: [],
      harnesses: ["command"],
      slots: 1,
      received: 0,
      claims: [],
      features: [...features],
    };
    const message = { type: "runner.hello", connection: instance, poolId: "pool_1", leaseMs: 60_000, hello } as const;
    await this.harness.ask(this.#runner, message);
    this.#connection = instance;
    this.#said = 0;
  }

  async want(runId: string, owner: RunOwnerKind = "search", more: object = {}): Promise<void> {
    const message: Note = { type: "want", runId, owner, ...more };
    await this.harness.ask(probeRef(workspaceId, "1"), message);
  }

  async end(runId: string, outcome: "stopped" | "withdrawn"): Promise<void> {
    const message: EndRun = { type: "run.end", outcome, reason: "It was told to." };
    await this.harness.ask(runRef(workspaceId, runId), message);
  }

  /** Reports on a run as the runner. */
  async say(runId: string, message: { readonly type: string; readonly [field: string]: unknown }): Promise<void> {
    this.#said += 1;
    const said = { ...message, runId, fence: 1 } as RunnerMessage;
    const of = {
      type: "runner.said",
      connection: this.#connection,
      n: this.#said,
      ack: 0,
      message: said,
    } as RunnerReported;
    await this.harness.ask(this.#runner, of);
  }

  sent(): readonly OutboxMessage[] {
    return outbox.list(this.harness.durable, workspaceId, ["runner_1"]);
  }

  told(): readonly unknown[] {
    return told.list(this.harness.durable, workspaceId, ["1"]);
  }

  run(runId: string) {
    return runs.get(this.harness.durable, workspaceId, runId);
  }

  waiting(runId: string): string | null {
    const run = this.run(runId);
    if (run === undefined) throw new Error(`there is no ${runId}`);
    return runItemView(this.harness.durable, workspaceId, run).waiting?.reason ?? null;
  }

  job(runId: string) {
    return buildJob({ reading: this.harness.durable, sealer: { open: String } }, workspaceId, { runId, fence: 1 });
  }

  /** Whether nothing crashed, nothing was logged, there are no dead letters, and no hook was called. */
  isQuiet(): boolean {
    const { crashes, deadLetters } = this.harness.runtime.stats();
    const hooks = told.list(this.harness.durable, workspaceId, ["hooks"]);
    return crashes === 0 && deadLetters === 0 && hooks.length === 0 && this.harness.logged.length === 0;
  }
}

t.test(
  "a run without a task is claimed, worked, sent messages and handed over, and reports to its owner",
  async (t) => {
    const scene = await Scene.open();
    await scene.want("run_1");
    t.match(scene.run("run_1"), {
      state: "claimed",
      runnerId: "runner_1",
      owner: { kind: "search", id: "1" },
      taskId: null,
    });
    t.match(scene.sent(), [{ type: "run.assign", runId: "run_1", fence: 1 }], "no gate was asked");
    const job = scene.job("run_1");
    t.match(job, { line: { key: "dev" }, checkouts: [{ repository: "acme/app", base: "a".repeat(40), diff: "" }] });
    t.notOk(job !== undefined && "task" in job);

    await scene.say("run_1", { type: "run.started" });
    t.same(scene.told(), [{ type: "run.began", runId: "run_1" }]);
    await scene.say("run_1", {
      type: "run.step",
      step: { index: 0, kind: "message", text: "hi", tool: null, spent: null },
    });
    const speech = { type: "run.speak", text: "Use blue.", key: null } as const;
    const run = runRef(workspaceId, "run_1");
    t.match(await scene.harness.ask(run, { ...speech, by: "usr_2" } as Note), { refused: "forbidden" });
    t.match(await scene.harness.ask(run, { ...speech, by: "usr_1" } as Note), { step: { text: "Use blue." } });
    t.same(
      runSteps.list(scene.harness.durable, workspaceId, ["run_1"]).map(({ text, from }) => `${from}: ${text}`),
      ["agent: hi", "person usr_1: Use blue."],
    );

    await scene.say("run_1", { type: "run.permission", id: "1-1", tool: "shell", inputs: "{}", reason: "" });
    const [approval] = listOpenApprovals(scene.harness.durable, workspaceId, "run_1");
    const answer = {
      type: "approval.answer",
      by: "usr_1",
      approvalId: approval?.id,
      verdict: "approved",
      edited: null,
    };
    await scene.harness.ask(run, { ...answer, note: null } as Note);
    t.match(scene.told().slice(1), [
      { type: "run.asking", runId: "run_1", asks: /shell/ },
      { type: "run.asking", runId: "run_1", asks: null },
    ]);

    await scene.say("run_1", { type: "run.handover", id: "1-2", to: "nowhere", note: "" });
    await scene.say("run_1", { type: "run.handover", id: "1-3", to: "review", note: "" });
    t.match(
      scene.sent().filter(({ type }) => type === "run.handover-answered"),
      [
        { id: "1-2", refused: /choose review/ },
        { id: "1-3", refused: null },
      ],
    );
    const left = { failure: null, checkouts: [], check: null, spent: null };
    const ending = { kind: "handover", to: "review", note: "" };
    await scene.say("run_1", { type: "run.ended", outcome: "completed", ending, ...left });
    t.match(scene.run("run_1"), { state: "ended", outcome: "completed", ending });
    t.same(runFacts.list(scene.harness.durable, workspaceId), [], "the figures of a team's work leave it out");
    t.same(scene.told().slice(3), [
      { type: "note", from: "person usr_1", text: "Use blue.", key: "said run_1 1" },
      { type: "run.over", runId: "run_1", outcome: "completed" },
    ]);
    t.ok(scene.isQuiet());
  },
);

t.test("for an owner without people, approvals are answered at once and messages refused", async (t) => {
  const scene = await Scene.open();
  await scene.want("run_1", "replay");
  await scene.say("run_1", { type: "run.started" });
  await scene.say("run_1", { type: "run.permission", id: "1-1", tool: "shell", inputs: "{}", reason: "" });
  await scene.say("run_1", { type: "run.handover", id: "1-2", to: "review", note: "" });
  t.match(scene.sent().slice(1), [
    { type: "run.permission-answered", id: "1-1", verdict: "dismissed", reason: /Nobody can approve/ },
    { type: "run.handover-answered", id: "1-2", refused: /This run cannot hand over/ },
  ]);
  const speech = { type: "run.speak", by: "usr_1", text: "Use blue.", key: null } as const;
  t.match(await scene.harness.ask(runRef(workspaceId, "run_1"), speech), { refused: "conflict" });
  const ending = { kind: "handover", to: "review", note: "" };
  const left = { failure: null, checkouts: [], check: null, spent: null };
  await scene.say("run_1", { type: "run.ended", outcome: "completed", ending, ...left });
  t.match(scene.run("run_1"), { outcome: "failed", failure: { message: /not allowed/ } });
  t.same(scene.told(), [
    { type: "run.began", runId: "run_1" },
    { type: "run.over", runId: "run_1", outcome: "failed" },
  ]);
  t.ok(scene.isQuiet());
});

t.test("its runs are lost, stopped and withdrawn like those of tasks", async (t) => {
  const scene = await Scene.open();
  for (const runId of ["run_1", "run_2", "run_3"]) await scene.want(runId);
  t.match(scene.run("run_2"), { state: "queued" }, "the runner has one slot");
  await scene.end("run_3", "withdrawn");
  await scene.connect("second");
  t.match(scene.run("run_1"), { outcome: "abandoned" });
  t.match(scene.run("run_2"), { state: "claimed" });
  await scene.end("run_2", "stopped");
  t.ok(scene.sent().some(({ type, runId }) => type === "run.stop" && runId === "run_2"));
  const left = { ending: null, failure: null, checkouts: [], check: null, spent: null };
  await scene.say("run_2", { type: "run.ended", outcome: "stopped", ...left });
  t.same(scene.told(), [
    { type: "run.over", runId: "run_3", outcome: "withdrawn" },
    { type: "run.over", runId: "run_1", outcome: "abandoned" },
    { type: "run.over", runId: "run_2", outcome: "stopped" },
  ]);
  t.ok(scene.isQuiet());
});

t.test("a run without a task waits in its lane for a runner with that feature, and says so", async (t) => {
  const scene = await Scene.open();
  await scene.connect("old", ["messages", "permissions"]);
  await scene.want("run_1", "search", { lane: "search:1" });
  t.match(scene.run("run_1"), { state: "queued", lane: "search:1" });
  t.match(
    scene.waiting("run_1"),
    /^In the lane search:1: Every matching connected runner .* does not support such runs\.$/,
  );
  await scene.want("run_2", "search", { lane: "search:1" });
  await scene.end("run_2", "withdrawn");
  await scene.connect("new");
  t.match(scene.run("run_1"), { state: "claimed" });
  t.equal(scene.waiting("run_2"), null, "it left the queue");
  t.same(listLines(scene.harness.durable, workspaceId), []);
  t.ok(scene.isQuiet());
});

t.test("a run of a replay waits for a runner that knows of replays, and is a job that says so", async (t) => {
  const scene = await Scene.open();
  await scene.connect("old", ["messages", "permissions", "taskless", "bases"]);
  const replay = { does: "check", secretsFor: { check: true, setup: [] } };
  await scene.want("run_1", "replay", { lane: "replay/1", replay });
  t.match(scene.run("run_1"), { state: "queued" });
  t.match(scene.waiting("run_1"), /has a release that does not support such runs\.$/);
  await scene.connect("new");
  t.match(scene.run("run_1"), { state: "claimed" });
  t.same(scene.job("run_1")?.replay, replay);
  const ended = {
    outcome: "completed",
    ending: { kind: "finish", note: "" },
    failure: null,
    checkouts: [],
    spent: null,
  };
  const check = { passed: true, exitCode: 0, output: "" };
  await scene.say("run_1", { type: "run.started" });
  await scene.say("run_1", { type: "run.ended", ...ended, check });
  t.match(scene.run("run_1"), { outcome: "completed", check });
  t.ok(scene.isQuiet());
});

t.test("a run of an owner that the catalogue does not know is not queued", async (t) => {
  const scene = await Scene.open();
  await scene.want("run_1", "stack-check");
  t.equal(scene.run("run_1"), undefined);
  const setAside = {
    message: "a message moved to the dead-letter queue",
    details: { actor: "ws_1/run/run_1", type: "run.start" },
  };
  t.match(scene.harness.logged.at(-1), setAside);
});
