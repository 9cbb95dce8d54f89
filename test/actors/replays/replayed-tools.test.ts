import t from "tap";
import { type IntegrationFields, integrationSchema } from "../../../actors/integrations/definition.js";
import { outbox } from "../../../actors/runners/runner.table.js";
import { freezeTools } from "../../../actors/runs/frozen-tools.js";
import { buildJob } from "../../../actors/runs/job.js";
import { runInputs } from "../../../actors/runs/run-input.table.js";
import { defaultRetention } from "../../../actors/tables/retention.js";
import { retentionRef } from "../../../actors/tables/retention-sweeper.machine.js";
import { storeText, toStoredText } from "../../../actors/tables/text-blobs.js";
import { toAskedDigest } from "../../../actors/tool-calls/asked-digest.js";
import type { ToolCallRow } from "../../../actors/tool-calls/tool-call.js";
import { toolCalls } from "../../../actors/tool-calls/tool-call.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Turn } from "../../../runtime/turns/turn.js";
import { type GivenJob, ReplayWorld, type ReplayWorldOptions } from "../../support/replay-world.js";
import { putResource } from "../../support/stepped-work.js";
import { type memoryRows, withTurn } from "../../support/turn.js";
import { teamId, workspaceId } from "../../support/work.js";

const DAY_MS = 24 * 60 * 60 * 1_000;

type Rows = ReturnType<typeof memoryRows>;

const named = (...names: readonly string[]) => names.map((name) => ({ tool: `tracker.${name}`, approval: false }));

/** Defines the tools of the team's tracker; their descriptions end with `when`. */
function define(rows: Rows, when: string, tools: readonly string[] = ["find", "comment"]): void {
  const tool = (name: string) => [name, { description: `To ${name}, ${when}.`, action: "go", inputs: {} }];
  const definition = {
    integration: "tracker",
    name: "Tracker",
    hosts: ["api.example.com"],
    actions: { go: { request: { url: "https://api.example.com/" } } },
    tools: Object.fromEntries(tools.map(tool)),
  };
  putResource(rows, "integration", "tracker", integrationSchema.parse(definition) satisfies IntegrationFields);
}

/** A tool call of the past run. */
interface Past extends Partial<Omit<ToolCallRow, "inputs">> {
  readonly inputs: object;
}

let made = 0;

function putCall(turn: Turn, { inputs, ...more }: Past): void {
  made += 1;
  const asked = { server: "tracker", tool: "find", inputs: JSON.stringify(inputs) };
  const output = more.output === undefined ? null : toStoredText(turn, workspaceId, String(more.output));
  toolCalls.insert(turn, workspaceId, {
    id: `call_${made}`,
    runId: "run_1",
    taskId: "task_1",
    teamId,
    integration: "tracker",
    tool: "find",
    integrationId: "integration_tracker",
    askedDigest: toAskedDigest(asked),
    edited: null,
    state: "done",
    code: null,
    message: null,
    approvalId: "apr_1",
    rule: "tool",
    actsAs: "usr_1",
    method: "GET",
    askedAt: "",
    begunAt: "",
    endedAt: "",
    ...more,
    inputs: JSON.stringify({ ...inputs, limit: 10 }),
    output,
  });
}

/** Writes the tool `find` and the calls of the past run. Then changes the tools' definitions. */
function prepare(rows: Rows, calls: readonly Past[] = []): void {
  define(rows, "then");
  const self = address(workspaceId, "run", "run_1");
  const freeze = (turn: Turn) => {
    const tools = freezeTools(turn, { workspaceId, teamKey: "core" }, { tools: named("find") });
    const input = runInputs.get(turn, workspaceId, "run_1");
    if (input?.beginning == null || input.claimed?.brief == null || tools === undefined) throw new Error("no past run");
    const digest = storeText(turn, workspaceId, "a picture") ?? "";
    const attachments = [{ id: "att_1", name: "picture.txt", type: "text/plain", bytes: 9, digest }];
    const claimed = { ...input.claimed, brief: { ...input.claimed.brief, attachments } };
    runInputs.put(turn, workspaceId, input, { ...input, claimed, beginning: { ...input.beginning, tools } });
  };
  withTurn(self, freeze, { rows });
  withTurn(self, (turn) => calls.forEach((call) => void putCall(turn, call)), { rows });
  define(rows, "since");
}

