import t from "tap";
import { runFacts } from "../../../actors/run-facts/run-fact.table.js";
import { openCalls } from "../../../actors/runs/open-call.table.js";
import { callUses } from "../../../actors/tool-calls/tool-call.table.js";
import { address } from "../../../runtime/cells/address.js";
import { runId, ToolCallScene, tracker } from "../../support/tool-call-scene.js";
import { workspaceId } from "../../support/work.js";

t.test("a call that nobody has to approve is vetted, made, and answered with its output", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("note", { text: "Hello" });
  t.equal(scene.get(id).state, "vetting");
  const [{ question } = { question: {} }] = scene.questions;
  t.match(question, { name: "tool.using", work: { event: { tool: "tracker.note", inputs: { text: "Hello" } } } });
  scene.vet(id);
  t.match(scene.get(id), { state: "running", method: "POST", actsAs: "team", begunAt: /^2026/ });
  t.match(scene.requests[0]?.effect.input, {
    integrationId: "integration_tracker",
    block: { kind: "action", name: "comment" },
    actsAs: { kind: "team" },
    after: { kind: "tool", name: "note" },
    again: "after-a-crash",
    lane: "waiting",
    values: JSON.stringify({
      task: { line: "dev", station: "work", stationKey: "work", marks: {} },
      inputs: { text: "Hello" },
    }),
  });
  const taken = scene.end(id);
  t.equal(taken.stopped, true, "the actor leaves");
  t.match(scene.get(id), { state: "done", output: '{"id":1}', code: null, endedAt: /^2026/ });
  t.same(scene.told(), [{ type: "run.tool-answered", id: "ask-1", outcome: "done", text: '{"id":1}' }]);
  t.match(scene.facts, [{ name: "tool.used", work: { event: { output: { id: 1 }, failed: false } } }]);
  t.same(scene.run().calls?.servers, [{ server: "tracker", calls: 1, failed: 0, lastFailed: false }]);
  t.same(openCalls.list(scene.rows, workspaceId, [runId]), []);
});

t.test("wrong inputs fail at once with what is wrong, and nothing is asked or sent", async (t) => {
  const scene = new ToolCallScene();
  const wrong: readonly [object, RegExp][] = [
    [{}, /tracker\.note are wrong: text must be given\.$/],
    [{ text: 7 }, /text must be text/],
    [{ text: "a", colour: "red" }, /colour is not an input of the tool/],
  ];
  for (const [inputs, message] of wrong) {
    const id = scene.call("note", inputs);
    t.match(scene.get(id), { state: "failed", code: "invalid", message, begunAt: null });
  }
  const hostile = scene.call("note", JSON.parse('{"text":"a","__proto__":{"text":"b"},"constructor":1}'));
  t.match(scene.get(hostile), {
    state: "failed",
    message: /__proto__ is not an input of the tool; constructor is not an input/,
  });
  const unknown = scene.call("gone", {});
  t.match(scene.get(unknown), { state: "failed", code: "not-allowed", message: "This run has no tool tracker.gone." });
  t.same([scene.questions, scene.requests, scene.facts], [[], [], []]);
  t.match(scene.told()[0], { outcome: "failed", text: /text must be given/ });
  t.match(scene.run().calls?.servers, [{ server: "tracker", calls: 5, failed: 5 }]);
});

t.test("a tool that is gone is not called, whether before its vetting, after it, or after its approval", async (t) => {
  const scene = new ToolCallScene();
  const [vetted, approved] = [scene.call("note", { text: "a" }), scene.call("comment", { text: "b" })];
  scene.vet(approved);
  t.equal(scene.get(approved).state, "waiting");
  scene.define({ tools: {} });
  const asked = scene.call("find", {});
  scene.vet(vetted);
  scene.answer(approved, "usr_1");
  for (const id of [asked, vetted, approved]) {
    t.match(scene.get(id), { state: "failed", code: "not-allowed", message: /no longer offers tracker\.\w+/ });
  }
  t.equal(scene.approval(approved)?.state, "approved");
  t.same([scene.requests, scene.facts], [[], []]);
});

