import t from "tap";
import type { WorkEvent } from "../../../actors/events/catalogue.js";
import type { DeliveryResult } from "../../../actors/hooks/delivery/delivery-result.js";
import { hookHealth, readHookHealth } from "../../../actors/hooks/hook-health.table.js";
import { hookOccurrenceActor } from "../../../actors/hooks/hook-occurrence.machine.js";
import type { FireHook } from "../../../actors/hooks/hook-occurrence.messages.js";
import { EXHAUSTED } from "../../../actors/hooks/hook-occurrence.queries.js";
import { findHookOccurrence, hookRetries, listAttempts } from "../../../actors/hooks/hook-occurrence.table.js";
import { type ResourceRow, resources } from "../../../actors/resources/resource.table.js";
import type { TaskRow } from "../../../actors/tasks/task.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import type { Intent } from "../../../runtime/turns/turn-recorder.js";
import { type Reading, StoreError } from "../../../storage/store.js";
import { memoryRows, type Stepping, stepByHand } from "../../support/turn.js";
import { lineId, teamId, workspaceId } from "../../support/work.js";

const gate = { replyTo: address(workspaceId, "gate", "gate_1"), key: "key" };

function work(on: WorkEvent["on"]): WorkEvent {
  return {
    on,
    occurrence: "occ_1",
    workspaceId,
    teamId,
    lineId,
    stationId: "sta_work",
    run: null,
    causes: [],
    task: {
      id: "task_1",
      title: "",
      url: "",
      line: "dev",
      station: "Work",
      stationKey: "work",
      marks: {},
      repositories: [],
      pullRequest: null,
    },
    event: { at: "" },
  };
}

const result = (more: Partial<DeliveryResult>): Message => {
  const output: DeliveryResult = {
    step: "one",
    at: "",
    tookMs: 1,
    requestHeaders: {},
    status: 200,
    body: "{}",
    code: null,
    reason: null,
    ...more,
  };
  return { type: "effect.ended", effect: "hook-delivery", id: "x", result: { ok: true, output } } as Message;
};

const done = result({});
const refuses = result({ body: '{"refuse":"too late"}', refuses: "too late" });
const broke = result({ status: 500, code: "server-error", reason: "it responded 500" });
const rejected = result({ status: 404, code: "rejected", reason: "it responded 404" });
const crashed = {
  type: "effect.ended",
  effect: "hook-delivery",
  id: "x",
  result: { ok: false, error: "no" },
} as Message;
const cut = { status: null, body: "", code: "errored", reason: "killed" } as const;
const cutBefore = result({ ...cut, isAskedAgain: true });
const broken = (times: number) => Array.from({ length: times }, (_, n) => (n % 2 === 0 ? broke : woken));
const late = { type: "keeper.late", ...gate } as Message;
const woken = { type: "woken", name: "retry", dueMs: 0 } as Message;

const HOUR = 60 * 60 * 1_000;

const listCounters = (intents: readonly Intent[]) =>
  intents.flatMap((intent) => (intent.kind === "count" ? [intent.counter] : []));

/** Makes every read of a row of the table `table` fail as damaged. Returns the same rows. */
function withDamage(rows: ReturnType<typeof memoryRows>, table: string | undefined): ReturnType<typeof memoryRows> {
  const readRow: Reading["get"] = rows.get.bind(rows);
  const get: Reading["get"] = (key) => {
    if (key[2] === table) throw new StoreError("damaged", "the row is damaged", { key });
    return readRow(key);
  };
  return Object.assign(rows, { get });
}

interface Arranged {
  readonly stepping: Stepping;
  readonly state: () => string;
  readonly fire: FireHook;
}

