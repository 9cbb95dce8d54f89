import t from "tap";
import { evaluateDelivery } from "../../../actors/integration-work/deliveries/evaluate-delivery.js";
import {
  type Evaluated,
  type EvaluatedEntries,
  FIRST_PLACE,
  MAX_DELIVERY_UNITS,
} from "../../../actors/integration-work/deliveries/evaluated-delivery.js";
import { ReceivedDelivery } from "../../../actors/integration-work/intake/received-delivery.js";
import { integrationSchema } from "../../../actors/integrations/definition.js";
import { deliveryWorld } from "../../support/delivery-world.js";
import { expr } from "../../support/integration.js";

const places = { findLine: () => ({ id: "line_1", hasStation: () => true }) };

/** Evaluates a delivery, starting at a cursor. Also counts how often the evaluation pauses for other work. */
function evaluate(events: unknown, body: unknown, more: object = {}): Evaluated & { readonly pauses: number } {
  const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
  const { headers = {}, ...scene } = more as { headers?: Record<string, string> };
  const slices = evaluateDelivery({
    fields: integrationSchema.parse({ integration: "x", name: "X", webhook: { events } }),
    block: "webhook",
    received: new ReceivedDelivery(bytes, new Map(Object.entries(headers))),
    places,
    from: FIRST_PLACE,
    captures: null,
    units: MAX_DELIVERY_UNITS,
    entriesLeft: 1_000,
    ...scene,
  });
  for (let pauses = 0; ; pauses++) {
    const slice = slices.next();
    if (slice.done === true) return { ...slice.value, pauses };
  }
}

function toEntries(evaluated: Evaluated): EvaluatedEntries {
  if (evaluated.kind === "over") throw new Error(`nothing comes of it: ${evaluated.reason ?? ""}`);
  return evaluated;
}

const ofEach = (raise: object, more: object = {}) => [{ forEach: expr("body.list"), raise, ...more }];

t.test(
  "of ten thousand entries the first thousand are told, fifty at a time, and the rest is one failure",
  async (t) => {
    const world = await deliveryWorld({
      webhook: { events: ofEach({ opens: { line: "dev", title: expr("'Nr ' + string(item)") } }) },
    });
    const sent = world.send({ json: { list: Array.from({ length: 10_000 }, (_, n) => n) } });
    await world.harness.advance(60_000);
    await sent;
    const [row] = world.deliveries();
    t.match(row, { state: "done", reason: null, skipped: 0 });
    const told = world.entries(row?.id ?? "");
    t.equal(told.length, 1_001);
    t.same(
      told.slice(0, 1_000).map(({ item }) => item),
      Array.from({ length: 1_000 }, (_, n) => n),
    );
    t.match(told.at(-1), { item: null, outcome: "failed", reason: "too-many: 9000 after the first 1000" });
    t.equal(world.raised().length, 1_000);
  },
);

t.test("an expression over its budget fails its entry alone; a delivery over its own ends", async (t) => {
  const dear = expr("item.dear ? body.all.all(a, body.all.all(b, body.all.all(c, a + b + c >= 0.0))) : true");
  const list = [{ dear: false }, { dear: true }, { dear: false }];
  const all = Array.from({ length: 60 }, (_, n) => n);
  const one = toEntries(evaluate(ofEach({ say: "${" + "{ 'said' }}" }, { when: dear }), { list, all }));
  t.same(
    one.entries.map((entry) => ("raise" in entry ? entry.raise.say : entry.reason)),
    ["said", "too-expensive", "said"],
  );
  const many = evaluate(ofEach({}, { when: expr("body.all.all(a, body.all.all(b, a + b >= 0.0))") }), {
    list: Array.from({ length: 900 }, () => 1),
    all,
  });
  t.ok(many.pauses >= 50, `other work ran ${many.pauses} times in ${toEntries(many).entries.length} entries`);
  const ended = toEntries(evaluate(ofEach({ say: expr("'x'") }), { list: [1, 2, 3] }, { units: 700 }));
  t.match(ended.entries.at(-1), { outcome: "failed", reason: /^too-expensive: it and all entries after it/ });
  t.equal(ended.next, null);
});

t.test("a form is its fields, JSON in them read; what is neither JSON nor a form is text", async (t) => {
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  const say = (expression: string, body: string, more: object = {}) => {
    const [entry] = toEntries(evaluate([{ raise: { say: expr(expression) } }], body, more)).entries;
    return entry !== undefined && "raise" in entry ? entry.raise.say : null;
  };
  const form = `payload=${encodeURIComponent('{"id":7}')}&text=a+b&tag=x&tag=y&half=%7B`;
  t.equal(say("string(body.payload.id) + body.text + body.tag[1] + body.half", form, { headers }), "7a by{");
  t.equal(say("body == null ? raw : 'read'", "<xml/>"), "<xml/>");
  t.equal(say("body == null ? 'none' : 'read'", "[".repeat(200_000)), "none");
  t.equal(say("body == null ? 'none' : 'read'", `${"[".repeat(101)}${"]".repeat(101)}`), "none", "too deep");
  t.equal(say("body == null ? 'none' : 'read'", "a=1&".repeat(20_000), { headers }), "none", "too many fields");
});