t.test("what a person approves is what was asked: a call whose action is changed meanwhile is not made", async (t) => {
  const { actions } = tracker;
  const changed = { ...actions, comment: { request: { ...actions.comment.request, method: "DELETE" } } };
  for (const edited of [null, '{"text":"b"}']) {
    const scene = new ToolCallScene();
    const id = scene.call("comment", { text: "a" });
    scene.vet(id);
    scene.define({ actions: changed });
    scene.answer(id, "usr_1", { edited });
    if (edited !== null) scene.vet(id);
    t.match(scene.get(id), { state: "failed", code: "not-allowed", message: /changed while the call/ });
    t.same([scene.requests, scene.facts], [[], []]);
  }
});

t.test(
  "an approved call goes where it was to go when a person was asked, whatever the task's marks are by now",
  async (t) => {
    const scene = new ToolCallScene();
    scene.putTask({ marks: { issue: "1" } });
    const id = scene.call("comment", { text: "a" });
    scene.vet(id);
    scene.putTask({ marks: { issue: "2" } });
    scene.answer(id, "usr_1");
    const [{ effect } = { effect: { input: {} } }] = scene.requests;
    t.match(JSON.parse((effect.input as { values: string }).values), { task: { marks: { issue: "1" } } });
  },
);

t.test("an output that is told is stored once, whatever of the answer has no value", async (t) => {
  const scene = new ToolCallScene();
  const [whole, without] = [scene.call("note", { text: "a" }), scene.call("note", { text: "b" })];
  const unread = "`output` has no value: a";
  for (const [id, output] of [
    [whole, '"Hello"'],
    [without, null],
  ] as const) {
    scene.vet(id);
    scene.end(id, { output, unread });
  }
  t.match(scene.get(whole), { state: "done", message: unread, output: '"Hello"', told: undefined });
  t.match(scene.get(without), {
    state: "done",
    message: unread,
    output: null,
    told: /^The call succeeded, but .*no value/,
  });
});

t.test("a call is made as it was approved, whatever else of its integration is changed meanwhile", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("comment", { text: "a" });
  scene.vet(id);
  scene.define({ name: "Another name" });
  scene.answer(id, "usr_1");
  t.equal(scene.get(id).state, "running");
});

t.test("a deleted integration's key does not lead to the next one with that key", async (t) => {
  const scene = new ToolCallScene();
  scene.deleteIntegration();
  t.match(scene.get(scene.call("note", { text: "a" })), { state: "failed", code: "not-allowed" });
});

t.test("a hook refuses: the agent gets its words, the call is counted as refused, nothing is used", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("note", { text: "a" });
  scene.vet(id, "Hook guard refused. Reason: not today");
  t.match(scene.get(id), { state: "refused", message: /not today/, approvalId: null });
  t.same(scene.told(), [
    { type: "run.tool-answered", id: "ask-1", outcome: "refused", text: "Hook guard refused. Reason: not today" },
  ]);
  t.same(scene.run().calls?.refused, [{ server: "tracker", tool: "note", by: "service" }]);
  t.same([scene.requests, scene.facts], [[], []]);
});

t.test("a tool that acts as the starter is not called where no person started the task, or they left", async (t) => {
  const scene = new ToolCallScene();
  scene.define({ connection: { holder: "requester" } });
  scene.putTask({ openedBy: { kind: "integration", integration: "tracker" } });
  t.match(scene.get(scene.call("note", { text: "a" })), {
    state: "failed",
    code: "not-connected",
    message: /no person started it/,
  });
  scene.putTask({ openedBy: { kind: "person", userId: "usr_1" } });
  const id = scene.call("note", { text: "b" });
  scene.putMember("usr_1", []);
  scene.vet(id);
  t.match(scene.get(id), { state: "failed", code: "not-connected", message: /is no longer on the team/ });
  t.same([scene.requests, scene.facts], [[], []]);
});

t.test("a request that fails is told with its status and the beginning of its answer", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("note", { text: "a" });
  scene.vet(id);
  const response = JSON.stringify(`<html><b>Not <i>there</i></b></html>${"x".repeat(5_000)}`);
  scene.end(id, { success: false, status: 404, code: "rejected", reason: "it responded 404", response });
  t.match(scene.get(id), { state: "failed", code: "rejected", message: "tracker.note failed: it responded 404." });
  const [told] = scene.told() as { text: string }[];
  t.match(told?.text, /^tracker\.note failed: it responded 404\.\n\nNot there x/);
  t.ok(Buffer.byteLength(told?.text ?? "") < 2_200);
  t.match(scene.facts, [{ work: { event: { failed: true } } }]);
  t.match(scene.run().calls?.servers, [{ failed: 1 }]);
});