function arrange(options: {
  on: WorkEvent["on"];
  before?: boolean;
  failure?: string;
  steps?: number;
  at?: string;
  /** The table whose rows are damaged. */
  damaged?: string;
}): Arranged {
  const { on, before = false, failure = "continue", steps = 1, at = "work", damaged } = options;
  const rows = withDamage(memoryRows(), damaged);
  const names = ["one", "two", "three"].slice(0, steps);
  const hook = {
    id: "hook_1",
    kind: "hook",
    version: 1,
    workspaceId,
    teamId,
    address: "core/tell",
    hidden: {},
    added: {},
    fields: {
      key: "tell",
      on,
      failure,
      timeoutSeconds: 5,
      steps: names.map((name) => ({ name, request: { url: "x" } })),
    },
    createdAt: "",
    updatedAt: "",
  } as unknown as ResourceRow;
  resources.put(rows, workspaceId, ["hook", "hook_1"], hook);
  const task = { id: "task_1", teamId, lineId, station: at, state: "queued" } as TaskRow;
  rows.put(tasks.key(workspaceId, "task_1"), task);
  const stepping = stepByHand(hookOccurrenceActor, address(workspaceId, "hook-occurrence", "occ_1-x"), { rows });
  const fire: FireHook = {
    type: "hook.fire",
    hookId: "hook_1",
    work: work(on),
    resends: null,
    ...(before ? { gate } : {}),
  };
  stepping.take(fire);
  return { stepping, state: () => findHookOccurrence(rows, workspaceId, teamId, "occ_1-x")?.state ?? "", fire };
}

t.test("an after-hook: state x message", async (t) => {
  const table: [string, Message[], string][] = [
    ["fired", [], "attempting"],
    ["done", [done], "delivered"],
    ["refusing is nothing to an after event", [refuses], "delivered"],
    ["a server error", [broke], "waiting"],
    ["a crash of the effect", [crashed], "waiting"],
    ["tried again", [broke, woken], "attempting"],
    ["done at the second attempt", [broke, woken, done], "delivered"],
    ["cut short by a kill", [result(cut)], "waiting"],
    ["done after it", [result(cut), woken, done], "delivered"],
    ["eight times cut short", Array.from({ length: 15 }, (_, n) => (n % 2 === 0 ? result(cut) : woken)), "failed"],
    ["rejected", [rejected], "failed"],
    ["rejected after a wait", [broke, woken, rejected], "failed"],
    ["eight attempts", broken(15), "failed"],
    ["seven attempts", broken(13), "waiting"],
  ];
  for (const [name, messages, wanted] of table) {
    const { stepping, state } = arrange({ on: "task.moved" });
    for (const message of messages) t.ok(stepping.take(message).taken, name);
    t.equal(state(), wanted, name);
    const isOver = wanted === "delivered" || wanted === "failed";
    t.equal(stepping.value, isOver ? "new" : wanted, isOver ? `${name}: the actor has ended` : name);
  }
});

t.test("the last of eight attempts that kills cut short counts as exhausted and is a line on the task", async (t) => {
  const { stepping } = arrange({ on: "task.moved" });
  for (let attempt = 1; attempt < 8; attempt++) {
    const { intents, sent } = stepping.take(result(cut));
    t.same([listCounters(intents), sent], [[], []]);
    stepping.take(woken);
  }
  const { intents, sent } = stepping.take(result(cut));
  t.same(listCounters(intents), [EXHAUSTED]);
  const text = "The hook failed at step one (errored): killed. It was tried 8 times and will not be retried.";
  t.match(sent, [{ to: { kind: "task", id: "task_1" }, message: { type: "note", text } }]);
});

t.test(
  "a kill that cuts a before event's request short has the receiver asked again at once, seven times",
  async (t) => {
    const { stepping, state } = arrange({ on: "run.starting", before: true, failure: "block" });
    for (let kill = 1; kill < 8; kill++)
      t.match(stepping.take(cutBefore), { started: { length: 1 }, sent: { length: 0 } });
    const { sent } = stepping.take(cutBefore);
    t.match(sent, [{ message: { refused: "Hook tell failed at step one and blocks on failure. Reason: killed" } }]);
    t.equal(state(), "failed");
    const attempts = listAttempts(stepping.rows, workspaceId, teamId, "occ_1-x");
    t.same([attempts.length, Object.hasOwn(attempts[0] ?? {}, "isAskedAgain")], [8, false]);
  },
);

t.test("what is over takes nothing more, and nobody fires twice", async (t) => {
  for (const messages of [[done], [rejected]]) {
    const { stepping, fire } = arrange({ on: "task.moved" });
    for (const message of messages) stepping.take(message);
    for (const message of [done, broke, woken, fire]) t.notOk(stepping.take(message).taken);
  }
  const { stepping, fire } = arrange({ on: "task.moved" });
  t.notOk(stepping.take(fire).taken, "it fires once");
  t.notOk(stepping.take(woken).taken, "no wake-up is waited for while a request is under way");
});

