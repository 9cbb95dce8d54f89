import { randomBytes } from "node:crypto";
import t, { type Test } from "tap";
import { Canaries } from "../support/canaries.js";
import { hookReceiver } from "../support/hook-receiver.js";
import { makeKeys, startIssuer } from "../support/issuer.js";
import { type MailServer, startMailServer } from "../support/mail-server.js";
import { ManualClock } from "../support/manual-clock.js";
import { listItems, workspaceWithTeam } from "../support/resources.js";
import { type Client, type Reply, startTestService, type TestService } from "../support/service.js";
import { StreamReader } from "../support/stream-reader.js";

const keys = await makeKeys(["ES256"]);
const QUARTER_MS = 15 * 60_000;
const random = (count: number) => randomBytes(count).toString("base64url");
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

interface Office {
  readonly service: TestService;
  readonly clock: ManualClock;
  readonly mails: MailServer;
  readonly canaries: Canaries;
  readonly owner: Client;
  readonly within: string;
  readonly teamId: string;
}

/**
 * Waits for a mail to an address. Returns the text after `marker` in the last such mail; empty if the mail lacks the
 * marker.
 */
async function linkTo({ mails }: Pick<Office, "mails">, address: string, marker: string): Promise<string> {
  const mine = () => mails.received.filter(({ to }) => to.includes(address));
  await mails.until(() => mine().length > 0);
  return new RegExp(`${marker}([\\w-]+)`).exec(mine().at(-1)?.mail.text ?? "")?.[1] ?? "";
}

const toHeader = (name: string) => (reply: Reply) => [reply.headers[name] ?? ""].filter((value) => value !== "");

/** Sends values that the client chooses: secrets, signing secrets, pool tokens. */
async function putChosen({ canaries, owner, within, teamId }: Office, receiver: string): Promise<void> {
  const send = canaries.watch(owner);
  const create = (path: string, body: unknown, key: string) =>
    send({ method: "POST", path, body, headers: { "idempotency-key": key } });
  const made: Promise<Reply>[] = [];
  for (const n of numbers(250)) {
    const body = {
      name: `secret-${n}`,
      value: canaries.add("secret value", `canary ${n} ${random(24)}`),
      valueVersion: 1,
    };
    made.push(create(`${within}/secrets`, body, `secret-${n}`));
  }
  for (const n of numbers(150)) {
    const secret = canaries.add("signing secret", `whsec_${randomBytes(24).toString("base64")}`);
    const steps = [{ name: "tell", request: { url: receiver } }];
    const on = n === 0 ? "task.opened" : "task.moved";
    const body = { key: `hook-${n}`, on, steps, signing: { secret, secretVersion: 1 } };
    made.push(create(`/api/resources/teams/${teamId}/hooks`, body, `hook-${n}`));
  }
  for (const n of numbers(100)) {
    const body = { key: `given-${n}`, token: canaries.add("given pool token", random(32)) };
    made.push(create(`${within}/runner-pools`, body, `given-${n}`));
  }
  for (const { status, text } of await Promise.all(made)) if (status !== 201) throw new Error(text);
}

/** Creates workspace tokens and pool tokens. The service shows each of them once, in a response header. */
async function drawIssued({ canaries, owner, within }: Office): Promise<void> {
  const send = canaries.watch(owner);
  const issue = async (path: string, body: unknown, header: string, label: string) => {
    const key = `issued-${JSON.stringify(body)}`.replace(/[^!-~]/g, "");
    const request = { method: "POST", path, body, headers: { "idempotency-key": key }, shown: toHeader(header) };
    const value = (await send(request)).headers[header];
    if (value === undefined) throw new Error(`no ${header} came`);
    canaries.add(label, value);
    // The answer to a repeated request is the same, but does not contain the secret value.
    await send({ method: "POST", path, body, headers: { "idempotency-key": key } });
  };
  for (const n of numbers(150)) {
    await issue(`${within}/tokens`, { name: `t-${n}`, scopes: ["read"] }, "service-workspace-token", "token");
  }
  for (const n of numbers(80))
    await issue(`${within}/runner-pools`, { key: `p-${n}` }, "service-pool-token", "pool token");
}