t.test("what a killed process may have sent is unknown, and said to the agent", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("note", { text: "a" });
  scene.vet(id);
  scene.end(id, { success: false, code: "interrupted", reason: "killed", response: null, status: null });
  t.match(scene.get(id), {
    state: "failed",
    code: "outcome-unknown",
    message: /It is not known whether it happened\.$/,
  });
  t.match(scene.told(), [{ outcome: "failed", text: /It is not known whether it happened\.$/ }]);
  t.match(scene.facts, [{ name: "tool.used", work: { event: { failed: true } } }]);
});

t.test("what the agent was told of a failed call is kept with it, where that is more than the sentence", async (t) => {
  const scene = new ToolCallScene();
  const end = (response: string | null) => {
    const id = scene.call("note", { text: response ?? "" });
    scene.vet(id);
    scene.clear();
    scene.end(id, { success: false, code: "rejected", reason: "status 409", status: 409, response, output: null });
    return [scene.get(id)?.told, scene.told().map((told) => (told as { text?: string }).text)];
  };
  const sentence = "tracker.note failed: status 409.";
  t.same(end('"<b>Closed</b> since"'), [`${sentence}\n\nClosed since`, [`${sentence}\n\nClosed since`]]);
  t.same(end(null), [undefined, [sentence]]);
});

t.test("what was not sent was not used", async (t) => {
  const scene = new ToolCallScene();
  for (const code of ["not-connected", "not-allowed", "unwritable", "broken"] as const) {
    const id = scene.call("note", { text: code });
    scene.vet(id);
    scene.end(id, { success: false, code, reason: "so it is", response: null, status: null });
    t.match(scene.get(id), { state: "failed", code });
  }
  t.same(scene.facts, []);
});

t.test("the same call, asked again while it is open, is made once and answered twice", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("comment", { text: "Hi", on: "x" }, "one");
  scene.vet(id);
  scene.clear();
  t.equal(scene.call("comment", { on: "x", text: "Hi" }, "two"), id, "whatever the order of its inputs");
  t.equal(scene.calls().length, 1);
  t.same(scene.told(), [{ type: "run.tool-waiting", id: "two", for: "the assignee's approval" }]);
  t.equal(scene.call("comment", { text: "Hi", on: "x" }, "two"), id, "a message that comes twice is one");
  scene.answer(id, "usr_1");
  scene.end(id);
  t.equal(scene.requests.length, 1);
  t.same(
    scene
      .told()
      .filter((told) => "outcome" in told)
      .map((told) => ("id" in told ? told.id : "")),
    ["one", "two"],
  );
  t.not(scene.call("comment", { text: "Hi", on: "x" }, "three"), id, "once it is over it is another");
});

t.test("a call that nobody waits for any more is withdrawn; one that has begun goes on", async (t) => {
  const scene = new ToolCallScene();
  const waiting = scene.call("comment", { text: "Hi" }, "one");
  scene.vet(waiting);
  scene.call("comment", { text: "Hi" }, "two");
  scene.say({ type: "run.tool-cancelled", id: "one" });
  scene.say({ type: "run.tool-cancelled", id: "one" });
  t.equal(scene.get(waiting).state, "waiting", "somebody waits still");
  scene.clear();
  scene.say({ type: "run.tool-cancelled", id: "two" });
  t.equal(scene.get(waiting).state, "withdrawn");
  t.match(scene.approval(waiting), { state: "closed" });
  t.same(scene.asks(), [null]);
  const running = scene.call("note", { text: "Hi" }, "three");
  scene.vet(running);
  scene.say({ type: "run.tool-cancelled", id: "three" });
  t.equal(scene.get(running).state, "running");
  scene.end(running);
  t.match(scene.get(running), { state: "done" });
  t.match(scene.told().at(-1), { id: "three", outcome: "done" });
  t.equal(scene.run().calls?.refused.length ?? 0, 0, "nobody refused anything");
});

