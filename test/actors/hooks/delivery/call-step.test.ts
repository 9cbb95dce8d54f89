import t from "tap";
import type { WorkEvent } from "../../../../actors/events/catalogue.js";
import { type DeliveryInput, deliveryEffect } from "../../../../actors/hooks/delivery/delivery.effects.js";
import type { DeliveryResult } from "../../../../actors/hooks/delivery/delivery-result.js";
import { isRetried } from "../../../../actors/hooks/delivery/retry-policy.js";
import { type HookFields, hookSchema } from "../../../../actors/hooks/hook.js";
import { callErrors } from "../../../../actors/hooks/hook.kind.js";
import { hookWarnings } from "../../../../actors/hooks/unsupported-steps.js";
import { address } from "../../../../runtime/cells/address.js";
import { RunAbort } from "../../../../runtime/effects/run-signal.js";
import { expr } from "../../../support/integration.js";
import {
  type HostAnswer,
  hostThat,
  integrationRows,
  linkAccount,
  put,
  sealer,
  TEAM,
  WORKSPACE,
  writeIntegration,
} from "../../../support/integration-rows.js";
import { ManualClock } from "../../../support/manual-clock.js";

const url = "https://api.example.com/items";
const input = (more: object = {}) => ({ type: "string", ...more });
const definition = (more: object = {}) => ({
  actions: {
    act: { request: { url, body: { text: expr("inputs.text"), count: expr("inputs.count"), on: expr("task.line") } } },
  },
  tools: {
    act: {
      action: "act",
      inputs: { text: input({ required: true }), count: input({ type: "number", default: 3 }) },
      output: expr("response.made"),
      ...more,
    },
  },
});
const hook = (more: object = {}): HookFields =>
  hookSchema.parse({
    key: "tell",
    on: "task.opened",
    steps: [{ name: "one", call: "tracker.act", with: { text: `${expr("task.title")}!` } }],
    ...more,
  });
const work = {
  on: "task.opened",
  occurrence: "occ_1",
  workspaceId: WORKSPACE,
  teamId: TEAM,
  lineId: "line_1",
  stationId: "sta_1",
  task: {
    id: "task_1",
    title: "Mend",
    url: "",
    line: "dev",
    station: "Work",
    stationKey: "work",
    marks: {},
    repositories: [],
    pullRequest: null,
  },
  run: null,
  event: { at: "2026-01-01T00:00:00.000Z" },
  causes: [],
} as WorkEvent;

function calling(
  fields: HookFields,
  { rows = integrationRows(definition()), answer = (): HostAnswer => ({ body: { made: 7 } }) } = {},
) {
  put(rows, "hook", "hook_1", { fields: { ...fields }, teamId: TEAM, address: "core/tell" });
  const { sent, send } = hostThat(answer);
  const unused = () => Promise.reject(new Error("no step makes a request of its own"));
  const effect = deliveryEffect({
    reading: () => rows,
    outbound: { send, post: unused },
    network: { post: unused },
    clock: new ManualClock(),
    sealer,
    tokens: null,
    rotates: false,
    baseUrl: () => "https://signalbox.example",
    newId: () => "id",
  });
  const run = async (more: Partial<DeliveryInput> = {}, mayHaveBegun = false): Promise<DeliveryResult> => {
    const context = { id: "1", owner: address(WORKSPACE, "hook-occurrence", "occ_1-hook_1"), memo: work, mayHaveBegun };
    const given: DeliveryInput = { teamId: TEAM, hookId: "hook_1", step: 0, timeoutMs: 10_000, ...more };
    return (await effect.prepare(given, context).begin(new RunAbort())) as DeliveryResult;
  };
  return { run, sent, rows };
}

