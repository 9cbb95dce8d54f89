import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import t from "tap";
import { askModel, modelEffect } from "../../../../actors/outbound/models/model.effects.js";
import { MAX_MODEL_ANSWER_BYTES } from "../../../../actors/outbound/models/model-answer.js";
import { addModelSpent } from "../../../../actors/outbound/models/model-cost.js";
import { address } from "../../../../runtime/cells/address.js";
import { RunAbort } from "../../../../runtime/effects/run-signal.js";
import { askedModel, form, good, key, messages, toSpent } from "../../../support/asked-model.js";

t.test("a question is asked with its form, and answered with a value of that form and its exact cost", async (t) => {
  const { server, ask, logged } = await askedModel(t);
  server.queue.push({ value: good });
  const outcome = await ask();
  t.same(outcome, { state: "answered", value: good, model: "large", spent: toSpent(1) });
  const [asked] = server.asked;
  t.match(asked, { model: "large", temperature: 0, max_tokens: 500, messages });
  t.match(asked?.response_format?.json_schema.schema, {
    type: "object",
    required: ["passes", "reasons"],
    additionalProperties: false,
    properties: { passes: { type: "boolean" }, reasons: { type: "array", maxItems: 3 } },
  });
  t.equal(asked?.headers.authorization, `Bearer ${key}`);
  t.same(logged, []);
});

t.test("the asker's model is asked; one without prices of its own is unpriced", async (t) => {
  const { server, ask } = await askedModel(t, { settings: { key: null } });
  server.queue.push({ value: good }, { value: good });
  t.match(await ask({ model: "small" }), { model: "small", spent: { calls: 1, cost: null, isEstimate: false } });
  t.match(await ask({ model: "" }), { model: "large" });
  t.same(
    server.asked.map(({ model }) => model),
    ["small", "large"],
  );
  t.equal(server.asked[0]?.headers.authorization, undefined);
  const priced = await askedModel(t, {
    settings: { prices: { in: 1, out: 1, currency: "EUR", models: { small: { in: 0, out: 30_000 } } } },
  });
  priced.server.queue.push({ value: good });
  t.match(await priced.ask({ model: "small" }), { spent: { cost: { amount: 3, currency: "EUR" } } });
});

t.test("an answer is read bare, from a code block, or after the model's thoughts", async (t) => {
  const { server, ask } = await askedModel(t);
  const text = JSON.stringify(good);
  server.queue.push({ text: ` ${text}\n` }, { text: `\`\`\`json\n${text}\n\`\`\`` });
  server.queue.push({ text: `<think>{ is it? }</think>Here: ${text}` });
  for (let n = 0; n < 3; n++) t.match(await ask(), { state: "answered", value: good });
  t.equal(server.asked.length, 3);
});

t.test("junk is repaired twice in the same conversation, and every call counts", async (t) => {
  const { server, ask, logged } = await askedModel(t);
  server.queue.push({ text: "I like it." }, { value: { ...good, passes: "yes", score: 9 } }, { value: good });
  t.match(await ask(), { state: "answered", value: good, spent: toSpent(3) });
  const last = server.asked[2]?.messages ?? [];
  t.same(last.slice(0, 2), messages);
  t.same(
    last.map(({ role }) => role),
    ["system", "user", "assistant", "user", "assistant", "user"],
  );
  t.equal(last[2]?.content, "I like it.");
  t.match(last[5]?.content, /Unrecognized key: "score".*expected boolean, received string.*at passes/s);

  server.queue.push({ text: "" }, { text: '{"passes": tr', finish: "length" }, { text: "It is fine." });
  t.same(await ask(), {
    state: "failed",
    code: "unreadable",
    spent: toSpent(3),
    reason: "the model's answers did not have the required form",
  });
  const cut = server.asked[5]?.messages ?? [];
  t.equal(cut[2]?.content, "(no answer)");
  t.match(cut[5]?.content, /cut off/);
  t.equal(server.asked.length, 6, "and there is no fourth call");
  t.match(logged, [["the model's answers cannot be used", { host: new URL(server.url).host }]]);
});

