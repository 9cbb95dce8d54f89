import t from "tap";
import { MAX_RUNS, STORED_MS } from "../../../../actors/integration-work/actions/action-run.js";
import { actionRunActor } from "../../../../actors/integration-work/actions/action-run.machine.js";
import { actionRunRetention, actionRuns } from "../../../../actors/integration-work/actions/action-run.table.js";
import { actionRunView } from "../../../../actors/integration-work/actions/action-run.view.js";
import type {
  IntegrationRequestInput,
  IntegrationRequestResult,
} from "../../../../actors/integrations/requests/integration-request.js";
import { SliceBudget } from "../../../../actors/tables/slice-budget.js";
import { tasks } from "../../../../actors/tasks/task.table.js";
import { address } from "../../../../runtime/cells/address.js";
import type { Message } from "../../../../runtime/turns/turn.js";
import { expr } from "../../../support/integration.js";
import {
  INTEGRATION,
  integrationRows,
  requesting,
  TEAM,
  WORKSPACE,
  writeIntegration,
} from "../../../support/integration-rows.js";
import { stepByHand, type TurnTaken, withTurn } from "../../../support/turn.js";

const binding = {
  event: "task.opened",
  action: "tell",
  to: { channel: expr("task.marks.channel") },
  mark: { thread: { value: expr("capture.ts") } },
};
const definition = {
  actions: {
    tell: {
      request: {
        url: "https://api.example.com/chat",
        body: { to: expr("target.channel"), ask: expr("ask") },
        capture: { ts: expr("response.ts") },
      },
    },
  },
  on: [binding, { ...binding, event: "task.asked", to: { channel: expr("'C9'") } }],
};
const task = {
  id: "task_1",
  title: "T",
  url: "",
  line: "dev",
  station: "Work",
  stationKey: "work",
  marks: { channel: "C1" },
  repositories: [],
  pullRequest: null,
};
const bound = (more: object = {}) =>
  ({
    type: "action.bound",
    integrationId: INTEGRATION,
    index: 0,
    event: "task.opened",
    task,
    ask: null,
    ...more,
  }) as Message;
const due = { type: "action.due", integrationId: INTEGRATION, teamId: TEAM, action: "tell" } as Message;

const result = (more: Partial<IntegrationRequestResult> = {}): IntegrationRequestResult => ({
  at: "2026-01-01T00:00:00.000Z",
  tookMs: 5,
  method: "POST",
  origin: "https://api.example.com",
  status: 200,
  success: true,
  response: '"ok"',
  captures: "{}",
  code: null,
  reason: null,
  retryAfterMs: null,
  ...more,
});
const failed = (code: NonNullable<IntegrationRequestResult["code"]>, more: Partial<IntegrationRequestResult> = {}) =>
  result({ success: false, status: null, response: null, code, reason: `it was ${code}`, ...more });
const ended = (id: number, output: IntegrationRequestResult) =>
  ({ type: "effect.ended", effect: "integration-request", id: String(id), result: { ok: true, output } }) as Message;
const woken = { type: "woken", name: "retry", dueMs: 0 } as Message;

/** Returns an action run to step by hand, and its rows, which contain the integration. */
function open(rows = integrationRows(definition), id = "act_1") {
  const actor = stepByHand(actionRunActor, address(WORKSPACE, "action-run", id), { rows });
  return { actor, rows, row: (of = id) => actionRuns.get(rows, WORKSPACE, INTEGRATION, of) };
}

const notes = ({ sent }: TurnTaken) =>
  sent.filter(({ message }) => message.type === "note").map(({ message }) => message);
const toInput = ({ started }: TurnTaken) => started[0]?.input as IntegrationRequestInput;

t.test("a binding's action is asked for with what it is about, and its marks go to the team's", async (t) => {
  const { actor, row } = open();
  const input = toInput(actor.take(bound()));
  t.match(input, {
    block: { kind: "action", name: "tell" },
    after: { kind: "binding", index: 0 },
    again: "never",
    messageId: "msg_1",
  });
  t.same(JSON.parse(input.values), {
    task: { line: "dev", station: "Work", stationKey: "work", marks: { channel: "C1" } },
    ask: { body: "", link: null, station: "Work" },
    target: { channel: "C1" },
  });
  const taken = actor.take(ended(1, result({ marks: { thread: "77" } })));
  t.ok(taken.stopped);
  t.match(taken.sent, [
    {
      to: { kind: "team-marks" },
      message: { type: "marks.set", taskId: "task_1", marks: [{ kind: "thread", value: "77" }] },
    },
  ]);
  t.match(row(), {
    state: "done",
    attempts: [{ n: 1, status: 200, body: '"ok"', code: null }],
    binding: { taskId: "task_1" },
  });
  t.match(actor.take(bound()), { started: { length: 0 }, stopped: true }, "the same event begins nothing twice");
});

