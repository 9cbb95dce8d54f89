import { once } from "node:events";
import t from "tap";
import { ManualClock } from "../../support/manual-clock.js";
import { bearer, toSlug, workspaceWithTeam } from "../../support/resources.js";
import { type Client, type Reply, startTestService } from "../../support/service.js";

const me = "/api/sessions/me";

/** Sends requests until the service rate-limits a request. Fails if `most` requests were not rate-limited. */
async function untilCrowded(client: Client, path: string, most: number, headers: Record<string, string> = {}) {
  for (let count = 0; count <= most; count++) {
    const reply = await client.request("GET", path, undefined, headers);
    if (reply.status === 429) return { count, reply };
  }
  throw new Error(`never refused in ${most} requests`);
}

function isProblem(reply: Reply): boolean {
  return (
    toSlug(reply) === "too-many-requests" &&
    reply.headers["content-type"] === "application/problem+json" &&
    /^\d+$/.test(reply.headers["retry-after"] ?? "") &&
    reply.body?.status === 429
  );
}

t.test("a credential over its rate is told to wait, alone, and admitted afterwards", async (t) => {
  const clock = new ManualClock();
  const service = await startTestService(t, { clock, settings: { RATE_PER_CREDENTIAL: "2", RATE_PER_ADDRESS: "0" } });
  const ada = await service.signIn("ada@example.com");
  const bob = await service.signIn("bob@example.com");
  const adaElsewhere = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const token = await bearer(service, ada, { workspaceId, name: "ci", scopes: ["read"] });
  const { count, reply } = await untilCrowded(ada, me, 20);
  t.equal(count, 17, "ten seconds' worth at once, three of which made the workspace");
  t.ok(isProblem(reply), reply.text);
  t.equal(reply.headers["retry-after"], "1");
  t.equal((await adaElsewhere.request("GET", me)).status, 429, "another session of the same person is the same");
  t.equal((await bob.request("GET", me)).status, 200);
  t.equal((await token.request("GET", `/api/resources/workspaces/${workspaceId}`)).status, 200);
  clock.advance(1_000);
  t.equal((await ada.request("GET", me)).status, 200);
});

t.test(
  "an address over its rate without a credential is told to wait; credentials and health are not affected",
  async (t) => {
    const clock = new ManualClock();
    const service = await startTestService(t, { clock, settings: { RATE_PER_ADDRESS: "3" } });
    const ada = await service.signIn("ada@example.com");
    clock.advance(10_000);
    const { count, reply } = await untilCrowded(service.anonymous, "/no/such/path", 40);
    t.equal(count, 30);
    t.ok(isProblem(reply), reply.text);
    t.equal((await service.anonymous.request("POST", "/api/sign-in", { email: "a@example.com" })).status, 429);
    t.equal((await ada.request("GET", me)).status, 200);
    t.equal((await service.withToken("guess").request("GET", me)).status, 429, "a wrong one is none");
    const socket = service.anonymous.socket("/api/stream");
    const [error] = (await once(socket, "error")) as [Error];
    t.match(error.message, /429/);
    for (const path of ["/healthz", "/readyz"]) {
      for (let times = 0; times < 50; times++) t.equal((await service.anonymous.request("GET", path)).status, 200);
    }
    clock.advance(10_000);
    t.equal((await service.anonymous.request("GET", "/no/such/path")).status, 404);
  },
);

t.test("refused credentials are counted for their address, and good ones from there still admitted", async (t) => {
  const clock = new ManualClock();
  const service = await startTestService(t, { clock, settings: { RATE_OF_FAILURES: "6" } });
  const ada = await service.signIn("ada@example.com");
  for (let guess = 0; guess < 6; guess++) {
    t.equal((await service.withToken(`guess-${guess}`).request("GET", me)).status, 401);
  }
  const refused = await service.withToken("one-more").request("GET", me);
  t.ok(isProblem(refused), refused.text);
  t.equal(refused.headers["retry-after"], "10");
  t.equal((await service.anonymous.request("POST", "/api/sessions", { token: "guessed" })).status, 429);
  const [error] = (await once(service.withToken("guess").socket("/api/runner"), "error")) as [Error];
  t.match(error.message, /429/);
  t.equal((await ada.request("GET", me)).status, 200);
  clock.advance(10_000);
  t.equal((await service.withToken("another").request("GET", me)).status, 401);
});

t.test("behind a trusted proxy each client is counted for itself, and no client can choose its address", async (t) => {
  const settings = { RATE_PER_ADDRESS: "1", TRUSTED_PROXIES: "127.0.0.1" };
  const service = await startTestService(t, { clock: new ManualClock(), settings });
  const from = (forwarded: string) => ({ "x-forwarded-for": forwarded });
  const { count } = await untilCrowded(service.anonymous, "/nothing", 20, from("203.0.113.1"));
  t.equal(count, 10);
  const ask = (forwarded: string) => service.anonymous.request("GET", "/nothing", undefined, from(forwarded));
  t.equal((await ask("203.0.113.2")).status, 404);
  t.equal((await ask("203.0.113.9, 203.0.113.1")).status, 429, "what stands before the last is the client's word");
  const direct = await startTestService(t, { clock: new ManualClock(), settings: { RATE_PER_ADDRESS: "1" } });
  for (let times = 0; times < 10; times++) {
    await direct.anonymous.request("GET", "/nothing", undefined, from(`203.0.113.${times}`));
  }
  const other = await direct.anonymous.request("GET", "/nothing", undefined, from("203.0.113.77"));
  t.equal(other.status, 429, "without one the header is not believed");
});

t.test("one person holds so many sockets open, and one more when one is closed", async (t) => {
  const service = await startTestService(t, { settings: { SOCKETS_PER_CREDENTIAL: "2" } });
  const ada = await service.signIn("ada@example.com");
  const bob = await service.signIn("bob@example.com");
  const opened = async (client: Client) => {
    const socket = client.socket("/api/stream");
    const said = await new Promise<string>((resolve) => {
      socket.once("open", () => resolve("open")).once("error", (error) => resolve(error.message));
    });
    return { socket, said };
  };
  const first = await opened(ada);
  const second = await opened(ada);
  t.same([first.said, second.said], ["open", "open"]);
  t.match((await opened(ada)).said, /429/);
  t.equal((await opened(bob)).said, "open");
  first.socket.close();
  await once(first.socket, "close");
  t.equal((await opened(ada)).said, "open");
});