/** Signs people in, each with a link and a cookie. */
async function signPeopleIn(office: Office, count: number): Promise<void> {
  const { canaries, service, clock } = office;
  const send = canaries.watch(service.anonymous);
  for (const n of numbers(count)) {
    if (n % 25 === 24) clock.advance(QUARTER_MS);
    const email = `person${n}@example.com`;
    await send({ method: "POST", path: "/api/sign-in", body: { email } });
    const token = canaries.add("sign-in link", await linkTo(office, email, "/sign-in/"));
    await send({ method: "GET", path: `/sign-in/${token}` });
    const opened = await send({
      method: "POST",
      path: "/api/sessions",
      body: { token },
      shown: toHeader("set-cookie"),
    });
    const cookie = opened.headers["set-cookie"]?.split(";")[0] ?? "";
    canaries.add("cookie", cookie);
    await canaries.watch(service.withSession(cookie.replace("session=", "")))({
      method: "GET",
      path: "/api/sessions/me",
    });
    await send({ method: "POST", path: "/api/sessions", body: { token } });
  }
}

async function inviteMany(office: Office, count: number): Promise<void> {
  const { canaries, owner, service } = office;
  const send = canaries.watch(owner);
  const emails = numbers(count).map((n) => `guest${n}@example.com`);
  const invited = await send({ method: "POST", path: "/api/workspaces/acme/invites", body: { emails } });
  if (invited.status !== 200) throw new Error(invited.text);
  for (const email of emails) {
    const token = canaries.add("invite link", await linkTo(office, email, "/invites/"));
    await canaries.watch(service.anonymous)({ method: "GET", path: `/api/invites/${token}` });
  }
}

/** Lets workloads exchange their platform's token; some exchanges fail. */
async function exchangeMany(office: Office, issuer: Awaited<ReturnType<typeof startIssuer>>): Promise<void> {
  const { canaries, owner, service, within, clock } = office;
  const trust = await owner.create(`${within}/token-trusts`, {
    key: "ci",
    issuer: issuer.url,
    subject: "repo:acme/*",
    scopes: ["configure"],
  });
  const send = canaries.watch(service.anonymous);
  for (const n of numbers(75)) {
    const claims = n % 3 === 0 ? { sub: "repo:evil/app" } : {};
    const token = canaries.add("workload token", await issuer.token(claims, { nowMs: clock.now() }));
    const exchanged = await send({
      method: "POST",
      path: "/api/workspace-tokens/exchange",
      body: { trust: trust.id, token },
      shown: ({ body }) => (typeof body?.token === "string" ? [body.token] : []),
    });
    if (exchanged.status === 200) canaries.add("minted token", String(exchanged.body?.token));
  }
  await canaries.watch(owner)({ method: "GET", path: `/api/resources/token-trusts/${trust.id}/refusals` });
}

/** Sends requests that are invalid exactly where the secret is, and requests with guessed credentials. */
async function sendWrong({ canaries, owner, service, within, teamId }: Office): Promise<void> {
  const value = () => canaries.add("refused value", `canary ${random(24)}`);
  const post = (path: string, body: unknown, client = owner) =>
    canaries.watch(client)({ method: "POST", path, body, headers: { "idempotency-key": random(9) } });
  for (const wrong of [(text: string) => [text], (text: string) => ({ [text]: 1 }), (text: string) => text]) {
    await post(`${within}/secrets`, { name: "wrong", value: wrong(value()), valueVersion: 0 });
    await post(`${within}/secrets`, { name: "wrong", value: wrong(value()), valueVersion: 1, hosts: "none" });
    await post(`${within}/runner-pools`, { key: "wrong", token: wrong(`${value()} `) });
    const steps = [{ name: "tell", request: { url: "https://elsewhere.example" } }];
    const signing = { secret: wrong(value()), secretVersion: 1 };
    await post(`/api/resources/teams/${teamId}/hooks`, { key: "wrong", on: "task.moved", steps, signing });
    await post("/api/sessions", { token: wrong(value()) }, service.anonymous);
    await post("/api/workspace-tokens/exchange", { trust: "trust_1", token: wrong(value()) }, service.anonymous);
    await post("/api/sessions", `{"token": "${value()}`, service.anonymous);
  }
  const guess = canaries.add("guessed bearer", random(32));
  await canaries.watch(service.withToken(guess))({ method: "GET", path: "/api/sessions/me" });
  await canaries.watch(service.withSession(canaries.add("guessed cookie", random(32))))({
    method: "GET",
    path: "/api/sessions/me",
  });
}

const collections = [
  ...["teams", "lines", "skills", "harness-profiles", "integrations", "hooks", "secrets", "tokens", "token-trusts"],
  ...["runner-pools", "runner-trusts", "workspace-runners"],
];