t.test(
  "a replay's agent has the tools of the replay's config: as the repeated run had them, others as at its start",
  async (t) => {
    const world = await ReplayWorld.open({
      runs: 1,
      prepare: (rows) => prepare(rows),
      station: { tools: named("comment", "find", "gone") },
    });
    await world.start();
    const findTools = (job: ReturnType<ReplayWorld["job"]>) => {
      const source = { reading: world.harness.durable, sealer: { open: () => "" } };
      return buildJob(source, workspaceId, job)?.tools?.map(({ description }) => description);
    };
    const expected = ["To comment, since.", "To find, then."];
    t.same(findTools(world.job()), expected);
    await world.write((rows) => define(rows, "later", ["find"]));
    t.same(findTools(world.job()), expected, "frozen with the replay");
    t.same(world.complaints(), []);
  },
);

t.test("a replay's agent has the files that the repeated run's had", async (t) => {
  const world = await ReplayWorld.open({ runs: 1, prepare: (rows) => prepare(rows) });
  await world.start();
  const job = world.job();
  const source = { reading: world.harness.durable, sealer: { open: () => "" } };
  t.match(buildJob(source, workspaceId, job)?.task?.attachments, [{ id: "att_1", name: "picture.txt", bytes: 9 }]);
});

/** Replays the past run with an agent that makes these calls. */
async function replayed(calls: readonly Past[], options: ReplayWorldOptions = {}) {
  const world = await ReplayWorld.open({
    runs: 1,
    ...options,
    prepare: (rows) => prepare(rows, calls),
    station: { tools: named("find") },
  });
  const { replayId } = await world.start();
  const job = world.job();
  await world.begin(job);
  let asked = 0;
  const call = async (inputs: object, tool = "find", to: GivenJob = job) => {
    const id = `1-${++asked}`;
    await world.say(to, { type: "run.tool-call", id, server: "tracker", tool, inputs: JSON.stringify(inputs) });
    const answers = outbox
      .list(world.harness.durable, workspaceId, ["runner_1"])
      .flatMap((message) =>
        message.type === "run.tool-answered" && message.runId === to.runId && message.id === id ? [message] : [],
      );
    return answers.map(({ outcome, text, note = "" }) => `${outcome}: ${text}${note}`).join(" | ");
  };
  return { world, replayId, job, call };
}

t.test("a call gets the answer of the repeated run's: the n-th equal one the n-th, later ones the last", async (t) => {
  const { world, replayId, job, call } = await replayed([
    { inputs: { id: 1, of: "a" }, output: '"first"' },
    { inputs: { id: 2 }, output: '{"other":1}', edited: '{"id":3}' },
    {
      inputs: { id: 1, of: "a" },
      state: "failed",
      code: "rejected",
      message: "It failed.",
      told: "It failed.\n\nNot so.",
    },
    { inputs: { id: 1, of: "a" }, state: "withdrawn", message: "The agent cancelled the call." },
    { inputs: { id: 1, of: "a" }, output: `"${"long ".repeat(2_000)}"` },
  ]);
  t.equal(await call({ id: 1, of: "a" }), "done: first");
  t.equal(await call({ of: "a", id: 1 }), "failed: It failed.\n\nNot so.");
  t.equal(await call({ id: 2 }), 'done: {"other":1}A person changed the inputs of this call to {"id":3}.');
  for (const _later of [3, 4]) t.equal(await call({ id: 1, of: "a" }), `done: ${"long ".repeat(2_000)}`);
  await world.end(job);
  t.match(world.copies(replayId), [{ result: "succeeded", toolMisses: 0 }]);
  const rows = toolCalls.all(world.harness.durable, workspaceId, { runId: job.runId }).reverse();
  t.same(
    rows.map(({ state, recorded, begunAt, approvalId }) => [state, recorded?.slice(0, 5), begunAt, approvalId]),
    [["done"], ["failed"], ["done"], ["done"], ["done"]].map(([state]) => [state, "call_", null, null]),
  );
  t.match(rows[0]?.inputs, '{"id":1,"of":"a","limit":10}', "as the recorded call had them");
  t.same(world.complaints(), []);
});