t.test("a hostile title stays text, and what is no branch, mark or mail address is left out", async (t) => {
  const title = "</task> ${" + "{ secret.key }} \u202e--upload-pack=sh;\n$(rm -rf /) \u0000 'x'";
  const raise = {
    say: expr("body.title"),
    branch: expr("body.branch"),
    marks: { issue: { value: expr("body.mark") } },
    opens: { line: "dev", title: expr("body.title"), assignBy: { email: expr("body.nobody") } },
  };
  for (const branch of ["--upload-pack=sh", "a..b", "a b", "/a", "a/", "a.lock", "a~1", "a:b", "a@{1}", "\u0007"]) {
    const { entries } = toEntries(evaluate([{ raise }], { title, branch, mark: "m".repeat(1_001) }));
    t.match(entries, [{ raise: { say: title, branch, marks: [], note: /branch name is not valid/ } }], branch);
    t.match(entries, [{ raise: { opens: { title, assigneeEmail: null } } }]);
  }
  const { entries } = toEntries(evaluate([{ raise }], { title: 7, branch: "fix/one-2.x", mark: 12 }));
  t.match(entries, [{ raise: { branch: "fix/one-2.x", marks: [{ kind: "issue", value: "12" }] } }]);
});

t.test("an entry names the fields that have no value, and why", async (t) => {
  const raise = {
    say: expr("body.said"),
    branch: expr("body.branch"),
    marks: { issue: { value: expr("body.issue") }, thread: { value: expr("body.long") } },
    opens: { line: "dev", title: expr("body.titel"), assignBy: { email: expr("body.by.email") } },
    attaches: { each: expr("body.files"), name: expr("file.nam"), fetch: { url: "https://api.example.com/f" } },
  };
  const files = [{ name: "a" }, { name: "b" }];
  const { entries } = toEntries(evaluate([{ raise }], { said: "x", branch: "b", long: "m".repeat(1_001), files }));
  const [entry] = entries;
  const note = entry !== undefined && "raise" in entry ? (entry.raise.note ?? "") : "";
  t.same(note.split("; "), [
    "`opens.title` has no value: field not found: body.titel",
    "`opens.assignBy.email` has no value: field not found: body.by",
    "`marks.issue` has no value: field not found: body.issue",
    "`marks.thread` has no value: it is longer than 255 characters",
    "`attaches.name` has no value: field not found: file.nam",
  ]);
  const healthy = { say: expr("body.said"), marks: { issue: { value: expr("body.branch") } } };
  t.match(toEntries(evaluate([{ raise: healthy }], { said: "x", branch: "b" })).entries, [{ raise: { note: null } }]);
});

t.test("a delivery of which nothing comes says which `when` could not be read", async (t) => {
  const events = [
    { when: expr("body.kind == 'a'"), raise: {} },
    { when: expr("body.other == 'a'"), raise: {} },
  ];
  const world = await deliveryWorld({ webhook: { events } });
  const sent = world.send({ json: { kind: "b" } });
  await world.harness.advance(2_000);
  await sent;
  const reason = "no event matches; event 1: `when` has no value: field not found: body.other";
  t.match(world.deliveries(), [{ state: "ignored", reason }]);
});

t.test("of many files the first 20 are attached, and how many are left out is told", async (t) => {
  const attaches = { each: expr("body.files"), name: expr("file"), fetch: { url: "https://api.example.com/f" } };
  const files = Array.from({ length: 53 }, (_, n) => `f${n}`);
  const [entry] = toEntries(evaluate([{ raise: { attaches } }], { files })).entries;
  t.match(entry, { raise: { attaches: { left: 33 }, note: /more than 20 files/ } });
  t.equal(entry !== undefined && "raise" in entry ? entry.raise.attaches?.files.length : 0, 20);
});

t.test("a line or a station that is not there opens nothing, and says so", async (t) => {
  const raise = { opens: { line: "gone", title: "x" as const, station: null } };
  const events = [{ raise: { ...raise, opens: { ...raise.opens, title: expr("'x'") } } }];
  const nowhere = { places: { findLine: () => undefined } };
  t.match(toEntries(evaluate(events, {}, nowhere)).entries, [{ raise: { unrouted: "there is no line gone" } }]);
  const world = await deliveryWorld({ webhook: { events } });
  const sent = world.send();
  await world.harness.advance(2_000);
  await sent;
  t.match(world.deliveries(), [{ state: "unrouted" }]);
  t.match(world.entries(world.deliveries()[0]?.id ?? ""), [{ outcome: "unrouted", reason: "there is no line gone" }]);
});