t.test("a step calls a tool with its inputs, and its output is the tool's", async (t) => {
  const { run, sent } = calling(hook());
  t.match(await run(), { step: "one", status: 200, body: "7", code: null, reason: null });
  t.same(JSON.parse(sent[0]?.body ?? ""), { text: "Mend!", count: 3, on: "dev" });
  t.equal(sent[0]?.headers["service-message-id"], "msg_1-hook_1_one");
  await run();
  t.equal(sent[1]?.headers["service-message-id"], "msg_1-hook_1_one", "the same for every attempt");
});

t.test("failures of the tool are tool-failed; what may never be called is not-allowed", async (t) => {
  const findCode = async (answer: HostAnswer) => (await calling(hook(), { answer: () => answer }).run()).code;
  t.equal(await findCode({ status: 404 }), "tool-failed");
  t.equal(await findCode({ status: 503 }), "tool-failed");
  t.equal(await findCode(Object.assign(new Error("gone"), { code: "ECONNREFUSED" })), "tool-failed");
  t.equal(await findCode(new DOMException("late", "TimeoutError")), "timeout");

  const oauth2 = { authorizeUrl: url, tokenUrl: url, clientId: "c" };
  const never: readonly [object, string][] = [
    [definition({ approval: true }), "not-allowed"],
    [{ ...definition(), connection: { holder: "requester", oauth2 } }, "not-allowed"],
    [{ actions: definition().actions }, "not-allowed"],
    [{ ...definition(), hosts: ["other.example.com"] }, "not-allowed"],
    [{ ...definition(), connection: { oauth2 } }, "tool-failed"],
  ];
  for (const [fields, code] of never) {
    const { run, sent } = calling(hook(), { rows: integrationRows({ ...fields }) });
    t.equal((await run()).code, code, JSON.stringify(fields));
    t.equal(sent.length, 0);
  }
  const rows = integrationRows({ ...definition(), connection: { oauth2 } });
  linkAccount(rows, "team", { access: "team-token", tokenUrl: url });
  const { run, sent } = calling(hook(), { rows });
  t.equal((await run()).code, null, "a hook acts with the team's connection");
  t.equal(sent[0]?.headers.authorization, "Bearer team-token");
});

t.test(
  "inputs that cannot be evaluated, or do not fit when the event is there, are unwritable: nothing is sent, never again",
  async (t) => {
    const withInputs = (given: object) => hook({ steps: [{ name: "one", call: "tracker.act", with: given }] });
    const wrong: readonly [object, string, RegExp][] = [
      [{ text: "a", count: expr("task.title") }, "unwritable", /input count must be a number/],
      [{ text: expr("task.nothing") }, "unwritable", /^with: /],
      [{ text: "a", other: "b" }, "unwritable", /input other is not an input/],
      [{ count: 3 }, "unwritable", /input text must be given/],
    ];
    for (const [given, code, reason] of wrong) {
      const { run, sent } = calling(withInputs(given));
      t.match(await run(), { code, reason });
      t.notOk(isRetried("unwritable"));
      t.equal(sent.length, 0);
    }
  },
);

t.test("a call whose request cannot be evaluated from its inputs is unwritable", async (t) => {
  const fields = definition();
  const request = { ...fields.actions.act.request, url: `${url}/${expr("inputs.nothing")}` };
  const rows = integrationRows({ ...fields, actions: { ...fields.actions, act: { ...fields.actions.act, request } } });
  const { run, sent } = calling(hook(), { rows });
  t.match(await run(), { code: "unwritable", reason: /^url/ });
  t.equal(sent.length, 0);
});

t.test("a call that a kill cut short: again on an after event, made once on a before event", async (t) => {
  const { run, sent } = calling(hook());
  const cut = { code: "errored", reason: /killed/, isAskedAgain: undefined } as const;
  t.match(await run({}, true), cut);
  t.match(await run({ deadlineMs: Number.MAX_SAFE_INTEGER }, true), cut);
  t.equal(sent.length, 0);
});

t.test("an output is kept to its first 16 KiB", async (t) => {
  const { run } = calling(hook(), { answer: () => ({ body: { made: "é".repeat(20_000) } }) });
  const { body, code } = await run();
  t.equal(code, null);
  t.ok(Buffer.byteLength(body) <= 16 * 1024);
});