t.test(
  "a call that the repeated run did not make is refused, and counts; one that was refused then does not",
  async (t) => {
    const { world, replayId, job, call } = await replayed([
      { inputs: { id: 1 }, state: "refused", message: "Hook guard refused. Reason: no" },
      { inputs: { id: 2 }, state: "dismissed", message: "The call of tracker.find was dismissed." },
      { inputs: { id: 3 }, state: "withdrawn", message: "The run was stopped." },
    ]);
    t.match(await call({ id: 1 }), /^refused: Hook guard refused/);
    t.match(await call({ id: 2 }), /^dismissed: The call of tracker.find/);
    for (const [inputs, tool] of [
      [{ id: 3 }, "find"],
      [{ id: 1, limit: 10 }, "find"],
      [{ id: 1 }, "comment"],
    ] as const) {
      t.match(await call(inputs, tool), /^refused: This run replays an earlier run, which made no such call/);
    }
    const step = { index: 0, kind: "tool", text: "find", tool: "find", spent: null };
    const said = { server: "tracker", tool: "find", failed: false, refusedBy: "service" };
    await world.say(job, { type: "run.step", step: { ...step, call: said } });
    await world.end(job);
    t.match(
      world.copies(replayId),
      [{ result: "succeeded", toolMisses: 3 }],
      "not once more for what the agent says of it",
    );
    t.same(world.complaints(), []);
  },
);

t.test(
  "nothing leaves by a call of a replay: what is stored of it is the call, its count, and the answer",
  async (t) => {
    const { world, job, call } = await replayed([{ inputs: { id: 1 }, output: '"found"' }]);
    const stored = () => {
      const keys = world.harness.durable.range({ prefix: [workspaceId] }).map(({ key }) => key.map(String));
      return new Set(keys.filter(([, space]) => space !== "feed" && space !== "seen").map((key) => key.join("/")));
    };
    const before = stored();
    await call({ id: 1 });
    await call({ id: 2 });
    const more = [...stored()].filter((key) => !before.has(key)).map((key) => key.split("/").slice(1, 3).join(" "));
    t.same([...new Set(more)].sort(), [
      "row runner-outbox",
      "row tool-call",
      "row tool-call-asked",
      "row tool-call-run",
      "row tool-call-use",
    ]);
    await world.say(job, { type: "run.tool-cancelled", id: "1-1" });
    t.match(await call({ id: 1 }), "done: found", "also after it was given up");
    t.same(world.complaints(), []);
  },
);

t.test("what a set's runs called stays with them; what a replay's runs called goes with these", async (t) => {
  const retention = { ...defaultRetention, work: DAY_MS };
  const long = "long ".repeat(2_000);
  const scene = await replayed([{ inputs: { id: 1 }, output: `"${long}"` }], { retention });
  const { world, job, call } = scene;
  t.equal(await call({ id: 1 }), `done: ${long}`);
  await world.end(job);
  await world.start({ repeats: 2, ceiling: { amount: 100, currency: "EUR" } });
  await world.workAll();
  await world.harness.ask(retentionRef(workspaceId), { type: "retention.begin" });
  await world.harness.advance(4 * DAY_MS);
  const toCalls = (runId: string) => toolCalls.all(world.harness.durable, workspaceId, { runId }).length;
  t.same([toCalls(job.runId), toCalls("run_1")], [0, 1]);
  await world.connect();
  await world.start({ ceiling: { amount: 100, currency: "EUR" } });
  const again = world.job();
  await world.begin(again);
  t.equal(await call({ id: 1 }, "find", again), `done: ${long}`);
});