t.test(
  "a run that is stopped or ends withdraws what has not begun; what has is recorded and nobody told",
  async (t) => {
    for (const how of ["stop", "end"]) {
      const scene = new ToolCallScene();
      const [vetting, waiting, running] = [
        scene.call("find", {}),
        scene.call("comment", { text: "a" }),
        scene.call("note", { text: "b" }),
      ];
      scene.vet(waiting);
      scene.vet(running);
      scene.clear();
      const run = address(workspaceId, "run", runId);
      if (how === "stop")
        scene.tell(run, { type: "run.end", outcome: "stopped", reason: "The assignee stopped it." } as never);
      else {
        const ended = {
          type: "run.ended",
          outcome: "completed",
          ending: null,
          failure: null,
          check: null,
          spent: null,
        };
        scene.say({ ...ended, checkouts: [] });
      }
      t.same(
        [vetting, waiting, running].map((id) => scene.get(id).state),
        ["withdrawn", "withdrawn", "running"],
        how,
      );
      t.match(scene.approval(waiting), { state: "closed" });
      const answered = () => scene.told().filter((told) => "outcome" in told).length;
      t.equal(answered(), how === "stop" ? 2 : 0, "an agent that still works is told");
      t.match(
        scene.answer(waiting, "usr_1").answer,
        { refused: "conflict", detail: /no longer waits/ },
        "a person was deciding",
      );
      const vetted = scene.vet(vetting);
      t.equal(vetted.taken, false, "hooks answer too late");
      scene.end(running);
      t.equal(scene.get(running).state, "done");
      t.match(scene.facts.at(-1), { name: "tool.used" });
      t.equal(answered(), how === "stop" ? 3 : 0);
      t.match(scene.run().calls?.servers, [{ server: "tracker", calls: 1 }], "counted");
      const counted = runFacts.list(scene.rows, workspaceId).map(({ servers }) => servers[0]?.calls);
      t.same(counted, how === "end" ? [1] : [], "also in its run's fact");
      t.same(openCalls.list(scene.rows, workspaceId, [runId]), []);
      if (how === "end") {
        scene.say({ type: "run.tool-call", id: "late", server: "tracker", tool: "note", inputs: '{"text":"late"}' });
        t.equal(scene.calls().length, 3, "nothing more is called");
      } else {
        scene.call("note", { text: "more" });
        t.match(scene.told().at(-1), { outcome: "refused", text: "The run is being stopped." });
      }
    }
  },
);

t.test("a run has a bound of open calls, and of calls in all", async (t) => {
  const scene = new ToolCallScene();
  for (let n = 0; n < 33; n++) scene.call("note", { text: String(n) });
  t.equal(scene.calls().length, 32);
  t.same(scene.told(), [
    { type: "run.tool-answered", id: "ask-33", outcome: "refused", text: "32 calls of this run are already open." },
  ]);
  scene.say({ type: "run.tool-call", id: "ask-1", server: "tracker", tool: "note", inputs: '{"text":"0"}' });
  t.equal(scene.told().length, 1, "one of them that is sent twice is answered once, by its outcome");
  const bounds = [
    [{ calls: 2_000, bytes: 0 }, "This run has made 2000 calls, the maximum."],
    [{ calls: 1, bytes: 64 * 1024 * 1024 }, "The calls of this run have used 64 MiB, the maximum."],
  ] as const;
  for (const [use, text] of bounds) {
    const full = new ToolCallScene();
    callUses.put(full.rows, workspaceId, runId, { ...use, waiting: 0, waitingSinceMs: 0, waitedMs: 0 });
    full.call("note", { text: "one more" });
    t.same(full.told(), [{ type: "run.tool-answered", id: "ask-1", outcome: "refused", text }]);
    t.same(full.calls(), []);
    t.same(openCalls.list(full.rows, workspaceId, [runId]), []);
    t.match(full.run().calls?.refused, [{ server: "tracker", tool: "note", by: "service" }]);
  }
});

t.test("an own step of the agent about a call of its tools counts nothing twice", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("note", { text: "a" });
  scene.vet(id);
  scene.end(id);
  const step = (index: number, call: object) =>
    scene.say({ type: "run.step", step: { index, kind: "tool", text: "", tool: "note", spent: null, call } });
  step(0, { server: "tracker", tool: "note", failed: false, refusedBy: null });
  step(1, { server: "other", tool: "look", failed: false, refusedBy: null });
  step(2, { server: "tracker", tool: "note", failed: false, refusedBy: "agent" });
  t.same(
    scene.run().calls?.servers.map(({ server, calls }) => [server, calls]),
    [
      ["tracker", 1],
      ["other", 1],
    ],
  );
  t.same(scene.run().calls?.refused, [{ server: "tracker", tool: "note", by: "agent" }]);
});
