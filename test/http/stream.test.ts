import t, { type Test } from "tap";
import { ManualClock } from "../support/manual-clock.js";
import { type Client, startTestService, type TestService, type TestServiceOptions } from "../support/service.js";
import { StreamReader } from "../support/stream-reader.js";

interface Office {
  readonly service: TestService;
  readonly ada: Client;
  readonly workspaceId: string;
  readonly topic: string;
  /** Creates a secret; returns its name. */
  readonly change: (name: string, hosts?: string[]) => Promise<string>;
  readonly open: (client?: Client) => Promise<StreamReader>;
}

/** Opens a workspace with its owner, who reads its stream. */
async function openOffice(t: Test, options: TestServiceOptions = {}): Promise<Office> {
  const service = await startTestService(t, options);
  const ada = await service.signIn("ada@example.com");
  const workspace = await ada.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  return {
    service,
    ada,
    workspaceId: workspace.id,
    topic: `workspace/${workspace.id}`,
    change: async (name, hosts = []) => {
      await ada.create(`/api/resources/workspaces/${workspace.id}/secrets`, {
        name,
        value: "v",
        valueVersion: 1,
        hosts,
      });
      return name;
    },
    open: async (client = ada) => {
      const reader = await StreamReader.open(client);
      t.teardown(async () => reader.end());
      return reader;
    },
  };
}

/** Returns the keys of the resources in the changes. */
function collectKeys(reader: StreamReader): unknown[] {
  return reader.messages
    .filter(({ kind }) => kind === "change")
    .map(({ data }) => (data.change as { readonly key?: unknown }).key);
}

const isChangeOf = (key: string) => (message: StreamReader["messages"][number]) =>
  message.kind === "change" && (message.data.change as { readonly key?: unknown }).key === key;

for (const TRANSPORT of ["uws", "node"]) {
  t.test(`over ${TRANSPORT}, a reader gets the state now and then every change, in order`, async (t) => {
    const { change, open, topic, workspaceId } = await openOffice(t, { settings: { TRANSPORT } });
    const reader = await open();
    reader.subscribe(topic);
    const first = await reader.until(() => true);
    t.match(first, { topic, seq: 1, kind: "snapshot", data: { id: workspaceId, version: 1, slug: "acme" } });
    for (const name of ["one", "two", "three"]) await change(name);
    await reader.until(isChangeOf("three"));
    t.same(collectKeys(reader), ["one", "two", "three"]);
    t.same(
      reader.messages.map(({ seq }) => seq),
      [1, 2, 3, 4],
    );
  });

  t.test(`over ${TRANSPORT}, a reader that is too slow begins anew when it has caught up`, async (t) => {
    const { change, open, topic } = await openOffice(t, { settings: { TRANSPORT } });
    const slow = await open();
    slow.subscribe(topic);
    await slow.until(({ kind }) => kind === "snapshot");
    slow.socket.pause();
    // More bytes than the system's buffers on both ends and the stream's limit together.
    const hosts = Array.from({ length: 100 }, (_, index) => `${"x".repeat(60)}.${"y".repeat(60)}.h${index}.example`);
    for (let batch = 0; batch < 50; batch++) {
      await Promise.all(Array.from({ length: 16 }, (_, index) => change(`s-${batch}-${index}`, hosts)));
    }
    slow.socket.resume();
    const anew = await slow.until(({ kind }) => kind === "reset");
    t.equal(anew.seq, 801);
    await change("after-all");
    await slow.until(isChangeOf("after-all"));
    const seqs = slow.messages.map(({ seq }) => seq);
    t.ok(seqs.length < 801, `${seqs.length} messages were held for it`);
    t.same(
      seqs,
      [...seqs].sort((a, b) => a - b),
    );
    t.equal(new Set(seqs).size, seqs.length, "nothing came twice");
  });
}

t.test("a reader that reconnects continues after the last entry, with nothing missed or repeated", async (t) => {
  const { change, open, topic } = await openOffice(t);
  const names = Array.from({ length: 60 }, (_, index) => `secret-${index}`);
  const writing = (async () => {
    for (const name of names) await change(name);
  })();
  const seen: [number, unknown][] = [];
  let after = 1;
  while (seen.length < names.length) {
    const reader = await open();
    reader.subscribe(topic, after);
    await reader.until(({ kind }) => kind === "change");
    for (const { seq, kind, data } of reader.messages.slice(0, 7)) {
      t.equal(kind, "change");
      seen.push([seq, (data.change as { readonly key: unknown }).key]);
      after = seq;
    }
    reader.end();
  }
  await writing;
  t.same(
    seen,
    names.map((name, index) => [index + 2, name]),
  );
});

