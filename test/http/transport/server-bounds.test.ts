import t from "tap";
import { z } from "zod";
import { ClientGone } from "../../../http/transport/transport.js";
import { DrivenScheduler, settled } from "../../support/driven-scheduler.js";
import { answering, edge, problem } from "../../support/edge-handlers.js";

t.test("a request whose client went away is counted apart, and is no failure", async (t) => {
  const leaving = new AbortController();
  const lists = answering(async ({ signal }) => {
    leaving.abort(new ClientGone());
    signal.throwIfAborted();
    return { status: 200 };
  });
  const writes = answering(() => ({ status: 200 }), { method: "POST", body: z.unknown() });
  const breaking = new AbortController();
  const breaks = answering(
    () => {
      breaking.abort(new ClientGone());
      throw new Error("canary");
    },
    { path: "/b" },
  );
  const leavingLater = new AbortController();
  const answers = answering(
    () => {
      leavingLater.abort(new ClientGone());
      return Promise.resolve({ status: 200 });
    },
    { path: "/c" },
  );
  const { send, served, failed } = edge([lists, writes, breaks, answers]);
  await send("GET", "/a/1", { signal: leaving.signal });
  await send("POST", "/a/1", { body: new ClientGone() });
  await send("GET", "/b", { signal: breaking.signal });
  await send("GET", "/c", { signal: leavingLater.signal });
  t.same(
    served.map(({ status }) => status),
    [499, 499, 500, 499],
    "a bug is one, whoever sees it",
  );
  t.equal(failed.length, 1);
});

t.test("a request whose client went away while it waited is counted apart", async (t) => {
  const scheduler = new DrivenScheduler();
  let handled = 0;
  const { send, served, passMs } = edge([answering(() => ({ status: 200, body: ++handled }))], scheduler);
  const leaving = new AbortController();
  await send("GET", "/a/1");
  passMs(10);
  const waiting = send("GET", "/a/2", { signal: leaving.signal });
  leaving.abort(new ClientGone());
  while (!scheduler.isIdle) await scheduler.turn();
  await waiting;
  t.same(
    served.map(({ status }) => status),
    [200, 499],
  );
  t.equal(handled, 1);
});

t.test("bodies of requests under way have a bound, and it is told whose they are", async (t) => {
  const ends: (() => void)[] = [];
  const handle = () => new Promise<{ status: number }>((resolve) => ends.push(() => resolve({ status: 200 })));
  const { send, bodies, dropped } = edge([answering(handle, { method: "POST", body: z.unknown() })]);
  const body = JSON.stringify("x".repeat(68));
  const by = (who: string) => ({ body, headers: { "x-who": who } });
  const first = send("POST", "/a/1", by("token"));
  const own = await send("POST", "/a/2", by("token"));
  problem(t, own, 429, "too-many-requests");
  t.equal(own.headers["retry-after"], "1");
  const second = send("POST", "/a/3", by("person"));
  const full = await send("POST", "/a/4", { body });
  problem(t, full, 503, "unavailable");
  t.equal(full.headers["retry-after"], "1");
  t.same(dropped, ["/a/2", "/a/4"], "what is refused is dropped as it comes");
  while (ends.length < 2) await settled();
  t.equal(bodies.bytes, 140, "they are held until they are answered");
  for (const end of ends) end();
  t.same([(await first).status, (await second).status], [200, 200]);
  await settled();
  t.equal(bodies.bytes, 0);
});

t.test("of the room of an address a share takes half, and all together take no more than it has", async (t) => {
  const ends: (() => void)[] = [];
  const handle = () => new Promise<{ status: number }>((resolve) => ends.push(() => resolve({ status: 200 })));
  const audience = ({ id = "" }) => id;
  const { send } = edge([answering(handle, { method: "POST", body: z.unknown(), audience })]);
  const post = async (id: string, bytes: number) =>
    (await send("POST", `/a/${id}`, { body: JSON.stringify("x".repeat(bytes - 2)) })).status;
  const taken = [post("one", 40), post("two", 45)];
  while (ends.length < 2) await settled();
  t.equal(await post("one", 25), 429, "more than half of 120");
  t.equal(await post("three", 40), 429, "more than 120 together");
  for (const end of ends) end();
  t.same(await Promise.all(taken), [200, 200]);
});

t.test("a request that cannot have its turn is refused without its handler", async (t) => {
  const scheduler = new DrivenScheduler();
  let handled = 0;
  const { send, passMs } = edge([answering(() => ({ status: 200, body: ++handled }), { access: "any" })], scheduler);
  const by = { headers: { "x-who": "token" } };
  const first = send("GET", "/a/1", by);
  passMs(10);
  const waiting = Array.from({ length: 1_000 }, () => send("GET", "/a/1", by));
  const crowded = await send("GET", "/a/1", by);
  problem(t, crowded, 429, "too-many-requests");
  t.equal(crowded.headers["retry-after"], "1");
  t.equal((await first).status, 200);
  passMs(60_000);
  while (!scheduler.isIdle) await scheduler.turn();
  for (const answer of await Promise.all(waiting)) {
    t.equal(answer.status, 503);
    t.equal(answer.headers["retry-after"], "5");
  }
  t.equal(handled, 1);
});

t.test("however much one workspace asks for, another's read has its turn among it", async (t) => {
  const scheduler = new DrivenScheduler();
  const slices: string[] = [];
  const long = answering(
    async ({ pause }) => {
      for (let slice = 0; slice < 10; slice++) {
        slices.push("flood");
        await pause();
      }
      return { status: 200 };
    },
    { access: "any" },
  );
  const short = answering(
    () => {
      slices.push("quiet");
      return { status: 200 };
    },
    { path: "/b", access: "any" },
  );
  const { send } = edge([long, short], scheduler);
  const flood = Array.from({ length: 128 }, () => send("GET", "/a/1", { headers: { "x-who": "token" } }));
  for (let time = 0; time < 10; time++) {
    await scheduler.turn();
    const before = slices.length;
    const read = send("GET", "/b", { headers: { "x-who": "person" } });
    while (!slices.slice(before).includes("quiet")) await scheduler.turn();
    t.ok(slices.length - before <= 4, `${slices.length - before} slices until the read was answered`);
    t.equal((await read).status, 200);
  }
  while (!scheduler.isIdle) await scheduler.turn();
  t.equal((await Promise.all(flood)).length, 128);
});

t.test("who waits for a turn is asked for once more when it comes: the credential may have ended", async (t) => {
  const scheduler = new DrivenScheduler();
  const read = answering(({ caller }) => ({ status: 200, body: caller?.kind }), { access: "person" });
  const { send, passMs } = edge([read], scheduler);
  const asked = (who: string) => send("GET", "/a/1", { headers: { "x-who": who } });
  t.equal((await asked("leaving")).status, 200, "nothing is waited for");
  passMs(10);
  const [stays, leaves] = [asked("person"), asked("leaving")];
  while (!scheduler.isIdle) await scheduler.turn();
  t.equal((await stays).status, 200);
  problem(t, await leaves, 401, "unauthenticated");
});
