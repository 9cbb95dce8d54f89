import t from "tap";
import { MAX_OPEN_TOOL_CALLS, type ToolAnswered } from "../../../../actors/runners/run-tools.js";
import { awaitCall } from "../../../../http/runner/tools/await-call.js";
import { ToolCalls, type ToolResult } from "../../../../http/runner/tools/tool-calls.js";
import { ManualClock } from "../../../support/manual-clock.js";

/**
 * Creates the tool calls of a run. `sent` records the messages to the service. `ask` makes a call as a client, and
 * returns the progress and the answers that the client gets.
 */
function begin() {
  const clock = new ManualClock();
  const sent: string[] = [];
  const paused: boolean[] = [];
  const calls = new ToolCalls({
    prefix: "1",
    send: (message) => sent.push(message.type === "run.tool-call" ? `call ${message.id}` : `cancel ${message.id}`),
    paused: (isPaused) => paused.push(isPaused),
  });
  const ask = (inputs: Record<string, unknown> = { id: 1 }, { withProgress = true, tool = "find" } = {}) => {
    const given = new AbortController();
    const progress: string[] = [];
    const answers: ToolResult[] = [];
    const wish = { server: "tracker", tool, inputs };
    const options = {
      clock,
      signal: given.signal,
      progress: withProgress ? (text: string) => progress.push(text) : null,
    };
    const done = awaitCall(calls, wish, options).then((result) => answers.push(result));
    return { progress, answers, done, giveUp: () => given.abort() };
  };
  const answer = (id: string, outcome: ToolAnswered["outcome"], text: string = outcome) =>
    calls.answered({ id, outcome, text });
  const wait = (id: string, what: string | null) => calls.waiting({ id, callId: "call_1", for: what });
  return { clock, sent, paused, calls, ask, answer, wait };
}
const APPROVAL = "the assignee's approval";
const ADVICE = /Call again with the same inputs/;

t.test("a call is asked once, and its outcome is the request's answer: all but done are errors", async (t) => {
  const { sent, ask, answer } = begin();
  for (const [place, outcome] of (["done", "failed", "dismissed", "refused", "withdrawn"] as const).entries()) {
    const request = ask();
    answer(`1-${place + 1}`, outcome, `It is ${outcome}.`);
    await request.done;
    t.same(request.answers, [{ text: `It is ${outcome}.`, isError: outcome !== "done" }]);
  }
  t.same(sent, ["call 1-1", "call 1-2", "call 1-3", "call 1-4", "call 1-5"]);
});

t.test(
  "a client that takes progress gets it at once when a person is asked, and every 15 seconds, without end",
  async (t) => {
    const { clock, ask, answer, wait } = begin();
    const request = ask();
    clock.advance(15_000);
    t.same(request.progress, ["The call is under way."]);
    wait("1-1", APPROVAL);
    t.same(request.progress.length, 2);
    clock.advance(24 * 3_600_000);
    t.equal(request.progress.length, 2 + (24 * 3_600) / 15);
    t.equal(request.progress.at(-1), `Waiting for ${APPROVAL}.`);
    wait("1-1", null);
    answer("1-1", "done", "found");
    await request.done;
    t.same(request.answers, [{ text: "found", isError: false }]);
    clock.advance(60_000);
    t.equal(request.progress.at(-1), "The call is under way.");
  },
);

t.test("any other client is told after 50 seconds to call again, and attaches to the call then", async (t) => {
  const { clock, sent, ask, answer, wait } = begin();
  const first = ask({ id: 1, more: [2] }, { withProgress: false });
  wait("1-1", APPROVAL);
  clock.advance(49_999);
  t.same(first.answers, []);
  clock.advance(1);
  await first.done;
  t.equal(first.answers[0]?.isError, false);
  t.match(first.answers[0]?.text, `The call waits for ${APPROVAL} (call_1).`);
  t.match(first.answers[0]?.text, ADVICE);
  const second = ask({ more: [2], id: 1 });
  t.same(second.progress, [`Waiting for ${APPROVAL}.`], "the order of members is no difference");
  answer("1-1", "done", "found");
  await second.done;
  t.same(second.answers, [{ text: "found", isError: false }]);
  t.same(sent, ["call 1-1"]);
});

