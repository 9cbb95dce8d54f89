import t from "tap";
import { MAX_AMOUNT } from "../../../actors/money.js";
import { RUNNER_PROTOCOL, runnerFrameSchema, serviceFrameSchema } from "../../../actors/runners/protocol.js";

/**
 * Tests how runners work with services of other releases. `runner-socket.test.ts` tests how services work with runners
 * of other releases.
 */

const hello = {
  frame: "hello",
  protocol: RUNNER_PROTOCOL,
  runnerId: null,
  instance: "0123456789abcdef",
  name: "r",
  version: "9",
  labels: [],
  harnesses: ["command"],
  slots: 1,
  received: 0,
  claims: [],
};
const step = { index: 0, kind: "message", text: "hi", tool: null, spent: null };
const said = { type: "run.step", runId: "run_1", fence: 1, step };

t.test("an unknown member is ignored, in any frame", async (t) => {
  const later = { ...hello, novelty: { deep: true }, claims: [{ runId: "run_1", fence: 1, novelty: 1 }] };
  t.same(runnerFrameSchema.parse(later), { ...hello, claims: [{ runId: "run_1", fence: 1 }] });
  const frame = { frame: "message", n: 1, ack: 0, message: said };
  const laterSaid = { ...said, novelty: 1, step: { ...step, novelty: 1 } };
  t.same(runnerFrameSchema.parse({ ...frame, novelty: 1, message: laterSaid }), frame);
  const welcome = { frame: "welcome", runnerId: "runner_1", received: 0, leaseSeconds: 30, claims: [] };
  t.same(serviceFrameSchema.parse({ ...welcome, novelty: 1 }), welcome);
  const stop = { frame: "message", n: 1, ack: 0, message: { type: "run.stop", runId: "run_1", fence: 1, reason: "" } };
  t.same(serviceFrameSchema.parse({ ...stop, message: { ...stop.message, novelty: 1 } }), stop);
});

t.test("an end may name unknown features, or none", async (t) => {
  t.same(runnerFrameSchema.parse({ ...hello, features: ["of a later release"] }), {
    ...hello,
    features: ["of a later release"],
  });
  t.same(runnerFrameSchema.parse(hello), hello);
});

t.test("control characters in names that people are shown, which earlier runners sent on, become spaces", async (t) => {
  const parse = (message: object) => runnerFrameSchema.parse({ frame: "message", n: 1, ack: 0, message });
  t.match(parse({ ...said, step: { ...step, tool: "a\u001b[31mb" } }), { message: { step: { tool: "a [31mb" } } });
  t.match(runnerFrameSchema.parse({ ...hello, name: "a\nb" }), { name: "a b" });
  const wish = { type: "run.permission", runId: "run_1", fence: 1, id: "1", tool: "a\nb", inputs: "{}", reason: "" };
  t.match(parse(wish), { message: { tool: "a b" } });
  const ended = {
    type: "run.ended",
    runId: "run_1",
    fence: 1,
    outcome: "stopped",
    ending: null,
    failure: null,
    checkouts: [],
    check: null,
    spent: null,
    model: "a\u0000b",
  };
  t.match(parse(ended), { message: { model: "a b" } });
});

t.test("a step may say which tool was called and which skill was read; names are bounded, and text", async (t) => {
  const parse = (more: object) =>
    runnerFrameSchema.safeParse({ frame: "message", n: 1, ack: 0, message: { ...said, step: { ...step, ...more } } });
  const call = { server: "tracker", tool: "find", failed: true, refusedBy: null };
  const taken = parse({ call: { ...call, novelty: 1 }, skill: "greet" });
  t.match(taken.data, { message: { step: { ...step, call, skill: "greet" } } });
  t.ok(parse({ call: { ...call, server: null, refusedBy: "person" } }).success);
  const odd = [{ tool: "" }, { tool: "x".repeat(201) }, { server: "" }, { failed: 1 }, { refusedBy: "usr_1" }];
  for (const more of odd) t.notOk(parse({ call: { ...call, ...more } }).success, JSON.stringify(more));
  t.notOk(parse({ skill: "" }).success);
  for (const name of ["gre\u0000et", "greet\n", "\u001b[2J", "\u0085"]) {
    for (const more of [{ tool: name }, { server: name }]) t.notOk(parse({ call: { ...call, ...more } }).success);
    t.notOk(parse({ skill: name }).success, JSON.stringify(name));
  }
});

t.test("a start may say which commits it begins from, one for each checkout at most", async (t) => {
  const started = (bases?: unknown) => {
    const message = { type: "run.started", runId: "run_1", fence: 1, ...(bases === undefined ? {} : { bases }) };
    return runnerFrameSchema.safeParse({ frame: "message", n: 1, ack: 0, message }).success;
  };
  const base = { repository: "acme/app", base: "a".repeat(40) };
  for (const bases of [undefined, [], [base], [{ ...base, base: "0".repeat(64) }], Array(50).fill(base)]) {
    t.ok(started(bases));
  }
  const odd = ["main", "A".repeat(40), "a".repeat(41), null].map((commit) => [{ ...base, base: commit }]);
  const others = [Array(51).fill(base), [{ ...base, repository: "x".repeat(201) }], base, null];
  for (const bases of [...odd, ...others]) t.notOk(started(bases), JSON.stringify(bases)?.slice(0, 80));
});