t.test("an attempt that succeeded says what of its answer has no value", async (t) => {
  const { actor, row } = open();
  actor.take(bound());
  const unread = "`mark.thread` has no value: field not found: response.id";
  actor.take(ended(1, result({ marks: {}, unread })));
  t.match(row(), { state: "done", attempts: [{ code: null, reason: unread }] });
});

t.test("a binding is not for a task where one of its `to` reads as nothing: nothing is kept", async (t) => {
  for (const marks of [{}, { channel: "" }]) {
    const { actor, row } = open();
    t.match(actor.take(bound({ task: { ...task, marks } })), {
      taken: true,
      started: { length: 0 },
      stopped: true,
      sent: { length: 0 },
    });
    t.equal(row(), undefined);
  }
  const { actor, rows } = open();
  writeIntegration(rows, { actions: definition.actions });
  t.match(actor.take(bound()), { started: { length: 0 }, stopped: true }, "nor where the definition no longer has it");
});

t.test("a binding that is sent to a route's channel alone is not for a task that none led to", async (t) => {
  const states = (url: string, { to = {}, channels = {} }: { to?: object; channels?: Record<string, string> } = {}) => {
    const rows = integrationRows({ actions: { tell: { request: { url } } }, on: [{ ...binding, to }] });
    const row = { id: "task_1", teamId: TEAM, lineId: "line_1", state: "queued", channels };
    rows.put(tasks.key(WORKSPACE, "task_1"), row);
    const { actor, row: run } = open(rows);
    t.match(actor.take(bound()).sent, { length: 0 });
    return run()?.state;
  };
  const needing = `https://api.example.com/${expr("target.channel")}`;
  t.equal(states(needing), undefined);
  t.equal(states(needing, { channels: { int_other: "C1" } }), undefined, "another integration's is none");
  t.equal(states(needing, { channels: { [INTEGRATION]: "C1" } }), "attempting");
  t.equal(states(needing, { to: { thread: expr("'7'") } }), "attempting", "its `to` says whom it is for");
  const choosing = `https://api.example.com/${expr("has(target.channel) ? target.channel : 'C9'")}`;
  t.equal(states(choosing), "attempting", "it goes elsewhere by itself");
});

t.test("a question's address is whole in the request, and ends the text of an approval", async (t) => {
  const rows = integrationRows(definition);
  const { actor } = open(rows);
  const input = toInput(
    actor.take(bound({ index: 1, event: "task.asked", ask: { body: "May it?", isApproval: true } })),
  );
  const { run, sent } = requesting(rows);
  await run(input);
  const link = "https://signalbox.example/api/tasks/task_1";
  t.same(JSON.parse(sent[0]?.body ?? "").ask, { body: `May it?\n\n${link}`, link, station: "Work" });
  t.equal(sent[0]?.headers["service-message-id"], "msg_1");
});

t.test("what may pass is tried 8 times with growing waits, and then is one line on the task", async (t) => {
  const { actor, row } = open();
  actor.take(bound());
  const waits: number[] = [];
  for (let attempt = 1; attempt < 8; attempt++) {
    const { wakes, sent } = actor.take(ended(attempt, failed("server-error", { status: 503 })));
    t.same(sent, []);
    t.equal(row()?.state, "waiting");
    waits.push((wakes[0]?.dueMs ?? 0) - actor.now);
    actor.now = wakes[0]?.dueMs ?? 0;
    const again = toInput(actor.take(woken));
    t.equal(again.messageId, "msg_1", "the same message in each attempt");
  }
  t.same(
    waits,
    [2, 4, 8, 16, 32, 64, 128].map((seconds) => seconds * 1_000),
  );
  const last = actor.take(ended(8, failed("server-error", { status: 503 })));
  t.match(notes(last), [
    { from: "integration tracker", text: /^The action tell failed \(server-error\): .* tried 8 times/ },
  ]);
  t.match(row(), { state: "failed", attempts: { length: 8 } });
});

t.test("the same failure of a binding is one line on the task, another one is a line of its own", async (t) => {
  const toKey = (index: number, code: "rejected" | "not-allowed") => {
    const { actor } = open();
    actor.take(bound({ index }));
    const [note] = notes(actor.take(ended(1, failed(code))));
    return note !== undefined && "key" in note ? note.key : null;
  };
  t.type(toKey(0, "rejected"), "string");
  t.equal(toKey(0, "rejected"), toKey(0, "rejected"), "a task takes a key once");
  t.not(toKey(0, "rejected"), toKey(0, "not-allowed"));
});

t.test("a host that asks for more time gets it; what cannot pass is tried once", async (t) => {
  const { actor } = open();
  actor.take(bound());
  const { wakes } = actor.take(ended(1, failed("throttled", { retryAfterMs: 60_000 })));
  t.equal(wakes[0]?.dueMs, actor.now + 60_000);
  for (const code of ["rejected", "unwritable", "not-allowed", "broken", "unsuccessful", "not-connected"] as const) {
    const one = open();
    one.actor.take(bound());
    const taken = one.actor.take(ended(1, failed(code)));
    t.equal(one.row()?.state, "failed", code);
    t.match(notes(taken), [{ text: `The action tell failed (${code}): it was ${code}.` }]);
  }
  const renewing = open();
  renewing.actor.take(bound());
  renewing.actor.take(ended(1, failed("not-connected", { retryAfterMs: 30_000 })));
  t.equal(renewing.row()?.state, "waiting", "access that is being renewed is waited for");
});

