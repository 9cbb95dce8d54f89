import t, { type Test } from "tap";
import { expr } from "../../support/integration.js";
import { ManualClock } from "../../support/manual-clock.js";
import { listItems, toProblem, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

/** Webhook senders authenticate with a token or password, and the service answers them. */

const SECRET = "a shared secret: of both";

async function scene(t: Test, webhook: object) {
  const service = await startTestService(t, { clock: new ManualClock() });
  const owner = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  await owner.create(`/api/resources/workspaces/${workspaceId}/secrets`, {
    name: "shared",
    value: SECRET,
    valueVersion: 1,
  });
  const make = async (integration: string, more: object) => {
    const made = await owner.create(`/api/resources/teams/${teamId}/integrations`, {
      integration,
      name: "Tracker",
      webhook: { events: [{ raise: {} }], ...more },
    });
    const at = `/api/integrations/${made.id}/deliveries`;
    const send = (headers: Record<string, string>, body = "{}") => service.anonymous.request("POST", at, body, headers);
    const listed = async () => (await owner.request("GET", at)).body ?? {};
    return { at, send, listed };
  };
  return { service, owner, workspaceId, teamId, make, ...(await make("tracker", webhook)) };
}

const token = { token: { secret: "shared", header: "X-Hook-Pass", prefix: "v1=" } };
const basic = { basic: { username: "hook", secret: "shared" } };
const bySecret = { "x-hook-pass": `v1=${SECRET}` };
const byPassword = { authorization: `Basic ${Buffer.from(`hook:${SECRET}`).toString("base64")}` };

for (const [name, verify, right, wrong] of [
  ["token", token, bySecret, { "x-hook-pass": SECRET }],
  ["password", basic, byPassword, { authorization: "Basic aG9vazp4" }],
] as const) {
  t.test(`a delivery with the right ${name} is taken, which is neither stored, shown nor echoed`, async (t) => {
    const [header = ""] = Object.keys(right);
    const read = `"${header}" in headers ? headers["${header}"] : "unseen"`;
    const { owner, at, send, listed } = await scene(t, {
      verify,
      delivery: expr(`${read} + string(body.n)`),
      respond: { when: expr("has(body.ask)"), body: expr(read) },
    });
    t.equal((await send(right, '{"n":1}')).status, 202);
    t.equal((await send(right, '{"ask":1}')).text, "unseen");
    for (const headers of [wrong, {}, { ...right, [header]: `${Object.values(right)[0]}x` }]) {
      const refused = await send(headers as Record<string, string>, '{"n":2}');
      t.match([refused.status, toProblem(refused).detail], [401, "The delivery could not be verified."]);
      const challenge = name === "password" ? 'Basic realm="deliveries", charset="UTF-8"' : "Bearer";
      t.equal(refused.headers["www-authenticate"], challenge, "it names the scheme that is taken");
    }
    const shown = await listed();
    t.match(shown, { items: [{ key: "unseen1" }], refused: { count: 3 } });
    const [item] = (shown as { readonly items: readonly { readonly id: string }[] }).items;
    const whole = await owner.request("GET", `${at}/${item?.id}`);
    const tried = await owner.request("POST", `${at}/try`, { headers: right, body: { n: 3 } });
    t.match(tried.body, { isVerified: true, fault: null, key: "unseen3" });
    for (const text of [JSON.stringify(shown), whole.text, tried.text]) {
      t.notMatch(text, SECRET);
      t.notMatch(text, Object.values(right)[0] ?? "");
    }
  });
}

t.test("a challenge by GET or HEAD is answered with text where it is named, and nothing is stored", async (t) => {
  const respond = {
    methods: ["GET", "HEAD"],
    when: expr('"hub.challenge" in body && body["hub.mode"] == "subscribe"'),
    body: expr('body["hub.challenge"]'),
  };
  const { service, owner, at, send, listed } = await scene(t, { verify: token, respond });
  const ask = (method: "GET" | "HEAD", query: string, headers: Record<string, string> = {}) =>
    service.anonymous.request(method, `${at}${query}`, undefined, headers);
  const challenge = "?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=x&limit=a&state=";
  const answered = await ask("GET", challenge);
  t.same([answered.status, answered.text], [200, "1158201444"]);
  t.match(answered.headers["content-type"], /^text\/plain/);
  t.equal(answered.headers["x-content-type-options"], "nosniff");
  const head = await ask("HEAD", challenge);
  t.same([head.status, head.text, head.headers["content-length"]], [200, "", "10"]);
  t.equal((await ask("GET", challenge, byPassword)).text, "1158201444", "whatever credential of others it has");
  t.equal((await ask("GET", "?hub.mode=subscribe&hub.challenge=%3Cb%3E")).text, "<b>");
  for (const query of ["", "?hub.mode=subscribe", "?hub.mode=other&hub.challenge=1"]) {
    for (const method of ["GET", "HEAD"] as const) t.equal((await ask(method, query)).status, 401, query);
  }
  t.match(await listed(), { items: { length: 0 }, refused: { count: 0 } });
  t.match(
    (await owner.request("GET", `${at}?limit=5`)).body,
    { items: { length: 0 } },
    "who may read it is shown the list",
  );
  t.equal((await owner.request("GET", `${at}${challenge}`)).status, 400);
  const posted = await send(bySecret, '{"hub.mode":"subscribe","hub.challenge":"x"}');
  t.equal(posted.status, 202, "a method that is not named is not answered so");
});

t.test("without a method that names it, a challenge by GET is refused as before", async (t) => {
  const respond = { when: expr("true"), body: expr("'x'") };
  const { service, owner, teamId, at, send } = await scene(t, { verify: token, respond });
  t.equal((await service.anonymous.request("GET", `${at}?challenge=1`)).status, 401);
  t.equal((await send(bySecret)).text, "x", "POST is what is answered by default");
  const other = at.replace(/int_[^/]+/, "int_01J0000000000000000ABCDEFG");
  t.equal((await service.anonymous.request("GET", other)).status, 401);
  const events = [{ raise: {} }];
  for (const methods of [[], ["PUT"], ["GET", "GET"], ["get"]]) {
    const webhook = { events, respond: { ...respond, methods } };
    const refused = await owner.request(
      "POST",
      `/api/resources/teams/${teamId}/integrations`,
      { integration: "other", name: "Other", webhook },
      { "idempotency-key": `methods ${methods}`.replaceAll(" ", "-") },
    );
    t.equal(refused.status, 422, `${methods}`);
    t.match(toProblem(refused).errors, [{ path: /^webhook\.respond\.methods/ }]);
  }
});

t.test("a delivery that was taken is answered with the status that the definition says", async (t) => {
  const { owner, workspaceId, teamId, make } = await scene(t, { verify: token });
  for (const accepted of [200, 201, 202, 203, 204]) {
    const { send, listed } = await make(`accepts-${accepted}`, { verify: token, accepted, delivery: expr("'once'") });
    for (const _ of [1, 2]) {
      const taken = await send(bySecret);
      t.same([taken.status, taken.text], [accepted, ""]);
    }
    t.match(await listed(), { items: [{ repeated: 1 }] }, "one that comes again is answered the same");
    t.equal((await send({})).status, 401);
  }
  const made = await owner.request("GET", `/api/resources/workspaces/${workspaceId}/integrations`);
  const first = listItems(made).find(({ integration }) => integration === "tracker");
  t.match(first, { webhook: { accepted: 202, verify: { hmac: null, basic: null } } });
  for (const accepted of [199, 205, 200.5, "200"]) {
    const webhook = { events: [{ raise: {} }], accepted };
    const path = `/api/resources/teams/${teamId}/integrations`;
    const body = { integration: "other", name: "Other", webhook };
    const refused = await owner.request("POST", path, body, { "idempotency-key": `accepted-${accepted}` });
    t.match([refused.status, toProblem(refused).errors], [422, [{ path: "webhook.accepted" }]], `${accepted}`);
  }
});