t.test("whenever a reader begins, its first picture and its changes meet without gap or overlap", async (t) => {
  const { ada, open, workspaceId, topic } = await openOffice(t);
  let writing = true;
  const writer = (async () => {
    for (let version = 1; writing; version++) {
      const answer = await ada.request(
        "PUT",
        `/api/resources/workspaces/${workspaceId}`,
        { slug: "acme", name: `Name ${version}` },
        { "if-match": `"${version}"` },
      );
      if (answer.status !== 200) throw new Error(answer.text);
    }
  })();
  for (let round = 0; round < 30; round++) {
    const reader = await open();
    reader.subscribe(topic);
    await reader.until(({ kind }) => kind === "change");
    const [snapshot, ...changes] = reader.messages;
    // Each write is one change, so the shown version is the number of changes so far.
    t.equal(snapshot?.kind, "snapshot");
    t.equal(snapshot?.data.version, snapshot?.seq);
    t.same(
      changes.map(({ seq }) => seq),
      changes.map((_, index) => (snapshot?.seq ?? 0) + 1 + index),
    );
    reader.end();
  }
  writing = false;
  await writer;
});

t.test("a sequence that is not there any more, or not yet, is answered by a fresh picture", async (t) => {
  const { change, open, topic } = await openOffice(t);
  await change("one");
  const reader = await open();
  reader.subscribe(topic, 999);
  t.match(await reader.until(() => true), { kind: "reset", seq: 2, data: { slug: "acme" } });
  await change("two");
  t.match(await reader.until(({ kind }) => kind === "change"), { seq: 3 });
});

t.test("nothing is sent after unsubscribing, and subscribing twice is subscribing once", async (t) => {
  const { change, open, topic } = await openOffice(t);
  const reader = await open();
  reader.subscribe(topic);
  reader.subscribe(topic);
  await change("one");
  await reader.until(isChangeOf("one"));
  reader.socket.send(JSON.stringify({ unsubscribe: topic }));
  reader.subscribe("workspace/none");
  await reader.until(({ kind }) => kind === "error");
  await change("two");
  reader.subscribe("workspace/none");
  await reader.until((message) => message.kind === "error" && reader.messages.indexOf(message) > 3);
  t.same(collectKeys(reader), ["one"]);
});

t.test(
  "what the API answers with 404 is an error here, the same for what is not there and what is not theirs",
  async (t) => {
    const { service, open, topic, workspaceId } = await openOffice(t);
    const stranger = await open(await service.signIn("eve@example.com"));
    const topics = [
      topic,
      "workspace/ws_none",
      "workspace/",
      "workspace",
      "",
      `secret/${workspaceId}`,
      `${topic}/more`,
      "__proto__/x",
    ];
    for (const name of topics) stranger.subscribe(name);
    await stranger.until(({ topic: last }) => last === "__proto__/x");
    t.same(
      stranger.messages,
      topics.map((name) => ({
        topic: name,
        seq: 0,
        kind: "error",
        data: { message: "This topic does not exist, or you do not have access to it." },
      })),
    );
  },
);

t.test("who changed what is for those who administer; a token is told only that something changed", async (t) => {
  const { ada, service, change, open, topic, workspaceId } = await openOffice(t);
  const issued = await ada.request(
    "POST",
    `/api/resources/workspaces/${workspaceId}/tokens`,
    { name: "ci", scopes: ["read"] },
    { "idempotency-key": "k" },
  );
  const bearer = await open(service.withToken(issued.headers["service-workspace-token"] ?? ""));
  const owner = await open();
  for (const reader of [bearer, owner]) {
    reader.subscribe(topic);
    await reader.until(({ kind }) => kind === "snapshot");
  }
  await change("deploy", ["deploy.example"]);
  const whole = await owner.until(isChangeOf("deploy"));
  t.match(whole.data.change, { by: { kind: "person" }, client: "unknown", details: { hosts: ["deploy.example"] } });
  const cut = await bearer.until(isChangeOf("deploy"));
  t.same(Object.keys(cut.data.change as object).sort(), ["action", "at", "key", "resource", "resourceId"]);
  t.equal(cut.seq, whole.seq);
});

