import t from "tap";
import type { AskedModel, ScriptedAnswer } from "../../../http/demo/scripted-model.js";
import { askedModel, good, toSpent } from "../../support/asked-model.js";

const json = (status: number, body: unknown): ScriptedAnswer => ({ status, body: JSON.stringify(body) });
const toRoles = ({ messages }: AskedModel) => messages.map(({ role }) => role).join(" ");

/** A model host's behavior, and the number of requests that a question needs there. */
interface Host {
  readonly name: string;
  readonly answer: (asked: AskedModel) => ScriptedAnswer;
  /**
   * Number of requests that the first question needs, and number that the second question needs. For the second
   * question, the service already knows the host's limits.
   */
  readonly requests: readonly [number, number];
  /** The request that the host accepts in the end: its message roles, and its field names. */
  readonly taken: { readonly roles: string; readonly names: string };
}

const whole = "max_tokens messages model response_format temperature";

/**
 * A FastAPI gateway. It refuses with status 422; the body lists the position of each unknown part, and quotes the whole
 * request each time.
 */
const validating: Host = {
  name: "a gateway that validates the body",
  answer: (asked) => {
    const extra = (["temperature", "response_format", "max_tokens"] as const).filter(
      (part) => asked[part] !== undefined,
    );
    const detail = extra.map((part) => ({
      type: "extra_forbidden",
      loc: ["body", part],
      msg: "Extra inputs are not permitted",
      input: asked,
    }));
    return extra.length === 0 ? { value: good } : json(422, { detail });
  },
  requests: [4, 1],
  taken: { roles: "system user", names: "max_completion_tokens messages model" },
};

/**
 * A router over several hosts. It answers 404 if no host supports all parts, but does not name the unsupported part.
 */
const routing: Host = {
  name: "a router that has no endpoint for all parts",
  answer: ({ response_format }) =>
    response_format === undefined
      ? { value: good }
      : json(404, { error: { message: "No endpoints found that can handle this request.", code: 404 } }),
  requests: [2, 1],
  taken: { roles: "system user", names: "max_tokens messages model temperature" },
};

/** A chat template that fails on a second system message. */
const oneSystem: Host = {
  name: "a template that takes one system message",
  answer: (asked) => {
    if (asked.response_format !== undefined) {
      return json(400, { error: { message: "guided decoding is off", metadata: { raw: '{"param":"json_schema"}' } } });
    }
    return /^system( user| assistant)*$/.test(toRoles(asked))
      ? { value: good }
      : json(400, { object: "error", message: "The template failed: it takes a single message at the beginning." });
  },
  requests: [2, 1],
  taken: { roles: "system user", names: "max_tokens messages model temperature" },
};

/** A chat template without system messages, behind a server without schemas. */
const noSystem: Host = {
  name: "a template that takes no system message",
  answer: (asked) => {
    if (!/^user( assistant user)*$/.test(toRoles(asked))) {
      return json(400, { object: "error", message: "System role not supported", code: 400 });
    }
    return asked.response_format === undefined ? { value: good } : json(400, { error: "structured outputs are off" });
  },
  requests: [3, 1],
  taken: { roles: "user", names: "max_tokens messages model temperature" },
};

/** A reasoning model. It refuses parameters one at a time, and refuses both names of the token limit. */
const thinking: Host = {
  name: "a model that takes no limit of tokens",
  answer: (asked) => {
    const refused = (["max_tokens", "max_completion_tokens", "temperature"] as const).find((part) => part in asked);
    const message = `Unsupported parameter: '${refused}' is not supported with this model.`;
    const error = { message, type: "invalid_request_error", param: refused, code: "unsupported_parameter" };
    // This host reports errors in answers with status 200.
    return refused === undefined ? { value: good } : json(200, { error, choices: null });
  },
  requests: [4, 1],
  taken: { roles: "system user", names: "messages model response_format" },
};