t.test("an outcome that nobody waited for is given once, to the next equal request", async (t) => {
  const { clock, sent, ask, answer } = begin();
  const first = ask({ id: 1 }, { withProgress: false });
  clock.advance(50_000);
  await first.done;
  t.match(first.answers[0]?.text, /^The call is under way\. Call again/, "a service that is away has named no id");
  answer("1-1", "done", "found");
  const other = ask({ id: 2 });
  const second = ask();
  await second.done;
  t.same(second.answers, [{ text: "found", isError: false }]);
  const third = ask();
  answer("1-3", "done", "found again");
  answer("1-2", "failed", "not that");
  await Promise.all([third.done, other.done]);
  t.same(third.answers, [{ text: "found again", isError: false }]);
  t.same(sent, ["call 1-1", "call 1-2", "call 1-3"]);
});

t.test("a call that is given up is cancelled; begun, its outcome is there for an equal request", async (t) => {
  const { sent, ask, answer, wait } = begin();
  const first = ask();
  first.giveUp();
  first.giveUp();
  await first.done;
  t.same(sent, ["call 1-1", "cancel 1-1"]);
  wait("1-1", APPROVAL);
  answer("1-1", "done", "made all the same");
  const second = ask();
  await second.done;
  t.same(second.answers, [{ text: "made all the same", isError: false }]);
  t.equal(sent.length, 2);
});

t.test("not begun, it is withdrawn, and asked anew only for an equal request that came meanwhile", async (t) => {
  const { sent, ask, answer } = begin();
  const first = ask();
  first.giveUp();
  answer("1-1", "withdrawn");
  const second = ask();
  second.giveUp();
  const third = ask();
  t.same(sent, ["call 1-1", "cancel 1-1", "call 1-2", "cancel 1-2"]);
  answer("1-2", "withdrawn");
  answer("1-2", "done", "of an earlier id");
  t.same(third.answers, []);
  answer("1-3", "done", "found");
  await third.done;
  t.same(third.answers, [{ text: "found", isError: false }]);
});

t.test("equal requests at once are calls of their own to the service, which makes one of them", async (t) => {
  const { sent, ask } = begin();
  const requests = [ask(), ask(), ask({ id: 1 }, { tool: "other" })];
  t.same(sent, ["call 1-1", "call 1-2", "call 1-3"]);
  requests[0]?.giveUp();
  t.same(sent.slice(3), ["cancel 1-1"]);
});

t.test("the clock of the timeout stands still while any call waits for a person", async (t) => {
  const { paused, ask, answer, wait, calls } = begin();
  const [first] = [ask({ id: 1 }), ask({ id: 2 }), ask({ id: 3 })];
  wait("1-1", APPROVAL);
  wait("1-2", APPROVAL);
  t.same(paused, [true]);
  wait("1-1", null);
  answer("1-2", "dismissed");
  t.same(paused, [true, false]);
  wait("1-1", APPROVAL);
  first?.giveUp();
  t.same(paused, [true, false, true, false]);
  wait("1-1", APPROVAL);
  wait("1-3", APPROVAL);
  calls.close();
  t.same(paused, [true, false, true, false, true, false]);
});

t.test("calls are bounded, open ones and outcomes that nobody got", async (t) => {
  const { clock, sent, ask, answer } = begin();
  const asked = Array.from({ length: 1_000 }, (_, id) => ask({ id }, { withProgress: false }));
  await asked[999]?.done;
  t.equal(sent.length, MAX_OPEN_TOOL_CALLS);
  t.match(asked[999]?.answers, [{ text: /may be open at once/, isError: true }]);
  clock.advance(50_000);
  for (let id = 1; id <= MAX_OPEN_TOOL_CALLS; id += 1) answer(`1-${id}`, "done");
  const more = Array.from({ length: MAX_OPEN_TOOL_CALLS }, (_, id) => ask({ id: -1 - id }, { withProgress: false }));
  clock.advance(50_000);
  for (let id = 1; id <= MAX_OPEN_TOOL_CALLS; id += 1) answer(`1-${MAX_OPEN_TOOL_CALLS + id}`, "done");
  t.equal(sent.length, 2 * MAX_OPEN_TOOL_CALLS);
  ask({ id: 0 });
  t.equal(sent.length, 2 * MAX_OPEN_TOOL_CALLS + 1, "the oldest outcomes are dropped");
  await more[0]?.done;
});

t.test("at the end every call is given up and every request answered; later ones are refused", async (t) => {
  const { clock, sent, ask, answer, calls } = begin();
  const left = ask({ id: 1 }, { withProgress: false });
  clock.advance(50_000);
  const waiting = ask({ id: 2 });
  calls.close();
  answer("1-2", "done");
  const late = ask({ id: 3 });
  await Promise.all([left.done, waiting.done, late.done]);
  for (const { answers } of [waiting, late]) t.match(answers, [{ text: /being stopped/, isError: true }]);
  t.same(sent, ["call 1-1", "call 1-2", "cancel 1-1", "cancel 1-2"]);
});