t.test("a binding that a kill cut short waits and is done again; a schedule's run is not", async (t) => {
  const { actor, row } = open();
  actor.take(bound());
  const { started, wakes } = actor.take(ended(1, failed("interrupted")));
  t.match([started.length, wakes], [0, [{ dueMs: actor.now + 2_000 }]]);
  t.match(row(), { state: "waiting", attempts: [{ n: 1, code: "interrupted" }] });
  const scheduled = open();
  t.match(toInput(scheduled.actor.take(due)), { again: "after-a-crash", after: null, values: "{}" });
  const taken = scheduled.actor.take(ended(1, failed("interrupted")));
  t.match(taken, {
    started: { length: 0 },
    sent: [{ to: { kind: "schedule", id: `${INTEGRATION}:tell` }, message: { type: "action.over", runId: "act_1" } }],
  });
  t.match(scheduled.row(), { state: "failed", attempts: [{ code: "interrupted" }] });
});

t.test("a run is done again by hand with what it saw, once for a key, and not while it goes on", async (t) => {
  const rows = integrationRows(definition);
  const first = open(rows);
  const idempotency = { scope: "s", key: "k", digest: "d" };
  const resend = { type: "action.resend", integrationId: INTEGRATION, runId: "act_1", idempotency } as Message;
  t.same(open(rows, "act_0").actor.take(resend).answer, { refused: "not-found" });
  first.actor.take(bound());
  t.match(open(rows, "act_0").actor.take(resend).answer, { refused: "conflict" });
  first.actor.take(ended(1, failed("rejected")));
  const second = open(rows, "act_2");
  const taken = second.actor.take(resend);
  t.same(taken.answer, { id: "act_2", replayed: false });
  t.match(toInput(taken), { messageId: "msg_2", after: { kind: "binding", index: 0 } });
  t.same(JSON.parse(toInput(taken).values).target, { channel: "C1" });
  t.match([first.row(), second.row()], [{ resentAs: "act_2" }, { resends: "act_1", state: "attempting" }]);
  t.same(open(rows, "act_3").actor.take(resend).answer, { id: "act_2", replayed: true });
  t.equal(actionRuns.list(rows, WORKSPACE, [INTEGRATION]).length, 2);
});

t.test("an answer is kept to its first 4 KiB, and only that of the last attempt", async (t) => {
  const { actor, row } = open();
  actor.take(bound());
  actor.take(ended(1, failed("server-error", { response: '"first"' })));
  actor.take(woken);
  actor.take(ended(2, result({ response: JSON.stringify("é".repeat(5_000)) })));
  const stored = row();
  if (stored === undefined) throw new Error("there is no row");
  const [one, two] = stored.attempts;
  t.equal(one?.body, "");
  t.same(
    actionRunView(stored).attempts.map(({ body }) => body),
    [null, two?.body],
  );
  t.ok(Buffer.byteLength(two?.body ?? "") <= 4_096);
  t.notMatch(two?.body, /\uFFFD/);
});

t.test("runs are bounded by number and by age", async (t) => {
  const { rows, actor } = open();
  actor.take(bound());
  actor.take(ended(1, result()));
  withTurn(
    address(WORKSPACE, "tester", "1"),
    (turn) => {
      // Simulates the maximum number of stored runs.
      turn.put([WORKSPACE, "row", "action-run-count", INTEGRATION], MAX_RUNS);
    },
    { rows },
  );
  open(rows, "act_2").actor.take(bound());
  t.same(
    actionRuns.list(rows, WORKSPACE, [INTEGRATION]).map(({ id }) => id),
    ["act_2"],
    "the oldest goes",
  );
  const sweep = (now: number) =>
    withTurn(
      address(WORKSPACE, "sweeper", "1"),
      (turn) => {
        const slice = { cutoffMs: 0, from: null, budget: new SliceBudget({ rows: 100, bytes: 1e6 }) };
        actionRunRetention.sweep(turn, slice);
      },
      { rows, now },
    );
  open(rows, "act_3").actor.take(bound());
  const third = open(rows, "act_4");
  third.actor.take(bound());
  third.actor.take(ended(1, result()));
  sweep(third.actor.now + STORED_MS - 1);
  t.ok(third.row());
  sweep(third.actor.now + STORED_MS + 1);
  t.same(
    actionRuns.list(rows, WORKSPACE, [INTEGRATION]).map(({ id }) => id),
    ["act_2", "act_3"],
    "what goes on stays",
  );
});