t.test("the wait doubles from two seconds, by a durable wake-up", async (t) => {
  const { stepping } = arrange({ on: "task.moved" });
  const waits: number[] = [];
  for (let attempt = 0; attempt < 7; attempt++) {
    const turn = stepping.take(broke);
    waits.push((turn.wakes[0]?.dueMs ?? 0) - stepping.now);
    stepping.take(woken);
  }
  t.same(waits, [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000]);
});

t.test("steps run in order, each once; a retry begins at the step that failed", async (t) => {
  const { stepping, state } = arrange({ on: "task.moved", steps: 3 });
  const steps: unknown[] = [];
  for (const message of [done, broke, woken, done, done]) {
    for (const { input } of stepping.take(message).started) steps.push((input as { step: number }).step);
  }
  t.same(steps, [1, 1, 2]);
  t.equal(state(), "delivered");
  t.equal(listAttempts(stepping.rows, workspaceId, teamId, "occ_1-x").length, 4);
});

t.test("a before-hook answers its event, once, with the reference's words", async (t) => {
  const cases: [string, Parameters<typeof arrange>[0], Message, string | null, string][] = [
    ["done", { on: "handover.giving", before: true }, done, null, "delivered"],
    ["refuses", { on: "handover.giving", before: true }, refuses, "Hook tell refused. Reason: too late", "refused"],
    ["fails, continue", { on: "run.starting", before: true }, broke, null, "failed"],
    [
      "fails, block",
      { on: "run.starting", before: true, failure: "block" },
      broke,
      "Hook tell failed at step one and blocks on failure. Reason: it responded 500",
      "failed",
    ],
    [
      "refuses whatever failure is",
      { on: "run.starting", before: true, failure: "block" },
      refuses,
      "Hook tell refused. Reason: too late",
      "refused",
    ],
    [
      "an empty refusal does not refuse",
      { on: "run.starting", before: true },
      result({ body: '{"refuse":""}' }),
      null,
      "delivered",
    ],
    ["out of time, continue", { on: "run.starting", before: true }, late, null, "failed"],
    [
      "out of time, block",
      { on: "run.starting", before: true, failure: "block" },
      late,
      "Hook tell failed at step one and blocks on failure. Reason: the hooks on the event used up their 60 seconds",
      "failed",
    ],
    ["no JSON is no refusal", { on: "run.starting", before: true }, result({ body: "refuse" }), null, "delivered"],
  ];
  for (const [name, options, message, refused, state] of cases) {
    const arranged = arrange(options);
    const turn = arranged.stepping.take(message);
    const answers = turn.sent.filter(({ to }) => to.kind === "gate").map(({ message: sent }) => sent);
    t.same(answers, [{ type: "keeper.answered", key: "key", refused }], name);
    t.equal(arranged.state(), state, name);
  }
});

