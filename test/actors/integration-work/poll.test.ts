import t from "tap";
import { deliveries } from "../../../actors/integration-work/deliveries/delivery.table.js";
import { findBody } from "../../../actors/integration-work/deliveries/delivery-body.table.js";
import { pollActor } from "../../../actors/integration-work/polls/poll.machine.js";
import { failureWaitMs, firstWaitMs } from "../../../actors/integration-work/polls/poll.transitions.js";
import { pollSubscriber } from "../../../actors/integration-work/polls/poll-subscriber.js";
import type { IntegrationFields } from "../../../actors/integrations/definition.js";
import { integrationWarnings } from "../../../actors/integrations/integration-warnings.js";
import { polls } from "../../../actors/integrations/poll.table.js";
import type { IntegrationRequestResult } from "../../../actors/integrations/requests/integration-request.js";
import { findResource, resources } from "../../../actors/resources/resource.table.js";
import { putMember } from "../../../actors/workspaces/member.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { expr } from "../../support/integration.js";
import { INTEGRATION, integrationRows, WORKSPACE, writeIntegration } from "../../support/integration-rows.js";
import { stepByHand, type TurnTaken, withTurn } from "../../support/turn.js";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const polled = (everyMinutes = 5, more: object = {}) => ({
  poll: {
    everyMinutes,
    request: { url: "https://api.example.com/items" },
    cursor: expr("body.next"),
    events: [{ raise: { say: expr("body.text") } }],
  },
  ...more,
});
const check: Message = { type: "poll.check" };
const woken = { type: "woken", name: "due", dueMs: 0 } as Message;
const now: Message = { type: "poll.now" };
const cursorTo = (cursor: string) => ({ type: "poll.cursor", cursor }) as Message;
const ok = {
  success: true,
  status: 200,
  body: '{"next":"7"}',
  cursor: "7",
  code: null,
  reason: null,
  retryAfterMs: null,
};
const down = {
  success: false,
  status: 503,
  code: "server-error",
  reason: "it responded 503",
  retryAfterMs: null,
} as const;

function open(fields: Readonly<Record<string, unknown>> = polled()) {
  const rows = integrationRows(fields);
  const actor = stepByHand(pollActor, address(WORKSPACE, "poll", INTEGRATION), { rows });
  const row = () => polls.get(rows, WORKSPACE, INTEGRATION);
  const asked = ({ started }: TurnTaken) => started.find(({ name }) => name === "integration-request");
  const begin = () => {
    actor.take(check);
    return asked(actor.take(woken))?.id;
  };
  const answer = (id: unknown, output: Partial<IntegrationRequestResult>) =>
    actor.take({ type: "effect.ended", effect: "integration-request", id, result: { ok: true, output } } as Message);
  return { rows, actor, row, asked, begin, answer, taken: () => deliveries.list(rows, WORKSPACE, [INTEGRATION]) };
}

t.test("it asks within a minute of its creation, from an empty cursor", async (t) => {
  const { actor, row, asked } = open();
  const [first] = actor.take(check).wakes;
  t.ok(first !== undefined && first.dueMs >= actor.now && first.dueMs < actor.now + MINUTE_MS);
  t.match(row(), { state: "resting", cursor: "", nextAt: new Date(first?.dueMs ?? 0).toISOString(), failures: 0 });
  t.match(asked(actor.take(woken))?.input, {
    integrationId: INTEGRATION,
    block: { kind: "poll" },
    values: '{"cursor":""}',
    actsAs: { kind: "team" },
    again: "after-a-crash",
    lane: "background",
  });
  t.match(row(), { state: "asking", nextAt: null });
});

t.test("an answer is a delivery: it, the cursor and the next time are put in one turn", async (t) => {
  const { rows, actor, row, begin, answer, taken } = open();
  const id = begin();
  actor.now += 3_000;
  const { wakes, sent } = answer(id, ok);
  t.same(wakes, [{ name: "due", dueMs: actor.now + 5 * MINUTE_MS }], "counts from its end");
  t.match(row(), { state: "resting", cursor: "7", lastStatus: 200, failures: 0, problem: null });
  const [delivery] = taken();
  t.match(delivery, { source: "poll", block: "poll", cursor: "", key: null, state: "accepted" });
  const body = delivery && findBody(rows, WORKSPACE, delivery);
  t.equal(Buffer.from(body ?? []).toString(), ok.body);
  t.match(sent, [{ to: { kind: "delivery-intake", id: INTEGRATION }, message: { id: delivery?.id } }]);
  t.match(actor.take(woken).started[0]?.input, { values: '{"cursor":"7"}' });
});

t.test("a cursor that reads as nothing stays as it is", async (t) => {
  const { row, begin, answer, actor, taken } = open();
  answer(begin(), ok);
  actor.take(woken);
  const cursorProblem = "field not found: body.next";
  answer(actor.context<{ askId: string }>().askId, { ...ok, cursor: null, cursorProblem });
  t.match(row(), { cursor: "7", cursorProblem, problem: null }, "why is said");
  t.equal(taken().length, 2);
  actor.take(cursorTo("8"));
  t.match(row(), { cursor: "8", cursorProblem: null });
});

