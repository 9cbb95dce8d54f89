import t from "tap";
import { integrationSchema } from "../../../actors/integrations/definition.js";
import { address } from "../../../runtime/cells/address.js";
import { putResource } from "../../support/stepped-work.js";
import { ToolCallScene, tracker } from "../../support/tool-call-scene.js";
import { teamId, workspaceId } from "../../support/work.js";

t.test(
  "a call that needs approval waits: the runner and the task are told, and it goes on when it is given",
  async (t) => {
    const scene = new ToolCallScene();
    const id = scene.call("comment", { text: "Hi" });
    scene.vet(id);
    t.match(scene.get(id), { state: "waiting", rule: "tool" });
    t.match(scene.approval(id), {
      kind: "tool-call",
      tool: "tracker.comment",
      rule: "tool",
      approver: "usr_1",
      state: "open",
      inputs: JSON.stringify({ text: "Hi", on: "dev" }),
    });
    t.same(scene.told(), [{ type: "run.tool-waiting", id: "ask-1", for: "the assignee's approval" }]);
    t.same(scene.asks(), ["A call of tracker.comment waits for approval."]);
    scene.clear();
    const { answer } = scene.answer(id, "usr_1");
    t.match(answer, { approval: { state: "approved", answeredBy: "usr_1" }, replayed: false });
    t.equal(scene.get(id).state, "running");
    t.same(scene.told(), [{ type: "run.tool-waiting", id: "ask-1", for: null }]);
    t.same(scene.asks(), [null]);
    const again = scene.answer(id, "usr_1");
    t.match(again.answer, { refused: "conflict", detail: "It was approved by you already." });
    scene.end(id);
    t.match(scene.answer(id, "usr_1").answer, { refused: "conflict" }, "also when the call is over");
  },
);

t.test("the assignee as it is when answering approves, and nobody else", async (t) => {
  const scene = new ToolCallScene();
  scene.putTask({ assignee: null });
  const id = scene.call("comment", { text: "Hi" });
  scene.vet(id);
  t.equal(scene.approval(id)?.approver, null);
  t.match(scene.asks(), [/waits for approval\. The task has no assignee/]);
  t.match(scene.answer(id, "usr_1").answer, { refused: "forbidden" });
  scene.putTask({ assignee: "usr_2" });
  t.match(scene.answer(id, "usr_1").answer, { refused: "forbidden" });
  t.match(scene.answer(id, "usr_2").answer, { approval: { answeredBy: "usr_2" } });
});

t.test("edited inputs are checked, asked of hooks again, and never approved twice", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("comment", { text: "Hi" });
  scene.vet(id);
  const wrong = scene.answer(id, "usr_1", { edited: '{"text":5,"odd key":1}' });
  t.match(wrong.answer, {
    refused: "invalid",
    errors: [{ path: "inputs.text" }, { path: 'inputs["odd key"]', message: "is not an input of the tool" }],
  });
  t.equal(scene.get(id).state, "waiting", "goes on waiting");
  scene.answer(id, "usr_1", { edited: '{"text":"Better"}' });
  t.match(scene.get(id), { state: "vetting", edited: JSON.stringify({ text: "Better", on: "dev" }) });
  t.match(scene.questions.at(-1)?.question, { work: { event: { inputs: { text: "Better", on: "dev" } } } });
  scene.tell(address(workspaceId, "tool-call", id), {
    type: "gate.answered",
    gate: "tool.using",
    id: "tool.using 1",
    refused: null,
  } as never);
  t.equal(scene.get(id).state, "vetting", "an answer to the first question is none to the second");
  scene.vet(id);
  t.equal(scene.get(id).state, "running");
  t.match(scene.requests[0]?.effect.input, { values: /"inputs":\{"text":"Better","on":"dev"\}/ });
  scene.clear();
  scene.end(id);
  const note = 'A person changed the inputs of this call to {"text":"Better","on":"dev"}.';
  t.match(scene.told(), [{ type: "run.tool-answered", outcome: "done", note }]);
});

t.test("an agent is told of changed inputs alone", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("comment", { text: "Hi" });
  scene.vet(id);
  scene.answer(id, "usr_1", { edited: '{"text":"Hi"}' });
  scene.vet(id);
  scene.clear();
  scene.end(id);
  const [told] = scene.told();
  t.match(told, { outcome: "done" });
  t.notOk(told !== undefined && "note" in told, "they are the same");
});