t.test("literal inputs are checked when the hook is written; expressions are not known yet", async (t) => {
  const rows = integrationRows(definition());
  const listErrors = (given: object | null) =>
    callErrors(hook({ steps: [{ name: "one", call: "tracker.act", with: given }] }), {
      reading: rows,
      workspaceId: WORKSPACE,
      teamKey: "core",
    });
  t.same(listErrors({ text: "a" }), []);
  t.same(listErrors({ text: expr("task.title"), count: expr("event.at") }), []);
  t.match(listErrors(null), [{ path: "steps[0].with.text", message: "must be given" }]);
  t.match(listErrors({ text: 7 }), [{ path: "steps[0].with.text", message: "must be text" }]);
  t.match(listErrors({ text: "a", count: "b" }), [{ path: "steps[0].with.count" }]);
  t.match(listErrors({ text: "a", "no such": "b" }), [
    { path: 'steps[0].with["no such"]', message: "is not an input of the tool" },
  ]);
});

t.test("warnings tell of tools that hooks may not call, and of no others", async (t) => {
  const rows = integrationRows(definition());
  const row = { workspaceId: WORKSPACE, teamId: TEAM };
  t.same(hookWarnings(hook(), rows, row), []);
  writeIntegration(rows, definition({ approval: true }));
  t.match(hookWarnings(hook(), rows, row), [{ path: "steps[0].call", message: /not-allowed: .* needs approval/ }]);
});

t.test("before an event a tool's refusal is read from its whole output", async (t) => {
  const before = { deadlineMs: new ManualClock().now() + 60_000 };
  const refuse = "not today";
  const refusals: readonly HostAnswer[] = [
    { body: { made: { refuse } } },
    { body: { made: { why: "x".repeat(20_000), refuse } } },
    { body: { made: { why: "x".repeat(200_000), refuse } } },
    { body: Buffer.from(`\ufeff${JSON.stringify({ made: { refuse } })}`, "utf16le") },
  ];
  for (const [index, answer] of refusals.entries()) {
    const { run } = calling(hook(), { answer: () => answer });
    const result = await run(before);
    t.match(result, { code: null, refuses: refuse }, String(index));
    t.ok(Buffer.byteLength(result.body) <= 16 * 1024);
    t.notOk("refuses" in (await run()), "after an event nothing is refused");
  }
  const { run } = calling(hook(), { answer: () => ({ body: { made: 7 } }) });
  t.notOk("refuses" in (await run(before)));
});

t.test("before an event a call fails where its tool's answer could not be read whole", async (t) => {
  const unread: readonly [HostAnswer, RegExp][] = [
    [{ body: { made: "x".repeat(512 * 1024) } }, /^its answer cannot be read: it is larger than 0\.5 MiB$/],
    [{ body: Buffer.from('{"made": "n\xe3o', "latin1") }, /^its answer cannot be read: it is not valid UTF-8$/],
    [{ body: `{"made":{"refuse":"no","x":${"[".repeat(300)}${"]".repeat(300)}}}` }, /its JSON is nested too deeply/],
    [{ body: `{"made":{"refuse":"no","x":[${"0,".repeat(200_001)}0]}}` }, /has too many values/],
    [{ body: `{"made":{"refuse":"no","x":${"7".repeat(1_200)}}}` }, /has a number with too many digits$/],
    [
      { body: '{"made":', unread: { kind: "broken", reason: "the connection broke before its end" } },
      /the connection broke before its end$/,
    ],
  ];
  for (const [answer, reason] of unread) {
    const { run } = calling(hook(), { answer: () => answer });
    t.match(await run({ deadlineMs: new ManualClock().now() + 60_000 }), { status: 200, code: "tool-failed", reason });
    t.match(await run(), { status: 200, code: null }, "after an event a call that was answered was made");
  }
});