t.test("a failure leaves the cursor, is asked again later and later, and never pauses it", async (t) => {
  const { actor, row, begin, answer, taken } = open();
  let id: unknown = begin();
  for (let failures = 1; failures <= 12; failures++) {
    const [wake] = answer(id, down).wakes;
    const usual = Math.min(DAY_MS, 5 * MINUTE_MS * 2 ** failures);
    const waitMs = (wake?.dueMs ?? 0) - actor.now;
    t.ok(waitMs >= usual * 0.9 && waitMs <= Math.min(DAY_MS, usual * 1.1), `${failures}: ${waitMs}`);
    t.match(row(), { state: "resting", cursor: "", failures, lastStatus: 503, problem: { code: "server-error" } });
    actor.take(woken);
    id = actor.context<{ askId: string }>().askId;
  }
  t.equal(taken().length, 0);
  answer(id, ok);
  t.match(row(), { failures: 0, problem: null });
});

t.test("what crashed, was killed or answered without a body is a failure", async (t) => {
  const { actor, row, begin, answer } = open();
  answer(begin(), { success: false, code: "interrupted", reason: "killed" });
  t.match(row(), { failures: 1, problem: { code: "interrupted" } });
  actor.take(woken);
  const { askId: id } = actor.context<{ askId: string }>();
  const result = { ok: false, error: "a bug" };
  actor.take({ type: "effect.ended", effect: "integration-request", id, result } as Message);
  t.match(row(), { failures: 2, problem: { code: "errored" } });
});

t.test("from the third failure on the integration warns, and its owners get one mail", async (t) => {
  const { rows, actor, begin, answer } = open();
  for (const [userId, role] of [
    ["usr_1", "owner"],
    ["usr_2", "member"],
    ["usr_3", "owner"],
  ] as const) {
    putMember(rows, WORKSPACE, { userId, email: `${userId}@example.com`, role, teams: [], since: "" });
  }
  const warned = () => {
    const row = findResource<IntegrationFields>(rows, WORKSPACE, "integration", INTEGRATION);
    if (row === undefined) throw new Error("no integration");
    const allowList = { entries: [] } as never;
    return integrationWarnings({ ...row.fields, hosts: [] }, allowList, { reading: rows, row }).filter(
      ({ path }) => path === "poll",
    );
  };
  const mails: unknown[] = [];
  let id: unknown = begin();
  for (let failures = 1; failures <= 5; failures++) {
    const taken = answer(id, down);
    mails.push(...taken.started.filter(({ name }) => name === "mail").map(({ input }) => input));
    t.equal(warned().length, failures < 3 ? 0 : 1);
    actor.take(woken);
    id = actor.context<{ askId: string }>().askId;
  }
  t.match(mails, [
    { to: "usr_3@example.com", subject: /The poll of .+ fails/, text: /failed 3 times in a row: it responded 503/ },
    { to: "usr_1@example.com" },
  ]);
  t.match(warned()[0]?.message, /^failed 5 times in a row, and is being retried: it responded 503$/);
  t.equal(
    actor.take({ type: "effect.ended", effect: "mail", id: "mail_1", result: { ok: true } } as Message).taken,
    true,
  );
  answer(id, ok);
  t.same(warned(), []);
});

t.test("without a connection nothing is asked, and it waits as after a failure", async (t) => {
  const oauth2 = { authorizeUrl: "https://a.example.com", tokenUrl: "https://a.example.com/t", clientId: "c" };
  const { actor, row, asked } = open(polled(5, { connection: { oauth2 } }));
  actor.take(check);
  const taken = actor.take(woken);
  t.equal(asked(taken), undefined);
  t.ok((taken.wakes[0]?.dueMs ?? 0) >= actor.now + 9 * MINUTE_MS);
  t.match(row(), { state: "resting", failures: 1, problem: { code: "not-connected" } });
});

t.test("it is polled now by hand: once under a key, and not twice at once", async (t) => {
  const { actor, row, answer, asked } = open();
  actor.take(check);
  const idempotency = { scope: "s", key: "k", digest: "d" };
  const first = actor.take({ ...now, idempotency } as Message);
  t.ok(asked(first));
  t.same(first.cancelledWakes, ["due"]);
  t.match(first.answer, { poll: { state: "asking" }, replayed: false });
  t.equal(asked(actor.take(now)), undefined, "it is being asked");
  answer(actor.context<{ askId: string }>().askId, ok);
  const again = actor.take({ ...now, idempotency } as Message);
  t.match(again, { answer: { replayed: true, poll: { cursor: "7" } }, started: { length: 0 } });
  t.equal(row()?.state, "resting");
  t.match(actor.take({ ...now, idempotency: { ...idempotency, digest: "e" } } as Message).answer, { refused: /./ });
});