t.test("an edit that hooks refuse is not made", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("comment", { text: "Hi" });
  scene.vet(id);
  scene.answer(id, "usr_1", { edited: '{"text":"Bad"}' });
  scene.vet(id, "no bad words");
  const note = /^A person changed the inputs of this call to .*Bad/;
  t.match(scene.told().at(-1), { outcome: "refused", text: "no bad words", note });
  t.match(scene.get(id), { state: "refused", message: "no bad words" });
  t.same(scene.requests, []);
});

t.test("a dismissal reaches the agent with its reason, and the person is who refused", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("comment", { text: "Hi" });
  scene.vet(id);
  scene.clear();
  scene.answer(id, "usr_1", { verdict: "dismissed", note: "not this one" });
  t.match(scene.get(id), { state: "dismissed", message: /dismissed: not this one$/ });
  t.match(scene.told(), [{ outcome: "dismissed", text: "The call of tracker.comment was dismissed: not this one" }]);
  t.same(scene.run().calls?.refused, [{ server: "tracker", tool: "comment", by: "person" }]);
  t.same(scene.facts, [], "nothing was used");
});

t.test("nobody answers: a call is dismissed after a day, those of a run after three in all", async (t) => {
  const scene = new ToolCallScene();
  const day = 24 * 3_600_000;
  const waits: number[] = [];
  for (let n = 0; n < 4; n++) {
    const id = scene.call("comment", { text: `Hi ${n}` });
    const { wakes } = scene.vet(id);
    const [{ dueMs, name } = { dueMs: 0, name: "" }] = wakes;
    waits.push((dueMs - scene.now) / day);
    scene.now = dueMs;
    scene.tell(address(workspaceId, "tool-call", id), { type: "woken", name, dueMs } as never);
    t.match(scene.get(id), { state: "dismissed", message: "Nobody answered." });
    t.match(scene.approval(id), { state: "closed", note: "Nobody answered." });
    t.match(scene.told().at(-1), { outcome: "dismissed", text: /nobody answered/ });
  }
  t.same(waits, [1, 1, 1, 0]);
});

t.test("calls that wait at the same time count once", async (t) => {
  const scene = new ToolCallScene();
  const day = 24 * 3_600_000;
  const wait = (text: string) => {
    const id = scene.call("comment", { text });
    return { id, dueMs: scene.vet(id).wakes[0]?.dueMs ?? 0 };
  };
  const first = wait("a");
  scene.now += day / 2;
  const second = wait("b");
  t.equal(second.dueMs - scene.now, day);
  scene.answer(first.id, "usr_1");
  scene.now += day / 2;
  scene.answer(second.id, "usr_1");
  scene.now += 10 * day;
  const third = wait("c");
  scene.now += day;
  scene.answer(third.id, "usr_1");
  t.equal(wait("d").dueMs - scene.now, day, "two days were waited, not two and a half, and no time between");
});

t.test("the own rule of the person whose account it uses wins, and only they approve", async (t) => {
  const scene = new ToolCallScene();
  scene.define({ connection: { holder: "requester" } });
  scene.putRule("usr_1", ["comment", "find"]);
  scene.putTask({ assignee: "usr_2" });
  const id = scene.call("comment", { text: "Hi" });
  scene.vet(id);
  t.match(scene.get(id), { state: "waiting", rule: "person", actsAs: "usr_1" });
  t.match(scene.approval(id), { rule: "person", approver: "usr_1" });
  t.same(scene.asks(), [], "their inbox, not the task's");
  t.match(scene.told(), [{ for: /the person whose account it uses/ }]);
  t.match(scene.answer(id, "usr_2").answer, { refused: "forbidden", detail: /Only the person/ });
  scene.answer(id, "usr_1");
  t.match(scene.requests[0]?.effect.input, { actsAs: { kind: "person", userId: "usr_1" } });
  const unasked = scene.call("note", { text: "Hi" });
  scene.vet(unasked);
  t.match(scene.get(unasked), { state: "running", rule: null, actsAs: "usr_1" }, "a tool they are not asked about");
});