t.test("an answer is read up to a number of bytes", async (t) => {
  const { server, ask } = await askedModel(t);
  const long = { text: JSON.stringify({ ...good, reasons: ["x".repeat(MAX_MODEL_ANSWER_BYTES)] }) };
  server.queue.push(long, { value: good });
  t.match(await ask(), { state: "answered", value: good, spent: { calls: 2, isEstimate: true } });
});

t.test("an answer without its usage counts its estimate", async (t) => {
  const { server, ask } = await askedModel(t);
  server.queue.push({ value: good, usage: null });
  const { spent } = await ask();
  // Texts of 9 and 10 bytes count as 3 and 4 tokens, and each of the two messages adds 8 tokens: 23 input tokens, 500
  // output tokens.
  t.same(spent, toSpent(1, (23 * 2.5 + 500 * 10) / 1e6, true));
});

t.test("a part that a model does not take is left out, and this is remembered of that model", async (t) => {
  const refusal = (message: string) => ({ status: 400, body: JSON.stringify({ error: { message } }) });
  const { server, ask } = await askedModel(t);
  server.queue.push(
    refusal("Unsupported value: 'temperature' does not support 0 with this model."),
    refusal("Invalid schema for response_format 'answer'"),
    refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
    ...[{ value: good }, { value: good }, { value: good }],
  );
  t.match(await ask(), { state: "answered", spent: toSpent(1) }, "a refusal costs nothing");
  const taken = server.asked[3];
  t.match(taken, { max_completion_tokens: 500 });
  t.same(Object.keys(taken ?? {}).sort(), ["headers", "max_completion_tokens", "messages", "model"]);
  t.match(taken?.messages[0]?.content, /JSON schema: \{.*"passes"/, "the form is asked for in words");
  await ask();
  t.equal(server.asked.length, 5, "the next request goes without them at once");
  t.equal(server.asked[4]?.temperature, undefined);
  await ask({ model: "small" });
  t.match(server.asked[5], { model: "small", temperature: 0 }, "another model is asked whole");
});

t.test(
  "a 400 that stays without the parts it names and without the schema is final, and nothing is remembered",
  async (t) => {
    const { server, ask } = await askedModel(t);
    const tooLong = JSON.stringify({
      error: { message: "temperature and prompt are too long", code: "context_length_exceeded" },
    });
    for (let n = 0; n < 3; n++) server.queue.push({ status: 400, body: tooLong });
    server.queue.push({ value: good });
    const reason = "the model answered 400 (context_length_exceeded)";
    t.same(await ask(), { state: "failed", code: "refused", reason, spent: toSpent(0) });
    t.equal(server.asked[2]?.response_format, undefined);
    await ask();
    t.equal(server.asked[3]?.temperature, 0);
    t.ok(server.asked[3]?.response_format);
  },
);

t.test("a busy or broken model is waited for, as long as it asks", async (t) => {
  const { server, ask, clock } = await askedModel(t);
  for (const status of [408, 425, 429, 500, 502, 503, 529]) {
    server.queue.push({ status, headers: { "retry-after": "90" } }, { status });
    const reason = `the model answered ${status}`;
    const retryAtMs = clock.now() + 90_000;
    t.same(await ask(), { state: "waiting", reason, retryAtMs, spent: toSpent(0) });
    t.match(await ask(), { state: "waiting", retryAtMs: null });
  }
});

t.test("other refusals are final: their text is not told, their code is", async (t) => {
  const { server, ask, logged } = await askedModel(t);
  const noKey = ": it rejected the service's MODEL_KEY";
  for (const status of [302, 401, 403, 404, 413, 422]) {
    const body = JSON.stringify({ error: { message: `wrong key ${key}`, code: "invalid_api_key" } });
    const refusal = { status, body, headers: { location: "http://127.0.0.1:1/" } };
    server.queue.push(...([404, 422].includes(status) ? [refusal, refusal] : [refusal]));
    const setting = [401, 403].includes(status) ? noKey : "";
    const reason = `the model answered ${status} (invalid_api_key)${setting}`;
    t.same(await ask(), { state: "failed", code: "refused", reason, spent: toSpent(0) });
  }
  server.queue.push({ status: 401, body: JSON.stringify({ error: key }) });
  t.match(await ask(), { reason: `the model answered 401${noKey}` });
  t.equal(logged.length, 7);
  const plain = await askedModel(t, { settings: { key: "a_key_of_letters" } });
  plain.server.queue.push({ status: 401, body: JSON.stringify({ error: { code: "a_key_of_letters" } }) });
  t.match(await plain.ask(), { reason: `the model answered 401${noKey}` });
});

t.test("without a whole answer the estimate counts, unless the model was never reached", async (t) => {
  const { server, ask } = await askedModel(t);
  for (const fault of ["drop", "half", "rubbish"] as const) {
    server.queue.push(fault);
    t.match(await ask(), { state: "waiting", retryAtMs: null, spent: { calls: 1, isEstimate: true } }, fault);
  }
  const slow = await askedModel(t, { timeoutMs: 1 });
  slow.server.queue.push("hang");
  t.match(await slow.ask(), { state: "waiting", spent: { calls: 1, isEstimate: true } });
  const away = await askedModel(t);
  await away.server.close();
  t.match(await away.ask(), { state: "waiting", reason: /nothing responded/, spent: toSpent(0) });
  const mute = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  t.teardown(() => mute.close());
  await once(mute, "listening");
  const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}/v1`;
  const cut = await askedModel(t, { settings: { url } });
  t.match(await cut.ask(), { reason: "nothing responded (ECONNRESET)", spent: toSpent(0) }, "cut before it was secure");
});

t.test("what a repair could not ask for is waited for, and what was asked before counts", async (t) => {
  const { server, ask } = await askedModel(t);
  server.queue.push({ text: "junk" }, { status: 429 });
  t.match(await ask(), { state: "waiting", spent: toSpent(1) });
});

t.test("a question that a killed process may have asked counts its estimate, and is to be asked again", async (t) => {
  const { server, ask, prepare } = await askedModel(t);
  t.equal(prepare({ mayHaveBegun: true }).place, null, "it takes no place");
  t.same(await ask({ mayHaveBegun: true }), {
    state: "interrupted",
    spent: toSpent(1, (23 * 2.5 + 500 * 10) / 1e6, true),
  });
  t.same(server.asked, []);
});

t.test("a cancelled question is let go of, and logs nothing", async (t) => {
  const { server, ask, logged } = await askedModel(t);
  server.queue.push("hang");
  const signal = new RunAbort();
  const asking = ask({ signal });
  await server.arrived(1);
  signal.abort(new Error("the effect was cancelled"));
  t.match(await asking, { state: "waiting" });
  t.same(logged, []);
});

t.test("without a model a question is answered at once, and takes no place", async (t) => {
  const { input } = askModel(messages, form, { id: "1", model: null, maxTokens: 5 });
  const context = { id: "1", owner: address("ws_1", "replay", "rp_1"), memo: undefined, mayHaveBegun: true };
  const { place, begin } = modelEffect(null).prepare(input, context);
  t.equal(place, null);
  t.match(await begin(new RunAbort()), { state: "failed", code: "not-set-up", spent: { calls: 0, cost: null } });
});

t.test("no question is endless", async (t) => {
  const endless = [{ role: "user", content: "x".repeat(1_000_001) }] as const;
  t.throws(() => askModel(endless, form, { id: "1", model: null, maxTokens: 5 }), /too long/);
});

t.test("costs of several askings add up, as long as all are priced alike", async (t) => {
  const priced = (amount: number, currency = "USD") => ({ calls: 1, cost: { amount, currency }, isEstimate: false });
  t.same(addModelSpent(priced(0.1), { ...priced(0.2), isEstimate: true }), {
    calls: 2,
    cost: { amount: 0.3, currency: "USD" },
    isEstimate: true,
  });
  t.equal(addModelSpent(priced(1), priced(1, "EUR")).cost, null);
  t.equal(addModelSpent(priced(1), { ...priced(1), cost: null }).cost, null);
});