t.test("a cursor that is set counts: an answer to the one before is recorded, and leaves it", async (t) => {
  const { row, actor, begin, answer, taken } = open();
  const id = begin();
  t.match(actor.take(cursorTo("100")).answer, { poll: { cursor: "100" } });
  answer(id, ok);
  t.match([row()?.cursor, taken().length], ["100", 1]);
  actor.take(cursorTo(""));
  t.match(actor.take(woken).started[0]?.input, { values: '{"cursor":""}' });
});

t.test(
  "a written definition counts from now on; what failed is asked at once, unless the host asked to wait",
  async (t) => {
    const { actor, rows, begin, answer } = open();
    answer(begin(), ok);
    writeIntegration(rows, polled(60));
    t.same(actor.take(check).wakes, [{ name: "due", dueMs: actor.now + 60 * MINUTE_MS }]);
    actor.take(woken);
    answer(actor.context<{ askId: string }>().askId, down);
    const [soon] = actor.take(check).wakes;
    t.ok((soon?.dueMs ?? 0) < actor.now + MINUTE_MS);
    actor.take(woken);
    answer(actor.context<{ askId: string }>().askId, { ...down, retryAfterMs: 9 * MINUTE_MS });
    t.same(actor.take(check).wakes, [{ name: "due", dueMs: actor.now + 9 * MINUTE_MS }]);
  },
);

t.test("a definition written before the first time leaves it within a minute", async (t) => {
  const { actor, rows, row } = open();
  const [first] = actor.take(check).wakes;
  writeIntegration(rows, polled(600));
  actor.now += 1_000;
  t.same(actor.take(check).wakes, []);
  t.match(row(), { state: "resting", nextAt: new Date(first?.dueMs ?? 0).toISOString() });
});

t.test("with its block it ends, and what it asked; the cursor waits for the next block", async (t) => {
  const { actor, rows, row, begin, answer } = open();
  answer(begin(), ok);
  actor.take(woken);
  const { askId } = actor.context<{ askId: string }>();
  writeIntegration(rows, {});
  t.match(actor.take(check), { stopped: true, cancelledEffects: [askId], cancelledWakes: ["due"] });
  t.match(row(), { state: "off", cursor: "7", nextAt: null });
  t.match(actor.take(now).answer, { refused: "conflict" });
  t.match(actor.take(cursorTo("8")).answer, { refused: "conflict" });
  writeIntegration(rows, polled());
  actor.take(check);
  t.match(row(), { state: "resting", cursor: "7" });
});

t.test("with its integration or its workspace everything of it goes, in each state", async (t) => {
  for (const kind of ["integration", "workspace"]) {
    for (const isAsking of [false, true]) {
      const { actor, rows, row, begin, answer } = open();
      const id = begin();
      if (!isAsking) answer(id, ok);
      resources.remove(rows, WORKSPACE, kind, kind === "workspace" ? WORKSPACE : INTEGRATION);
      const { stopped, cancelledWakes, cancelledEffects } = actor.take(check);
      t.same([stopped, cancelledWakes, cancelledEffects], [true, ["due"], isAsking ? [id] : []]);
      t.equal(row(), undefined);
    }
  }
});

t.test("polls are told of every change of their integration, and of the end of their workspace", async (t) => {
  const { rows, actor } = open();
  type Heard = Parameters<typeof pollSubscriber.handle>[0];
  const told = (fact: object) =>
    withTurn(address(WORKSPACE, "subscriber", "1"), (turn) => pollSubscriber.handle(fact as Heard, turn), { rows })
      .sent;
  const changed = { name: "integration.changed", id: INTEGRATION };
  t.match(told(changed), [{ to: { kind: "poll", id: INTEGRATION }, message: check }]);
  writeIntegration(rows, {});
  t.equal(told(changed).length, 0, "an integration that never had a poll has no actor");
  writeIntegration(rows, polled());
  actor.take(check);
  writeIntegration(rows, {});
  t.equal(told(changed).length, 1);
  t.equal(told({ name: "workspace.closed" }).length, 1);
});

t.test(
  "waits: first within a minute; then doubled, a tenth more or less, as long as the host asks, a day at most",
  async (t) => {
    t.same([0, 0.5, 0.999_999].map(firstWaitMs), [0, 30_000, 59_999]);
    const wait = (failures: number, random: number, retryAfterMs: number | null = null) =>
      failureWaitMs(5 * MINUTE_MS, { failures, random, retryAfterMs }) / MINUTE_MS;
    t.same([wait(1, 0), wait(1, 0.5), wait(3, 0.5)], [9, 10, 40]);
    t.equal(wait(1, 0.5, 90 * MINUTE_MS), 90);
    t.equal(wait(1, 0.5, MINUTE_MS), 10);
    t.same([wait(9, 0.5), wait(1_000, 0.5), wait(1, 0.5, 9 * DAY_MS)], [1_440, 1_440, 1_440]);
  },
);