t.test("a sign-out closes the person's streams, and says so", async (t) => {
  const clock = new ManualClock();
  const { ada, open, topic } = await openOffice(t, { clock });
  const reader = await open();
  reader.subscribe(topic);
  await reader.until(({ kind }) => kind === "snapshot");
  await ada.request("DELETE", "/api/sessions");
  clock.advance(5_000);
  t.equal((await reader.closed()).code, 4_401);
});

t.test("a token that is revoked or runs out gets no change more", async (t) => {
  const clock = new ManualClock();
  const { ada, service, change, open, topic, workspaceId } = await openOffice(t, { clock });
  const issue = async (name: string, expiresAt: string | null) => {
    const tokens = `/api/resources/workspaces/${workspaceId}/tokens`;
    const issued = await ada.request(
      "POST",
      tokens,
      { name, scopes: ["read"], expiresAt },
      { "idempotency-key": name },
    );
    const reader = await open(service.withToken(issued.headers["service-workspace-token"] ?? ""));
    reader.subscribe(topic);
    await reader.until(({ kind }) => kind === "snapshot");
    return { reader, id: String(issued.body?.id) };
  };
  const revoked = await issue("revoked", null);
  await ada.request("DELETE", `/api/resources/tokens/${revoked.id}`, undefined, { "if-match": '"1"' });
  t.equal((await revoked.reader.closed()).code, 4_401, "the change of its own end is the first it does not get");
  const short = await issue("short", new Date(clock.now() + 2_000).toISOString());
  clock.advance(2_000);
  await change("unseen");
  t.equal((await short.reader.closed()).code, 4_401);
  t.notOk(short.reader.messages.some(isChangeOf("unseen")));
  const quiet = await issue("quiet", new Date(clock.now() + 7_000).toISOString());
  await change("seen");
  await quiet.reader.until(isChangeOf("seen"));
  clock.advance(5_000);
  await change("seen-too");
  await quiet.reader.until(isChangeOf("seen-too"));
  clock.advance(5_000);
  t.equal((await quiet.reader.closed()).code, 4_401, "at the next look, though nothing changes");
});

t.test("a workspace that is closed ends its topics", async (t) => {
  const { ada, open, topic, workspaceId } = await openOffice(t);
  const reader = await open();
  reader.subscribe(topic);
  await reader.until(({ kind }) => kind === "snapshot");
  await ada.request("DELETE", `/api/resources/workspaces/${workspaceId}`, undefined, { "if-match": '"1"' });
  t.match(await reader.until(({ kind }) => kind !== "snapshot"), { kind: "error", topic });
});

t.test("an invalid request closes the stream", async (t) => {
  const { open } = await openOffice(t);
  for (const said of [
    "",
    "{",
    "null",
    "[]",
    '{"subscribe":7}',
    '{"subscribe":"a","after":-1}',
    '{"subscribe":"a","more":1}',
  ]) {
    const reader = await open();
    reader.socket.send(said);
    t.equal((await reader.closed()).code, 4_400, said);
  }
  const long = await open();
  long.socket.send(JSON.stringify({ subscribe: "x".repeat(5_000) }));
  t.equal((await long.closed()).code, 1009);
});

t.test("a socket reads at most 200 topics", async (t) => {
  const { ada, open, workspaceId } = await openOffice(t);
  const teams: string[] = [];
  for (let index = 0; index <= 200; index++) {
    const team = await ada.create(`/api/resources/workspaces/${workspaceId}/teams`, { key: `t-${index}`, name: "T" });
    teams.push(`team/${team.id}`);
  }
  const reader = await open();
  for (const team of teams) reader.subscribe(team);
  const last = await reader.until(({ topic }) => topic === teams[200]);
  t.match(last, { kind: "error", data: { message: "At most 200 topics can be subscribed at once." } });
  t.equal(reader.messages.filter(({ kind }) => kind === "snapshot").length, 200);
});

t.test("a page of another host cannot open a stream with a person's cookie", async (t) => {
  const { ada, service } = await openOffice(t);
  const ask = (origin: string) =>
    new Promise<string>((resolve) => {
      const socket = ada.socket("/api/stream", { origin });
      socket.once("open", () => {
        socket.terminate();
        resolve("open");
      });
      socket.once("error", (error) => resolve(error.message));
    });
  t.match(await ask("https://evil.example"), /403/);
  t.equal(await ask(service.baseUrl), "open");
});