/** Reads up to 20 resources of each kind. Also reads exports, lists, metrics and streams. */
async function readEverything({ canaries, owner, service, within, teamId }: Office): Promise<void> {
  const send = canaries.watch(owner);
  const get = (path: string) => send({ method: "GET", path });
  for (const plural of collections) {
    const items = listItems(await get(`${within}/${plural}`));
    for (const { id } of items.slice(0, 20)) {
      await get(`/api/resources/${plural}/${id}`);
      if (plural !== "tokens") await get(`/api/resources/${plural}/${id}/hcl`);
    }
  }
  for (const path of ["export", "hcl"]) await get(`${within}/${path}`);
  let before = "";
  for (;;) {
    const page = listItems(await get(`/api/workspaces/acme/configuration-changes?limit=200${before}`));
    if (page.length === 0) break;
    before = `&before=${page.at(-1)?.seq}`;
  }
  for (const path of ["members", "invites", "dead-letters", "runners"]) await get(`/api/workspaces/acme/${path}`);
  for (const path of ["tasks", "hook-occurrences"]) await get(`/api/teams/${teamId}/${path}`);
  await canaries.watch(service.anonymous)({ method: "GET", path: "/metrics" });
  const reader = await StreamReader.open(owner);
  const topics = [`workspace/${within.split("/").at(-1)}`, `team/${teamId}`];
  for (const topic of topics) {
    reader.subscribe(topic);
    canaries.saw(`the stream of ${topic}`, JSON.stringify(await reader.until((message) => message.topic === topic)));
  }
  reader.end();
}

async function openOffice(t: Test, allowed: string): Promise<Office> {
  const clock = new ManualClock();
  const mails = await startMailServer(t);
  const settings = { SMTP_URL: mails.url, OUTBOUND_ALLOW: allowed, LOG_LEVEL: "debug" };
  const service = await startTestService(t, { clock, settings });
  const email = "owner@example.com";
  await service.anonymous.request("POST", "/api/sign-in", { email });
  const token = await linkTo({ mails }, email, "/sign-in/");
  const opened = await service.anonymous.request("POST", "/api/sessions", { token });
  const cookie = opened.headers["set-cookie"]?.split(";")[0]?.replace("session=", "") ?? "";
  const owner = service.withSession(cookie);
  const canaries = new Canaries();
  canaries.add("cookie", cookie);
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  return { service, clock, mails, canaries, owner, within: `/api/resources/workspaces/${workspaceId}`, teamId };
}

t.test("of a thousand secret values none is in any output, and none is in the clear in the store", async (t) => {
  t.setTimeout(180_000);
  const receiver = await hookReceiver(t, (response) => response.end("{}"));
  const issuer = await startIssuer(t, keys);
  const office = await openOffice(t, `${receiver.url},${issuer.url}`);
  const { canaries, service, owner, teamId } = office;
  await putChosen(office, receiver.url);
  await drawIssued(office);
  await signPeopleIn(office, 60);
  await inviteMany(office, 50);
  await exchangeMany(office, issuer);
  await sendWrong(office);

  await owner.create(`/api/resources/teams/${teamId}/lines`, {
    key: "dev",
    name: "Dev",
    stations: [{ key: "work", name: "Work", kind: "work" }],
  });
  await owner.request("POST", `/api/teams/${teamId}/tasks`, { title: "Mend", line: "dev" });
  const [fired] = await receiver.arrived(1);
  const callback = canaries.add("callback token", String(fired?.headers["service-callback-token"]));
  await canaries.watch(service.withToken(callback))({ method: "GET", path: "/api/hook-callbacks/task" });

  await readEverything(office);
  await service.stop();
  canaries.saw("the log", service.logLines.join("\n"));
  await canaries.sawFiles(service.folder, "owner@example.com");
  t.ok(canaries.count >= 1_000, `${canaries.count} canaries`);
  t.same(canaries.sightings(), []);
});

t.test("a canary in any output is found, in any context", async (t) => {
  const canaries = new Canaries();
  const value = canaries.add("secret", "canary 0123456789abcdef");
  canaries.saw("an answer", `{"a":"x${value}y"}`);
  canaries.saw("a file", Buffer.from(`\x00\x01${value}\xff`, "latin1").toString("latin1"));
  t.same(
    canaries.sightings().map(({ where }) => where),
    ["an answer", "a file"],
  );
});