t.test("a person who leaves takes the calls with them that only they may approve, and no others", async (t) => {
  for (const left of ["team", "workspace"]) {
    const scene = new ToolCallScene();
    scene.define({ connection: { holder: "requester" } });
    scene.putRule("usr_1", ["note"]);
    const [own, assigned] = [scene.call("note", { text: "a" }), scene.call("comment", { text: "b" })];
    scene.vet(own);
    scene.now += 1;
    scene.vet(assigned);
    t.same([scene.approval(own)?.rule, scene.approval(assigned)?.rule], ["person", "tool"]);
    scene.clear();
    scene.leave("usr_2", null);
    scene.leave("usr_1", "team_other");
    t.equal(scene.get(own).state, "waiting", "somebody else, or another team");
    scene.leave("usr_1", left === "team" ? teamId : null);
    t.equal(scene.get(own).state, "waiting", "they are on the team again by then");
    scene.putMember("usr_1", []);
    scene.leave("usr_1", left === "team" ? teamId : null);
    const message = "The person whose account tracker.note uses is no longer on the team.";
    t.match(scene.get(own), { state: "failed", code: "not-connected", message, begunAt: null });
    t.match(scene.approval(own), { state: "closed", note: message, answeredBy: null });
    t.same(scene.told(), [{ type: "run.tool-answered", id: "ask-1", outcome: "failed", text: message }]);
    t.equal(scene.get(assigned).state, "waiting", "for the next assignee");
    t.same([scene.requests, scene.facts], [[], []]);
    t.match(scene.answer(own, "usr_1").answer, { refused: "conflict" });
  }
});

t.test(
  "a call whose tool, action or integration is removed waits for nobody: it fails, and its approval closes",
  async (t) => {
    const { comment: _comment, ...others } = tracker.tools;
    const { comment: _action, ...actions } = tracker.actions;
    const removals: readonly [what: string, remove: (scene: ToolCallScene) => void, code: string, message: string][] = [
      ["tool", (scene) => scene.define({ tools: others }), "not-allowed", "The team no longer offers tracker.comment."],
      ["action", (scene) => putBroken(scene, actions), "broken", "tracker.comment runs an action that was deleted."],
      [
        "integration",
        (scene) => scene.deleteIntegration(),
        "not-allowed",
        "The team no longer offers tracker.comment.",
      ],
    ];
    for (const [what, remove, code, message] of removals) {
      const scene = new ToolCallScene();
      const id = scene.call("comment", { text: "Hi" });
      scene.vet(id);
      scene.putTask({ assignee: null });
      scene.clear();
      scene.change("integration_other");
      scene.change();
      t.equal(scene.get(id).state, "waiting", "while the tool is offered");
      remove(scene);
      scene.change();
      t.match(scene.get(id), { state: "failed", code, message, begunAt: null }, what);
      t.match(scene.approval(id), { state: "closed", note: message, answeredBy: null });
      t.match(scene.told(), [{ type: "run.tool-answered", outcome: "failed", text: message }]);
      t.same([scene.asks().at(-1), scene.requests, scene.facts], [null, [], []], "the task goes on");
    }
    const changed = new ToolCallScene();
    const id = changed.call("comment", { text: "Hi" });
    changed.vet(id);
    const request = { url: "https://api.example.com/other", body: { text: "x" } };
    changed.define({ actions: { ...tracker.actions, comment: { request } } });
    changed.change();
    t.equal(changed.get(id).state, "waiting", "who approves what was changed hears of that");
  },
);

/**
 * Writes an integration in which a tool runs a missing action. Writes the row directly, because the API would reject
 * this integration.
 */
function putBroken(scene: ToolCallScene, actions: object): void {
  putResource(scene.rows, "integration", "tracker", { ...integrationSchema.parse(tracker), actions });
}

t.test("a station's entry asks too, and what is made laxer meanwhile changes nothing", async (t) => {
  const scene = new ToolCallScene([{ tool: "tracker.note", approval: true }]);
  const id = scene.call("note", { text: "Hi" });
  scene.vet(id);
  t.match(scene.get(id), { state: "waiting", rule: "station" });
  const strict = new ToolCallScene();
  strict.define({ tools: { comment: { action: "comment", approval: false } } });
  const laxer = strict.call("comment", { text: "Hi" });
  strict.vet(laxer);
  t.match(strict.get(laxer), { state: "waiting", rule: "tool" }, "as it was when the run was queued");
  const stricter = new ToolCallScene();
  stricter.define({ tools: { note: { action: "comment", approval: true } } });
  const asked = stricter.call("note", { text: "Hi" });
  stricter.vet(asked);
  t.match(stricter.get(asked), { state: "waiting", rule: "tool" }, "or as it is when it is called");
});

t.test("an answer under a key that was taken before is answered again, also when the call is over", async (t) => {
  const scene = new ToolCallScene();
  const id = scene.call("comment", { text: "Hi" });
  scene.vet(id);
  const idempotency = { scope: "usr_1 approve", key: "k", digest: "d" };
  const first = scene.answer(id, "usr_1", { idempotency });
  t.match(first.answer, { replayed: false });
  t.match(scene.answer(id, "usr_1", { idempotency }).answer, { replayed: true, approval: { state: "approved" } });
  scene.end(id);
  t.match(scene.answer(id, "usr_1", { idempotency }).answer, { replayed: true });
});
