import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { hookSecret } from "../support/hook-receiver.js";
import { expr } from "../support/integration.js";
import { listItems, toProblem, toSlug } from "../support/resources.js";
import type { Reply } from "../support/service.js";
import { until } from "../support/until.js";
import { openWorkplace, type Workplace } from "../support/workplace.js";

/** Integers that lose digits when they are converted to a double. The last two have more than 64 bits. */
const NUMBERS = ["9007199254740993", "-9007199254740993", "18446744073709551617", "-18446744073709551617"];

const fitsInt64 = (digits: string) => BigInt.asIntN(64, BigInt(digits)) === BigInt(digits);
/** Returns the digits of the next number. */
const next = (digits: string) => String(BigInt(digits) + 1n);

interface Received {
  readonly path: string;
  readonly body: string;
}

/** Starts a host that answers every request with the number in its path, and records the requests. */
async function startHost(t: Test) {
  const got: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = request.url ?? "";
    got.push({ path, body: Buffer.concat(chunks).toString() });
    const digits = /-?\d{16,}/.exec(path)?.[0] ?? "0";
    response.end(`{"id":${digits},"next":${digits},"items":[{"id":${digits}}],"owner":{"id":${digits}}}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const find = (part: string) => until(part, () => got.find(({ path }) => path.includes(part)));
  return { url, got, find };
}

interface Scene extends Workplace {
  readonly host: Awaited<ReturnType<typeof startHost>>;
  /** Creates a resource from a JSON text. */
  create(path: string, json: string, key?: string): Promise<Reply>;
}

let keys = 0;
const SECRET = "a key that its sender has, too";

async function scene(t: Test): Promise<Scene> {
  const host = await startHost(t);
  const place = await openWorkplace(t, { settings: { OUTBOUND_ALLOW: host.url } });
  const create = (path: string, json: string, key = `exact-${++keys}`) =>
    place.ada.request("POST", path, json, { "idempotency-key": key });
  await place.ada.create(`/api/resources/workspaces/${place.workspaceId}/secrets`, {
    name: "sender-key",
    value: SECRET,
    valueVersion: 1,
  });
  return { ...place, host, create };
}

const toIntegrations = ({ teamId }: Scene) => `/api/resources/teams/${teamId}/integrations`;

/** Raises one event for each item of a body. All fields of the event contain the item's number. */
const events = (url: string) => [
  {
    forEach: expr("body.items"),
    lookup: {
      request: { method: "GET", url: `${url}/look/${expr("item.id")}` },
      capture: { owner: expr("response.owner.id") },
    },
    raise: {
      say: expr("string(item.id)"),
      opens: { line: "dev", title: expr("'Item ' + string(item.id) + ' of ' + string(owner)") },
      marks: { item: { value: expr("item.id") } },
    },
  },
];

async function tasksTitled({ ada, teamId }: Scene, title: string) {
  return until(title, async () => {
    const items = listItems(await ada.request("GET", `/api/teams/${teamId}/tasks?limit=100`));
    return items.find((task) => task.title === title);
  });
}

const ways: Readonly<Record<string, (t: Test, scene: Scene, digits: string) => Promise<void>>> = {
  async "a delivery: keys, marks, look-ups, titles, and the answer to a challenge"(t, scene, digits) {
    const { ada, host, service } = scene;
    const made = await ada.create(toIntegrations(scene), {
      integration: `hooked${++keys}`,
      name: "Hooked",
      hosts: [new URL(host.url).host],
      webhook: {
        verify: { hmac: { secret: "sender-key", header: "x-signature" } },
        delivery: expr("body.delivery"),
        respond: { when: expr("has(body.challenge)"), body: expr("{'challenge': body.challenge}") },
        events: events(host.url),
      },
    });
    const at = `/api/integrations/${made.id}/deliveries`;
    const send = (text: string) => {
      const signature = createHmac("sha256", SECRET).update(text).digest("hex");
      return service.anonymous.request("POST", at, text, { "x-signature": signature });
    };
    const challenge = await send(`{"challenge":${digits}}`);
    // Expressions see numbers beyond 64 bits as the text of their digits.
    t.equal(challenge.text, `{"challenge":${fitsInt64(digits) ? digits : `"${digits}"`}}`);
    for (const each of [digits, next(digits), digits]) {
      t.equal((await send(`{"delivery":${each},"items":[{"id":${each}}]}`)).status, 202);
    }
    for (const each of [digits, next(digits)]) {
      const task = await tasksTitled(scene, `Item ${each} of ${each}`);
      t.match(task?.marks, { item: each });
      await host.find(`/look/${each}`);
    }
    const delivered = listItems(await ada.request("GET", at));
    t.same(
      delivered.map(({ key }) => key).sort(),
      [digits, next(digits)].sort(),
      "two deliveries, of which one came again",
    );
    const tried = await scene.create(`${at}/try`, `{"body":{"challenge":${digits},"items":[{"id":${digits}}]}}`);
    t.match(tried.text, fitsInt64(digits) ? `{"challenge":${digits}}` : `{"challenge":"${digits}"}`);
    t.match(tried.text, `"value":"${digits}"`);
  },

  async "a poll: its answer and its cursor"(t, scene, digits) {
    const { ada, host } = scene;
    const made = await ada.create(toIntegrations(scene), {
      integration: `polled${++keys}`,
      name: "Polled",
      hosts: [new URL(host.url).host],
      poll: {
        everyMinutes: 60,
        request: { url: `${host.url}/feed/${digits}/${expr("cursor == '' ? 'first' : cursor")}` },
        cursor: expr("body.next"),
        events: [
          {
            forEach: expr("body.items"),
            raise: { opens: { line: "dev", title: expr("'Polled ' + string(item.id)") } },
          },
        ],
      },
    });
    const poll = `/api/integrations/${made.id}/poll`;
    await until("it rests", async () => (await ada.request("GET", poll)).body?.state === "resting");
    await ada.request("POST", `${poll}/now`, {});
    await tasksTitled(scene, `Polled ${digits}`);
    await until("its cursor", async () => (await ada.request("GET", poll)).body?.cursor === digits);
    await ada.request("POST", `${poll}/now`, {});
    t.ok(await host.find(`/feed/${digits}/${digits}`));
  },

  async "a resource: its body, tag, replay, conflict, export and stream"(t, scene, digits) {
    const { ada, teamId, workspaceId, host } = scene;
    const path = `/api/resources/teams/${teamId}/hooks`;
    const hook = (key: string, value: string, more = "") =>
      `{"key":"${key}","on":"run.ended","steps":[{"name":"tell","request":{"url":"${host.url}","body":{"id":${value},"in":[${value}]}}}],` +
      `"signing":{"secret":"${hookSecret}","secretVersion":1}${more}}`;
    const key = `keep${++keys}`;
    const made = await scene.create(path, hook(key, digits), key);
    t.equal(made.status, 201, made.text);
    t.match(made.text, `"body":{"id":${digits},"in":[${digits}]}`);
    const again = await scene.create(path, hook(key, digits), key);
    t.equal(again.headers["idempotent-replayed"], "true");
    t.match(again.text, `"id":${digits}`);
    t.equal(toSlug(await scene.create(path, hook(key, next(digits)), key)), "idempotency-key-reused");
    const one = `/api/resources/hooks/${String(made.body?.id)}`;
    t.match((await ada.request("GET", one)).text, `"id":${digits}`);
    const put = (value: string) => ada.request("PUT", one, hook(key, value), { "if-match": '"1"' });
    t.equal((await put(digits)).headers.etag, '"1"', "nothing changes");
    t.equal((await put(next(digits))).headers.etag, '"2"');
    t.match((await ada.request("GET", `/api/resources/workspaces/${workspaceId}/hooks`)).text, `"id":${next(digits)}`);
    t.match(
      (await ada.request("GET", `/api/resources/workspaces/${workspaceId}/export`)).text,
      new RegExp(`id +=  *${next(digits)}\\b`),
    );
    const bounded = await scene.create(path, hook(`late${keys}`, digits, `,"timeoutSeconds":${digits}`));
    t.equal(bounded.status, 422);
    const small = await scene.create(
      path,
      hook(`late${keys}`, "1", `,"timeoutSeconds":${digits.startsWith("-") ? "-1" : "31"}`),
    );
    t.same(
      toProblem(bounded).errors?.at(-1),
      toProblem(small).errors?.at(-1),
      "a bounded field has the fault that it had",
    );
  },

  async "tools: inputs, approvals shown and edited, requests, outputs, hooks and streams"(t, scene, digits) {
    const { ada, teamId, host } = scene;
    const name = `track${++keys}`;
    await ada.create(toIntegrations(scene), {
      integration: name,
      name: "Tracker",
      hosts: [new URL(host.url).host],
      actions: {
        close: { request: { url: `${host.url}/close/${expr("inputs.id")}`, body: { item: expr("inputs.more") } } },
      },
      tools: {
        close: {
          action: "close",
          approval: true,
          output: expr("{'id': response.id, 'text': string(response.id)}"),
          inputs: { id: { type: "number", required: true }, more: { type: "object", default: {} } },
        },
      },
    });
    const work = { key: "work", name: "Work", kind: "work", runners: { pool: "main" }, tools: [`${name}.close`] };
    await ada.create(`/api/resources/teams/${teamId}/lines`, {
      key: name,
      name,
      repositories: [{ name: "acme/app" }],
      stations: [work],
    });
    await ada.create(`/api/resources/teams/${teamId}/hooks`, {
      key: name,
      on: "tool.used",
      match: { lines: [name] },
      signing: { secret: hookSecret, secretVersion: 1 },
      steps: [
        { name: "first", request: { url: `${host.url}/first/${digits}` } },
        {
          name: "then",
          request: { url: `${host.url}/then/${expr("step.first.output.id")}`, body: { of: expr("event.inputs") } },
        },
      ],
    });
    await scene.open({ line: name });
    const peer = await scene.runner();
    const job = await peer.job();
    peer.start(job);
    const claim = { runId: job.runId, fence: job.fence };
    const call = { type: "run.tool-call", ...claim, id: "1", server: name, tool: "close" } as const;
    peer.say({ ...call, inputs: `{"id":${digits},"more":{"deep":[${digits}]}}` });
    await peer.message("run.tool-waiting");
    const socket = ada.socket("/api/stream");
    const streamed: string[] = [];
    socket.on("message", (data) => void streamed.push(data.toString()));
    socket.on("open", () => socket.send(JSON.stringify({ subscribe: `run/${job.runId}` })));
    t.teardown(() => socket.close());
    await until("the picture", () => streamed.some((text) => text.includes(`"inputs":{"id":${digits}`)));
    const approvals = `/api/runs/${job.runId}/approvals`;
    const shown = await ada.request("GET", approvals);
    t.match(shown.text, `"inputs":{"id":${digits},"more":{"deep":[${digits}]}}`);
    const edit = `${approvals}/${String(listItems(shown)[0]?.id)}/edit`;
    const edited = await ada.request("POST", edit, `{"inputs":{"id":${next(digits)},"more":{"deep":[${digits}]}}}`);
    t.equal(edited.status, 200, edited.text);
    t.match(edited.text, `"edited":{"id":${next(digits)},"more":{"deep":[${digits}]}}`);
    const sent = await host.find(`/close/${next(digits)}`);
    const seen = fitsInt64(digits) ? digits : `"${digits}"`;
    t.equal(sent?.body, `{"item":{"deep":[${seen}]}}`);
    const answered = await peer.message("run.tool-answered");
    t.match(answered.text, `"text":"${next(digits)}"`);
    t.match(answered.note, `"id":${next(digits)}`);
    const calls = (await ada.request("GET", `/api/runs/${job.runId}/tool-calls`)).text;
    t.match(calls, `"edited":{"id":${next(digits)}`);
    t.match(calls, fitsInt64(digits) ? `"output":{"id":${next(digits)},` : `"output":{"id":"${next(digits)}",`);
    await until("the call's end", () => streamed.some((text) => text.includes(`"text":"${next(digits)}"`)));
    const first = await host.find(`/first/${digits}`);
    t.match(first?.body, `"inputs":{"id":${next(digits)},"more":{"deep":[${digits}]}}`, "the default body of a hook");
    t.match(
      (await host.find(`/then/${digits}`))?.body,
      fitsInt64(digits) ? `"id":${next(digits)}` : `"id":"${next(digits)}"`,
    );
    peer.cut();
  },
};

for (const [way, passes] of Object.entries(ways)) {
  t.test(`whole numbers beyond 2^53 keep their digits through ${way}`, async (t) => {
    const world = await scene(t);
    for (const digits of NUMBERS) await passes(t, world, digits);
    t.notOk(
      world.service.logLines.some((line) => line.includes('"level":"error"')),
      "nothing failed",
    );
  });
}

t.test(
  "a huge number where none belongs is refused with the fault of a number, and never fails the service",
  async (t) => {
    const { ada, teamId } = await openWorkplace(t);
    const at = `/api/teams/${teamId}/tasks`;
    for (const digits of [...NUMBERS, "9".repeat(1_000)]) {
      const title = await ada.request("POST", at, `{"title":${digits},"line":"dev"}`);
      t.match([title.status, toProblem(title).errors], [422, [{ path: "title", message: "must be text" }]], digits);
      const member = await ada.request("POST", at, `{"title":"x","line":"dev","more":${digits}}`);
      t.match([member.status, toProblem(member).errors], [422, [{ path: "more" }]]);
      t.equal((await ada.request("POST", at, digits)).status, 422);
    }
    const long = await ada.request("POST", at, `{"title":${"9".repeat(1_001)}}`);
    t.match([long.status, toProblem(long).detail], [400, "The body has a whole number of more than 1000 digits."]);
  },
);
