import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { Agent, EventSource } from "undici";
import { createMemoryStore } from "../../../storage/memory-store.js";
import type { Change } from "../../../storage/store.js";
import { EventReader } from "../../support/event-reader.js";
import { ManualClock } from "../../support/manual-clock.js";
import { type Client, startTestService } from "../../support/service.js";
import { type StreamMessage, StreamReader } from "../../support/stream-reader.js";
import { until } from "../../support/until.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

const isNote = (text: string) => (message: StreamMessage) =>
  message.kind === "change" && (message.data.note as { readonly text?: string } | undefined)?.text === text;

async function note({ ada }: Workplace, taskId: string, text: string): Promise<void> {
  const added = await ada.request("POST", `/api/tasks/${taskId}/notes`, { text });
  if (added.status >= 300) throw new Error(added.text);
}

function opener(t: Test, { service, ada }: Pick<Workplace, "service" | "ada">) {
  return async (topics: readonly string[], lastEventId?: string, client: Client = ada) => {
    const reader = await EventReader.open(service, client, topics, lastEventId);
    t.teardown(async () => reader.end());
    return reader;
  };
}

for (const TRANSPORT of ["uws", "node"]) {
  t.test(`over ${TRANSPORT}, an event has the message of the socket, and an id`, async (t) => {
    const place = await openWorkplace(t, { settings: { TRANSPORT } });
    const open = opener(t, place);
    const task = await place.open();
    const topics = [`task/${task}`, `team/${place.teamId}`];
    const socket = await StreamReader.open(place.ada);
    t.teardown(async () => socket.end());
    for (const topic of topics) socket.subscribe(topic);
    await socket.until(({ topic }) => topic === topics[1]);
    const reader = await open(topics);
    t.match(reader.incoming.headers, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    await reader.until(({ topic }) => topic === topics[1]);
    for (const text of ["one", "two — zwei", "three"]) await note(place, task, text);
    await Promise.all([reader.until(isNote("three")), socket.until(isNote("three"))]);
    t.same(
      reader.events.map(({ message }) => message),
      socket.messages,
    );
    t.same(
      reader.events.map(({ event }) => event),
      reader.events.map(({ message }) => message.kind),
    );
    t.match(reader.events.at(-1)?.id, /^\d+~[0-9a-f]{8}$/);
    t.same(reader.others, ["retry: 1000"]);
    const metrics = async () => (await place.service.anonymous.request("GET", "/metrics")).text;
    t.match(await metrics(), /signalbox_sockets\{route="\/api\/stream"\} 2\n/);
    reader.end();
    await until("the end to be counted", async () =>
      /signalbox_sockets\{route="\/api\/stream"\} 1\n/.test(await metrics()),
    );
  });

  t.test(`over ${TRANSPORT}, a slow reader begins anew when it has caught up`, async (t) => {
    const place = await openWorkplace(t, { settings: { TRANSPORT }, store: createMemoryStore() });
    const open = opener(t, place);
    const task = await place.open();
    const topics = [`workspace/${place.workspaceId}`, `task/${task}`];
    const slow = await open(topics);
    await slow.until(({ topic }) => topic === topics[1]);
    slow.incoming.pause();
    // More bytes than the system's buffers on both ends and the stream's limit together.
    const hosts = Array.from({ length: 100 }, (_, index) => `${"x".repeat(60)}.${"y".repeat(60)}.h${index}.example`);
    const secret = { value: "v", valueVersion: 1, hosts };
    const secrets = `/api/resources/workspaces/${place.workspaceId}/secrets`;
    for (let batch = 0; batch < 50; batch++) {
      const names = Array.from({ length: 16 }, (_, index) => `s-${batch}-${index}`);
      await Promise.all(names.map((name) => place.ada.create(secrets, { ...secret, name })));
    }
    slow.incoming.resume();
    const anew = await slow.until(({ kind }) => kind === "reset");
    t.equal(anew.message.topic, topics[0]);
    t.ok(slow.events.length < 800, `${slow.events.length} events were held for it`);
    await note(place, task, "after all");
    const last = await slow.until(isNote("after all"));
    t.equal(slow.events.filter(({ message }) => message.kind === "reset").length, 1);
    const again = await open(topics, last.id);
    await note(place, task, "new");
    t.match((await again.until(() => true)).message, { kind: "change", data: { note: { text: "new" } } });
  });
}

t.test("a reader that is cut after any event continues with exactly the later ones", async (t) => {
  const place = await openWorkplace(t);
  const elsewhere = await place.ada.create("/api/resources/workspaces", { slug: "other", name: "Other" });
  const open = opener(t, place);
  const tasks = [await place.open(), await place.open(), await place.open()];
  const topics = [`workspace/${elsewhere.id}`, `team/${place.teamId}`, ...tasks.map((id) => `task/${id}`)];
  const whole = await open(topics);
  await whole.until(({ topic }) => topic === topics.at(-1));
  for (let round = 0; round < 3; round++) {
    for (const [index, task] of tasks.entries()) await note(place, task, `${round} ${index}`);
    const name = `Other ${round}`;
    const version = `"${round + 1}"`;
    await place.ada.request(
      "PUT",
      `/api/resources/workspaces/${elsewhere.id}`,
      { slug: "other", name },
      { "if-match": version },
    );
  }
  const isLast = ({ topic, kind }: StreamMessage) => topic === topics[0] && kind === "change";
  await until("all changes", () => whole.events.filter(({ message }) => isLast(message)).length === 3);
  await whole.until(isNote("2 2"));
  const sent = whole.events;
  t.equal(sent.length, 17, `${sent.length} events`);
  for (const [index, { id }] of sent.entries()) {
    const later = sent.slice(index + 1).map(({ message }) => message);
    const resumed = await open(topics, id);
    // If the state of a topic was not sent before, the service sends the state now. This state includes all changes.
    const unseen = new Set(later.filter(({ kind }) => kind === "snapshot").map(({ topic }) => topic));
    const wanted = later.filter(({ topic, kind }) => kind === "change" && !unseen.has(topic));
    await until("all events", () => resumed.events.length >= wanted.length + unseen.size);
    const byWorkspace = (messages: readonly StreamMessage[], isHere: boolean) =>
      messages.filter(({ topic }) => (topic === topics[0]) === isHere);
    const got = resumed.events.map(({ message }) => message);
    const changes = got.filter(({ kind }) => kind === "change");
    for (const isHere of [true, false]) t.same(byWorkspace(changes, isHere), byWorkspace(wanted, isHere));
    const resets = got.filter(({ kind }) => kind === "reset").map(({ topic }) => topic);
    t.same(resets.sort(), [...unseen].sort());
    resumed.end();
  }
});

t.test("the id of a state that was read before a durable change was announced does not skip this change", async (t) => {
  const inner = createMemoryStore();
  let announce = Promise.resolve();
  // A store on disk shows a commit to readers a moment before it resolves.
  const store = { ...inner, commit: (changes: readonly Change[]) => inner.commit(changes).then(() => announce) };
  const place = await openWorkplace(t, { settings: { TRANSPORT: "node" }, store });
  const open = opener(t, place);
  const task = await place.open();
  const topics = [`workspace/${place.workspaceId}`, `task/${task}`];
  const slow = await open(topics);
  await slow.until(({ topic }) => topic === topics[1]);
  slow.incoming.pause();
  const hosts = Array.from({ length: 100 }, (_, index) => `${"x".repeat(60)}.${"y".repeat(60)}.h${index}.example`);
  const secrets = `/api/resources/workspaces/${place.workspaceId}/secrets`;
  for (let batch = 0; batch < 50; batch++) {
    const names = Array.from({ length: 16 }, (_, index) => `s-${batch}-${index}`);
    await Promise.all(names.map((name) => place.ada.create(secrets, { name, value: "v", valueVersion: 1, hosts })));
  }
  let goOn: () => void = () => undefined;
  announce = new Promise((resolve) => {
    goOn = resolve;
  });
  const before = place.service.runtime.feed.lastSeq(place.workspaceId);
  const noting = note(place, task, "durable");
  await until("the note to be durable", () => place.service.runtime.feed.lastSeq(place.workspaceId) > before);
  slow.incoming.resume();
  const { id } = await slow.until(({ kind }) => kind === "reset");
  slow.end();
  goOn();
  await noting;
  const again = await open(topics, id);
  await note(place, task, "later");
  await again.until(isNote("later"));
  const events = [...slow.events, ...again.events];
  const notes = events.map(({ message }) => message.data.note as { readonly text: string } | undefined);
  t.same(
    notes.flatMap((each) => each?.text ?? []),
    ["durable", "later"],
  );
});

t.test("an id of other topics, or one that is no longer known, gives the state of each topic", async (t) => {
  const place = await openWorkplace(t);
  const open = opener(t, place);
  const task = await place.open();
  const topics = [`team/${place.teamId}`, `task/${task}`];
  const { id } = await (await open(topics)).until(() => true);
  for (const [of, lastId] of [
    [[...topics].reverse(), id],
    [topics.slice(1), id],
    [topics, id.replace(/^\d+(-[0-9a-f]+)?/, "999999")],
  ] as const) {
    const reader = await open(of, lastId);
    await until("all states", () => reader.events.length === of.length);
    t.same(
      reader.events.map(({ message: { topic, kind } }) => [topic, kind]),
      of.map((topic) => [topic, "reset"]),
    );
    t.match(reader.events.at(-1)?.id, /^\d{1,3}~/);
  }
});

t.test("a wrong request is refused before the stream starts", async (t) => {
  const place = await openWorkplace(t, { settings: { SOCKETS_PER_CREDENTIAL: "2" } });
  const { ada, service, teamId } = place;
  const topic = `team/${teamId}`;
  const ask = (query: string, headers: Record<string, string> = {}, client = ada) =>
    client.request("GET", `/api/stream${query}`, undefined, headers);
  const many = Array.from({ length: 201 }, (_, index) => `team/${index}`).join(",");
  const rows: readonly (readonly [string, Record<string, string>, number, RegExp])[] = [
    ["", {}, 426, /\?topics=team\/<id>/],
    ["?topics=", {}, 400, /topics: "" must be <kind>\/<id>/],
    [`?topics=${topic},`, {}, 400, /topics: "" must be/],
    ["?topics=tram/1", {}, 400, /"tram\/1" must be <kind>\/<id>, with a kind of .*team/],
    [`?topics=${topic}/more`, {}, 400, /must be <kind>\/<id>/],
    [`?topics=${topic},${topic}`, {}, 400, /is named twice/],
    [`?topics=${many}`, {}, 400, /at most 200 topics can be named, not 201/],
    [`?topics=${topic}&topics=${topic}`, {}, 400, /topics: must be given once/],
    [`?topics=${topic}&after=3`, {}, 400, /after/],
    [`?topics=${topic}`, { "last-event-id": "47" }, 400, /Last-Event-ID must be the id/],
    [`?topics=${topic},team/none`, {}, 404, /The topic team\/none does not exist/],
    [`?topics=${topic}`, { origin: "https://evil.example" }, 403, /Origin must be/],
    [`?topics=${topic}`, { "service-api-version": "2020-01-01" }, 400, /Service-Api-Version/],
  ];
  for (const [query, headers, status, detail] of rows) {
    const reply = await ask(query, headers);
    t.match([reply.status, reply.body?.detail], [status, detail], `${query.slice(0, 60)} ${JSON.stringify(headers)}`);
  }
  const stranger = await service.signIn("eve@example.com");
  t.equal((await ask(`?topics=${topic}`, {}, stranger)).status, 404);
  t.equal((await ask(`?topics=${topic}`, {}, service.anonymous)).status, 401);
  t.equal((await ask(`?topics=${topic}`, {}, service.withToken("wrong"))).status, 401);
  t.equal((await ada.request("POST", "/api/stream", {})).status, 405);
  const head = await ada.request("HEAD", `/api/stream?topics=${topic}`);
  t.same([head.status, head.headers["content-type"], head.text], [200, "text/event-stream", ""]);
  const open = opener(t, place);
  await open([topic]);
  const socket = await StreamReader.open(ada);
  t.teardown(async () => socket.end());
  const full = await ask(`?topics=${topic}`);
  t.match([full.status, full.headers["retry-after"]], [429, "5"], "sockets and event streams share the limit");
  await t.rejects(StreamReader.open(ada), /429/);
});

t.test("sockets and event streams share the rate of subscriptions", async (t) => {
  const place = await openWorkplace(t, { clock: new ManualClock() });
  const socket = await StreamReader.open(place.ada);
  t.teardown(async () => socket.end());
  for (let wish = 0; wish < 4_000; wish++) socket.subscribe("team/none");
  await until("all wishes to be answered", () => socket.messages.length === 4_000);
  const refused = await place.ada.request("GET", `/api/stream?topics=team/${place.teamId}`);
  t.match([refused.status, refused.headers["retry-after"]], [429, "1"]);
});

t.test("a refused stream costs nothing, so that clients that try again are admitted", async (t) => {
  const clock = new ManualClock();
  const place = await openWorkplace(t, { clock });
  const open = opener(t, place);
  const topics: string[] = [];
  for (let index = 0; index < 200; index++) topics.push(`task/${await place.open()}`);
  for (let opened = 0; opened < 20; opened++) (await open(topics)).end();
  const all = topics.join(",");
  // Every half second, 100 subscriptions become free again. So every second attempt succeeds.
  const statuses: number[] = [];
  for (let round = 0; round < 4; round++) {
    clock.advance(500);
    const reply = await place.ada.request("HEAD", `/api/stream?topics=${all}`);
    statuses.push(reply.status);
  }
  t.same(statuses, [429, 200, 429, 200]);
});

t.test("a stream ends when its credential does, and the next request says why", async (t) => {
  const clock = new ManualClock();
  const place = await openWorkplace(t, { clock });
  const { ada, service, workspaceId, teamId } = place;
  const open = opener(t, place);
  const tokens = `/api/resources/workspaces/${workspaceId}/tokens`;
  const body = { name: "reader", scopes: ["read"], expiresAt: null };
  const issued = await ada.request("POST", tokens, body, { "idempotency-key": "reader" });
  const holder = service.withToken(issued.headers["service-workspace-token"] ?? "");
  const topics = [`team/${teamId}`];
  const [byToken, bySession] = [await open(topics, undefined, holder), await open(topics)];
  const { id } = await byToken.until(() => true);
  await ada.request("DELETE", `/api/resources/tokens/${issued.body?.id}`, undefined, { "if-match": '"1"' });
  clock.advance(5_000);
  t.equal(await byToken.ended(), true);
  t.match(byToken.others.at(-1), /^: closed: 4401 the credential is not valid/);
  await t.rejects(open(topics, id, holder), /answered 401/);
  await bySession.until(() => true);
  await ada.request("DELETE", "/api/sessions");
  clock.advance(5_000);
  t.equal(await bySession.ended(), true);
});

t.test("a topic that the reader may no longer see ends, and the others continue", async (t) => {
  const place = await openWorkplace(t);
  const gone = await place.ada.create("/api/resources/workspaces", { slug: "gone", name: "Gone" });
  const task = await place.open();
  const reader = await opener(t, place)([`workspace/${gone.id}`, `task/${task}`]);
  await reader.until(({ topic }) => topic === `task/${task}`);
  await place.ada.request("DELETE", `/api/resources/workspaces/${gone.id}`, undefined, { "if-match": '"1"' });
  const end = await reader.until(({ kind }) => kind === "error");
  t.match(end, { event: "topic-error", message: { topic: `workspace/${gone.id}` } });
  await note(place, task, "still here");
  await reader.until(isNote("still here"));
});

t.test("comments keep an idle stream open", async (t) => {
  const clock = new ManualClock();
  const place = await openWorkplace(t, { clock });
  const reader = await opener(t, place)([`team/${place.teamId}`]);
  await reader.until(() => true);
  for (const beats of [1, 2]) {
    clock.advance(15_000);
    await until("a comment", () => reader.others.filter((block) => block === ":").length === beats);
  }
  t.equal(reader.events.length, 1);
});

t.test("an EventSource continues after a restart of the service", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-test-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const place = await openWorkplace(t, { folder });
  const task = await place.open();
  const { cookie = "" } = place.ada.credentials;
  // The restarted service gets a new port, because another process may take the old one in the meantime.
  let origin = place.service.baseUrl;
  const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
    return dispatch({ ...options, origin, headers: { ...options.headers, cookie } as Record<string, string> }, handler);
  });
  const source = new EventSource(`${place.service.baseUrl}/api/stream?topics=task/${task}`, { node: { dispatcher } });
  t.teardown(async () => source.close());
  const seen: unknown[] = [];
  let opens = 0;
  source.onopen = () => {
    opens += 1;
  };
  for (const kind of ["snapshot", "change", "reset", "topic-error"]) {
    source.addEventListener(kind, (event) => {
      const { data, lastEventId } = event as MessageEvent;
      const { kind, data: content } = JSON.parse(data) as StreamMessage;
      seen.push([kind, (content.note as { text?: string } | undefined)?.text, /~/.test(lastEventId)]);
    });
  }
  await until("the state", () => seen.length === 1);
  await note(place, task, "before");
  await until("the change", () => seen.length >= 2);
  await place.service.stop();
  const service = await startTestService(t, { folder });
  origin = service.baseUrl;
  const ada = service.withSession(cookie.replace("session=", ""));
  await ada.request("POST", `/api/tasks/${task}/notes`, { text: "after" });
  await until("the later change", () => seen.some((each) => JSON.stringify(each).includes("after")));
  t.same(
    seen.filter((each) => !JSON.stringify(each).includes("null")),
    [
      ["change", "before", true],
      ["change", "after", true],
    ],
  );
  t.equal(opens, 2);
});
