import t from "tap";
import {
  type AssignedRequest,
  type NetworkFailure,
  type NetworkHost,
  NetworkRequests,
} from "../../../../actors/outbound/http/network-requests.js";
import { ManualClock } from "../../../support/manual-clock.js";

const url = new URL("http://build.internal/hook");
const answer = { status: 200, body: "", retryAfter: null };

class Host implements NetworkHost {
  readonly handed: AssignedRequest[] = [];
  isFull = false;
  /** Number of requests that this host was asked to send. */
  asked = 0;

  constructor(readonly workspaceId: string) {}

  send(request: AssignedRequest): boolean {
    this.asked += 1;
    if (!this.isFull) this.handed.push(request);
    return !this.isFull;
  }
}

function arrange() {
  const clock = new ManualClock();
  const network = new NetworkRequests(clock);
  const post = (workspaceId = "ws_1", signal = new AbortController().signal) => {
    const request = { url, headers: {}, body: "{}", timeoutMs: 1_000, signal };
    return network.post(workspaceId, request).catch((error: unknown) => error as NetworkFailure);
  };
  const join = (workspaceId = "ws_1") => {
    const host = new Host(workspaceId);
    network.join(host);
    return host;
  };
  return { clock, network, post, join };
}

t.test("a request goes to the host of its workspace that has the fewest, and its answer comes back", async (t) => {
  const { network, post, join } = arrange();
  const [one, other, foreign] = [join(), join(), join("ws_2")];
  const answers = [post(), post(), post(), post()];
  t.same([one.handed.length, other.handed.length, foreign.handed.length], [2, 2, 0]);
  t.match(one.handed[0], { url: url.href, body: "{}", timeoutMs: 1_000 });
  for (const host of [one, other]) {
    for (const { id } of host.handed) network.answered(host, id, { ok: true, answer });
  }
  t.same(await Promise.all(answers), [answer, answer, answer, answer]);
});

t.test("without a host a request waits for one until its time limit, and then has the rest of its time", async (t) => {
  const { clock, post, join } = arrange();
  const late = post();
  clock.advance(600);
  const next = post();
  clock.advance(400);
  t.match(await late, { code: "unreachable", message: "no host of the workspace took the request in time" });
  const host = join();
  t.match(host.handed, [{ timeoutMs: 600 }]);
  clock.advance(600);
  t.match(await next, { code: "unreachable", message: "there was no response in the time left" });
});

t.test("a host that disconnects fails its requests; a busy host is skipped", async (t) => {
  const { network, post, join } = arrange();
  const full = join();
  full.isFull = true;
  const host = join();
  const had = post();
  t.same([full.handed.length, host.handed.length], [0, 1]);
  network.leave(host);
  t.match(await had, { code: "unreachable", message: /disconnected/ });
  network.answered(host, host.handed[0]?.id ?? "", { ok: true, answer });
  t.equal(full.handed.length, 0, "and it is not handed to another");
});

t.test("a host's result counts only for its own requests, and a failure keeps its code", async (t) => {
  const { network, post, join } = arrange();
  const [one, other] = [join(), join("ws_2")];
  const asked = post();
  const id = one.handed[0]?.id ?? "";
  network.answered(other, id, { ok: true, answer });
  network.answered(one, "req-none", { ok: true, answer });
  network.answered(one, id, { ok: false, code: "not-allowed", reason: "holds credentials" });
  network.answered(one, id, { ok: true, answer });
  t.match(await asked, { code: "not-allowed", message: "holds credentials" });
});

t.test(
  "a host has 64 requests at once, a thousand wait, and further ones are refused until there is room",
  async (t) => {
    const { network, post, join } = arrange();
    const host = join();
    const first = Array.from({ length: 64 + 1_000 }, () => post());
    t.equal(host.handed.length, 64);
    t.match(await post(), { code: "unreachable", message: /too many/ });
    const asOther = post("ws_2");
    t.equal(first.length, 1_064);
    network.answered(host, host.handed[0]?.id ?? "", { ok: true, answer });
    t.equal(host.handed.length, 65);
    t.same(await first[0], answer);
    join("ws_2");
    t.ok(asOther);
  },
);

t.test("a cancelled request is removed, also before it is sent", async (t) => {
  const { post, join } = arrange();
  const giving = new AbortController();
  const waiting = post("ws_1", giving.signal);
  giving.abort();
  t.match(await waiting, { message: /cancelled/ });
  t.match(await post("ws_1", giving.signal), { message: /cancelled/ });
  t.equal(join().handed.length, 0);
});

t.test("with 10,000 requests waiting, a step asks no host of another workspace", async (t) => {
  const { network, post, join } = arrange();
  const hosts = Array.from({ length: 10 }, (_, n) => join(`ws_${n}`));
  for (const host of hosts) host.isFull = true;
  const beside = join("ws_0");
  beside.isFull = true;
  for (let n = 0; n < 10_000; n++) void post(`ws_${n % 10}`);
  const asked = () => hosts.map((host) => host.asked);
  const before = asked();
  void post("ws_0");
  const quiet = join("quiet");
  void post("quiet");
  t.equal(quiet.handed.length, 1);
  network.answered(quiet, quiet.handed[0]?.id ?? "", { ok: true, answer });
  t.same(asked(), before, "those of ws_0 are too many already: none is asked");
  const late = join("ws_0");
  t.equal(late.handed.length, 64, "and one that comes has its places at once");
  network.answered(late, late.handed[0]?.id ?? "", { ok: true, answer });
  t.equal(late.handed.length, 65);
  t.same(asked().slice(1), before.slice(1), "no host of another workspace is asked");
});