t.test(
  "a before-hook has its time as a whole, counted while requests are on their way: what is left over for a later step gets less, then none",
  async (t) => {
    const { stepping } = arrange({ on: "run.starting", before: true, failure: "block", steps: 3 });
    // Only the request's own duration counts against the timeout, not the time that the request waits in the lane.
    stepping.now += 30_000;
    const [second] = stepping.take(result({ tookMs: 3_000 })).started;
    t.match(second?.input, { timeoutMs: 2_000 });
    const turn = stepping.take(result({ tookMs: 2_000 }));
    t.match(turn.sent, [
      { message: { refused: /failed at step three and blocks on failure. Reason: the hook's time ran out/ } },
    ]);
  },
);

t.test("a failure is noted on the task once, unless the task has moved on", async (t) => {
  const here = arrange({ on: "task.moved" });
  t.match(here.stepping.take(rejected).sent, [
    { to: { kind: "task", id: "task_1" }, message: { type: "note", key: "occ_1-x" } },
  ]);
  const gone = arrange({ on: "task.moved", at: "review" });
  t.same(gone.stepping.take(rejected).sent, []);
  t.equal(findHookOccurrence(gone.stepping.rows, workspaceId, teamId, "occ_1-x")?.code, "superseded");
});

t.test("a refusal and a failure for good are reported to the log, and each request to the metrics", async (t) => {
  const before = { on: "run.starting", before: true } as const;
  const attempt = (outcome: string) => ["hook.attempted", null, outcome] as const;
  const cases: [string, Parameters<typeof arrange>[0], Message[], unknown[]][] = [
    ["delivered", { on: "task.moved" }, [done], [attempt("delivered")]],
    ["refused", before, [refuses], [attempt("delivered"), ["hook.ended", "hook refused", undefined]]],
    [
      "given up at once",
      { on: "task.moved" },
      [rejected],
      [attempt("rejected"), ["hook.ended", "hook given up", undefined]],
    ],
    ["retried", { on: "task.moved" }, [broke], [attempt("server-error")]],
    ["superseded", { on: "task.moved", at: "review" }, [rejected], [attempt("rejected")]],
  ];
  for (const [name, options, messages, wanted] of cases) {
    const { stepping } = arrange(options);
    const intents = messages.flatMap((message) => stepping.take(message).intents);
    const reports = intents.flatMap((intent) => (intent.kind === "report" ? [intent.report] : []));
    t.same(
      reports.map(({ name: kind, line, details }) => [kind, line?.message ?? null, details.outcome]),
      wanted,
      name,
    );
    t.notMatch(JSON.stringify(reports), /too late|it responded/, "without the receiver's words");
  }
});

const healthOf = ({ stepping }: Arranged, nowMs = stepping.now) =>
  readHookHealth(stepping.rows, { workspaceId, id: "hook_1" }, nowMs);
const noHealth = { delivered: 0, refused: 0, failed: 0, waiting: 0, nextRetryAt: null };

t.test("the end of a firing counts in the health of its hook, once and for 24 hours", async (t) => {
  const before = { on: "run.starting", before: true } as const;
  const cases: [string, Parameters<typeof arrange>[0], Message[], object][] = [
    ["delivered", { on: "task.moved" }, [done], { delivered: 1 }],
    ["delivered in two steps", { on: "task.moved", steps: 2 }, [done, done], { delivered: 1 }],
    ["delivered after a retry", { on: "task.moved" }, [broke, woken, done], { delivered: 1 }],
    ["failed", { on: "task.moved" }, [rejected], { failed: 1 }],
    ["failed after seven retries", { on: "task.moved" }, broken(15), { failed: 1 }],
    ["superseded", { on: "task.moved", at: "review" }, [rejected], { failed: 1 }],
    ["refused", before, [refuses], { refused: 1 }],
    ["failed with block", { ...before, failure: "block" }, [broke], { failed: 1 }],
    ["out of time", before, [late], { failed: 1 }],
    ["under way", { on: "task.moved" }, [], {}],
    ["repeated at once after a kill", before, [cutBefore], {}],
  ];
  for (const [name, options, messages, wanted] of cases) {
    const arranged = arrange(options);
    for (const message of messages) arranged.stepping.take(message);
    t.same(healthOf(arranged), { ...noHealth, ...wanted }, name);
    t.same(healthOf(arranged, arranged.stepping.now + 25 * HOUR), noHealth, `${name}: a day later`);
    arranged.stepping.take(done);
    t.same(hookRetries.list(arranged.stepping.rows, workspaceId), [], `${name}: nothing waits`);
  }
});

t.test("a firing that waits for its retry counts as waiting until then", async (t) => {
  const arranged = arrange({ on: "task.moved" });
  for (let attempt = 1; attempt < 4; attempt++) {
    const [wake] = arranged.stepping.take(broke).wakes;
    const nextRetryAt = new Date(wake?.dueMs ?? 0).toISOString();
    t.same(healthOf(arranged), { ...noHealth, waiting: 1, nextRetryAt });
    arranged.stepping.now = wake?.dueMs ?? 0;
    arranged.stepping.take(woken);
    t.same(healthOf(arranged), noHealth, "its request is under way");
  }
});

t.test("a firing of a hook that was deleted ends and counts nowhere", async (t) => {
  const arranged = arrange({ on: "task.moved" });
  resources.remove(arranged.stepping.rows, workspaceId, "hook", "hook_1");
  for (const message of [broke, woken, done]) t.ok(arranged.stepping.take(message).taken);
  t.equal(arranged.state(), "delivered");
  t.same(hookHealth.entries(arranged.stepping.rows, workspaceId), []);
});

t.test("a firing ends although the counts of its hook are damaged", async (t) => {
  const arranged = arrange({ on: "task.moved", damaged: hookHealth.name });
  for (const message of [broke, woken, done]) t.ok(arranged.stepping.take(message).taken);
  t.equal(arranged.state(), "delivered");
  t.equal(healthOf(arranged), null, "no count is invented");
});