t.test("an amount beyond the bound, which earlier runners sent on, is taken as the bound", async (t) => {
  const frame = (amount: unknown, also = "") => {
    const ended = {
      type: "run.ended",
      runId: "run_1",
      fence: 1,
      outcome: "stopped",
      ending: null,
      failure: null,
      checkouts: [],
      check: null,
      spent: { amount, currency: "USD" },
    };
    const ofStep = { ...said, step: { ...step, spent: { amount, currency: "USD" } } };
    return [ended, ofStep].map((message) => {
      const text = JSON.stringify({ frame: "message", n: 1, ack: 0, message });
      return runnerFrameSchema.safeParse(JSON.parse(also === "" ? text : text.replace('"amount":0', also))).data;
    });
  };
  const spent = (amount: number) => [
    { message: { spent: { amount, currency: "USD" } } },
    { message: { step: { spent: { amount, currency: "USD" } } } },
  ];
  for (const amount of [MAX_AMOUNT, MAX_AMOUNT + 1, 1.7e308, Number.POSITIVE_INFINITY, null]) {
    t.match(frame(amount), spent(MAX_AMOUNT), String(amount));
  }
  t.match(frame(0, '"amount":1e999'), spent(MAX_AMOUNT), "JSON that is read as Infinity");
  for (const [amount, taken] of [
    [1e-305, 0],
    [1e-9, 1e-9],
    [0.25, 0.25],
  ] as const)
    t.match(frame(amount), spent(taken));
  for (const odd of [-1, "1", {}]) t.same(frame(odd), [undefined, undefined], JSON.stringify(odd));
  t.same(frame(undefined), [undefined, undefined]);
});

t.test("an invalid message is refused", async (t) => {
  for (const message of [{ ...said, type: "run.unheard-of" }, { ...said, step: { ...step, kind: "shout" } }, {}]) {
    t.notOk(runnerFrameSchema.safeParse({ frame: "message", n: 1, ack: 0, message }).success);
  }
});

t.test(
  "calls of tools: names as clients take them, inputs that are an object's JSON, answers of any length",
  async (t) => {
    const parse = (message: object) => runnerFrameSchema.safeParse({ frame: "message", n: 1, ack: 0, message });
    const claim = { runId: "run_1", fence: 1, id: "1-1" };
    const call = { type: "run.tool-call", ...claim, server: "tracker", tool: "find_issue", inputs: '{"id":1}' };
    t.match(parse({ ...call, novelty: 1 }).data, { message: call });
    const odd = [
      { server: "a.b" },
      { tool: "" },
      { tool: "x".repeat(65) },
      { inputs: "[]" },
      { inputs: "x" },
      { id: "" },
    ];
    for (const more of odd) t.notOk(parse({ ...call, ...more }).success, JSON.stringify(more));
    t.ok(parse({ type: "run.tool-cancelled", ...claim }).success);
    const told = (message: object) => serviceFrameSchema.safeParse({ frame: "message", n: 1, ack: 0, message });
    const answered = { type: "run.tool-answered", ...claim, outcome: "done", text: "x".repeat(100_000), callId: null };
    t.match(told(answered).data, { message: answered });
    t.notOk(told({ ...answered, outcome: "lost" }).success);
    for (const about of ["the assignee's approval", null]) {
      t.ok(told({ type: "run.tool-waiting", ...claim, callId: "call_1", for: about }).success);
    }
  },
);
t.test("an order of a push is for a branch that git allows, and names its snapshot or the run's end", async (t) => {
  const order = {
    type: "run.push",
    runId: "run_1",
    fence: 1,
    id: "pr_1-1",
    repository: "acme/app",
    wish: null,
    token: "t",
    url: "https://code.example/acme/app.git",
    branch: "signalbox/0000abcd-fix",
    base: "main",
    title: "Fix it",
  };
  const parse = (more: object) =>
    serviceFrameSchema.safeParse({ frame: "message", n: 1, ack: 0, message: { ...order, ...more } }).success;
  t.ok(parse({}));
  t.ok(parse({ base: null, wish: "1-1", token: null, why: "It is down.", branch: "größer/fix.2" }));
  const odd = [
    "",
    "-x",
    "--force",
    "a..b",
    "a//b",
    "/a",
    "a/",
    "a.",
    ".a",
    "a/.b",
    "a.lock",
    "a.lock/b",
    "a b",
    "a\nb",
  ];
  for (const branch of [...odd, "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a@{1}", "x".repeat(256)]) {
    t.notOk(parse({ branch }), branch);
    t.notOk(parse({ base: branch }), branch);
  }
});

t.test("what was pushed is told by its commit and at most 3,000 paths", async (t) => {
  const parse = (message: object) =>
    runnerFrameSchema.safeParse({ frame: "message", n: 1, ack: 0, message: { runId: "run_1", fence: 1, ...message } })
      .success;
  const pushed = { type: "run.pushed", id: "pr_1-1", repository: "acme/app", head: "a".repeat(40), changed: ["a"] };
  t.ok(parse(pushed));
  t.notOk(parse({ ...pushed, head: "main" }));
  t.ok(parse({ ...pushed, changed: Array(3_000).fill("a") }));
  t.notOk(parse({ ...pushed, changed: Array(3_001).fill("a") }));
  const rejected = { type: "run.push-rejected", id: "pr_1-1", repository: "acme/app", problem: "conflict", why: "" };
  t.ok(parse(rejected));
  t.notOk(parse({ ...rejected, problem: "other" }));
  const wish = { type: "run.pull-request", id: "1-1", repository: "acme/app", title: "Fix", body: "", changed: [] };
  t.ok(parse(wish));
  t.notOk(parse({ ...wish, title: "" }));
});