/** A host that accepts everything, and reports empty errors in its answers. */
const plain: Host = {
  name: "a host that takes every part",
  answer: () =>
    json(201, {
      error: null,
      choices: [{ message: { role: "assistant", content: JSON.stringify(good) }, finish_reason: "stop", error: {} }],
      usage: { prompt_tokens: 1_000, completion_tokens: 100 },
    }),
  requests: [1, 1],
  taken: { roles: "system user", names: whole },
};

for (const { name, answer, requests, taken } of [validating, routing, oneSystem, noSystem, thinking, plain]) {
  t.test(`${name} answers without the parts that it refuses, and is asked without them from then on`, async (t) => {
    const { server, ask } = await askedModel(t, { usual: answer });
    for (const count of requests) {
      const before = server.asked.length;
      t.same(await ask(), { state: "answered", value: good, model: "large", spent: toSpent(1) }, "refusals are free");
      t.equal(server.asked.length - before, count);
      const last = server.asked.at(-1);
      const { headers: _headers, ...body } = last ?? {};
      t.equal(Object.keys(body).sort().join(" "), taken.names);
      t.equal(last === undefined ? "" : toRoles(last), taken.roles);
      const [first] = last?.messages ?? [];
      t.match(first?.content, /^Judge it\./, "the instructions come first");
      t.equal(/JSON schema: \{.*"passes"/.test(first?.content ?? ""), last?.response_format === undefined);
      if (taken.roles === "user") t.match(first?.content, /"passes".*\n\nThe change$/s);
    }
  });
}

t.test("a template that takes no system message takes repairs", async (t) => {
  const { server, ask } = await askedModel(t, { usual: noSystem.answer });
  await ask();
  server.queue.push({ text: "It is fine." });
  t.match(await ask(), { state: "answered", spent: toSpent(2) });
  t.equal(
    server.asked
      .at(-1)
      ?.messages.map(({ role }) => role)
      .join(" "),
    "user assistant user",
  );
});

const choice = (more: object) => ({ choices: [{ message: { role: "assistant", content: null }, ...more }] });
const usage = { prompt_tokens: 9_000, completion_tokens: 900 };

t.test("an error inside of a 200 without a lasting code is waited for, and costs nothing", async (t) => {
  const { server, ask, clock } = await askedModel(t);
  const bodies = [
    { error: { code: 429, message: "Rate limit exceeded" }, usage },
    { error: { code: "503" }, choices: null },
    { error: { message: "Provider returned error" } },
    { error: "overloaded" },
    { type: "error", error: { type: "overloaded_error" } },
    { error: { code: "rate_limit_exceeded", type: "requests" } },
    { error: { code: "rate_limit_exceeded", type: "invalid_request_error" } },
    { error: { code: "model_overloaded", type: "invalid_request_error" } },
    { error: { code: 1302, message: "concurrency" } },
    { error: { code: 408 }, ...choice({ finish_reason: "stop" }) },
    { choices: null, usage },
    { choices: [], usage },
    { choices: [null] },
    { choices: [{}] },
    { code: 500, detail: "broken" },
    { success: false, errors: [{ code: 3_040, message: "Capacity temporarily exceeded" }], result: null },
    [{ error: { code: 503, status: "UNAVAILABLE" } }],
    { object: "error", message: "no", code: 429 },
    choice({ finish_reason: "error", usage }),
    choice({ finish_reason: "error", error: { code: 502, message: "Upstream" } }),
    choice({ finish_reason: "insufficient_system_resource" }),
    choice({ finish_reason: "abort", error: null }),
    null,
    "busy",
    {},
  ];
  for (const body of bodies) {
    server.queue.push({ status: 200, body: JSON.stringify(body), headers: { "retry-after": "30" } });
    const retryAtMs = clock.now() + 30_000;
    t.match(await ask(), { state: "waiting", retryAtMs, spent: toSpent(0) }, JSON.stringify(body));
  }
  for (const body of ["", "<html>Sign in</html>", "upstream connect error"]) {
    server.queue.push({ status: 200, body });
    const reason = "the model answered without a completion";
    t.same(await ask(), { state: "waiting", reason, retryAtMs: null, spent: toSpent(0) }, body);
  }
  t.equal(server.asked.length, bodies.length + 3, "and is not asked again at once");
});

t.test("an error inside of a 200 with a lasting code is a refusal", async (t) => {
  const { server, ask } = await askedModel(t);
  const table: readonly (readonly [unknown, number, string])[] = [
    [{ error: { code: 402, message: "Insufficient credits" } }, 1, "the model answered 402"],
    [{ error: { code: "invalid_api_key" } }, 1, "the model answered 401 (invalid_api_key): it rejected"],
    [{ error: { code: 400, message: "too long" } }, 2, "the model answered 400"],
    [{ error: { code: "context_length_exceeded" } }, 2, "the model answered 400 (context_length_exceeded)"],
    [{ error: { type: "not_found_error", message: "no such model" } }, 2, "the model answered 404"],
    [choice({ finish_reason: "error", error: { code: "403" } }), 1, "the model answered 403"],
  ];
  for (const [body, requests, reason] of table) {
    const before = server.asked.length;
    for (let n = 0; n < requests; n++) server.queue.push(json(200, body));
    const outcome = await ask();
    t.match(outcome, { state: "failed", code: "refused", spent: toSpent(0) }, JSON.stringify(body));
    t.equal("reason" in outcome && outcome.reason.startsWith(reason), true, reason);
    t.equal(server.asked.length - before, requests);
  }
});

t.test("an end that is the model's own is an answer, and costs", async (t) => {
  const { server, ask } = await askedModel(t);
  for (const finish_reason of ["stop", "content_filter", "length"]) {
    server.queue.push(
      json(200, { ...choice({ finish_reason }), usage: { prompt_tokens: 1_000, completion_tokens: 100 } }),
    );
    server.queue.push({ value: good });
    t.match(await ask(), { state: "answered", spent: toSpent(2) }, finish_reason);
    const repair = server.asked.at(-1)?.messages.at(-1)?.content ?? "";
    t.equal(repair.includes("cut off"), finish_reason === "length");
  }
});

t.test("an error without content beside an answer is no error", async (t) => {
  const { server, ask } = await askedModel(t);
  const usage = { prompt_tokens: 1_000, completion_tokens: 100 };
  for (const error of [null, false, 0, "", {}, { code: null, message: null }, { code: 0, message: "" }]) {
    const message = { role: "assistant", content: JSON.stringify(good) };
    server.queue.push(json(200, { choices: [{ message, finish_reason: "stop" }], usage, error }));
    t.match(await ask(), { state: "answered" }, JSON.stringify(error));
  }
});

t.test("a part that a refusal named is remembered when the next answer is a busy host's", async (t) => {
  const { server, ask } = await askedModel(t);
  server.queue.push(json(422, { detail: "temperature" }), { status: 429 }, { value: good });
  t.match(await ask(), { state: "waiting", spent: toSpent(0) });
  t.match(await ask(), { state: "answered", spent: toSpent(1) });
  t.equal(server.asked.length, 3);
  t.equal(server.asked[2]?.temperature, undefined);
});

t.test("a schema that no refusal named is left out for good only once that helped", async (t) => {
  const { server, ask } = await askedModel(t);
  server.queue.push(json(400, {}), { status: 503 }, { value: good });
  t.match(await ask(), { state: "waiting" });
  t.match(await ask(), { state: "answered" });
  t.ok(server.asked[2]?.response_format);
});

t.test("a refusal whose body is deeper than can be written is read all the same", async (t) => {
  const { server, ask } = await askedModel(t);
  server.queue.push({ status: 400, body: `${"[".repeat(60_000)}"temperature"${"]".repeat(60_000)}` }, { value: good });
  t.match(await ask(), { state: "answered", spent: toSpent(1) });
  t.equal(server.asked[1]?.temperature, undefined);
});
