import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { readNameConfiguration } from "../../../../actors/outbound/http/name-configuration.js";
import { createAsk, createResolve } from "../../../../actors/outbound/http/name-resolution.js";
import { nameServer } from "../../../support/name-server.js";

const never = new Promise<never>(() => undefined);
const failure = (code: string) => Object.assign(new Error(code), { code });

/** Creates a resolver over these answers of name servers, by name; other names are unknown. */
function resolving(answers: Readonly<Record<string, (family: 4 | 6) => Promise<readonly string[]>>>) {
  const system: { readonly host: string; answer(addresses: readonly string[]): void }[] = [];
  const resolve = createResolve({
    configuration: { hosted: () => [], candidates: (host) => [host] },
    ask: (host, family) => answers[host]?.(family) ?? Promise.reject(failure("ENOTFOUND")),
    askSystem: (host) => new Promise((answer) => system.push({ host, answer })),
  });
  return { resolve, system };
}

t.test("name servers are asked for both kinds of addresses; IPv4 comes first, and one kind is enough", async (t) => {
  const { resolve, system } = resolving({
    "both.example": async (family) => (family === 4 ? ["192.0.2.1"] : ["2001:db8::1"]),
    "six.example": async (family) => (family === 4 ? Promise.reject(failure("ENODATA")) : ["2001:db8::2"]),
  });
  t.same(await resolve("both.example"), ["192.0.2.1", "2001:db8::1"]);
  t.same(await resolve("six.example"), ["2001:db8::2"]);
  t.equal(system.length, 0);
});

t.test(
  "the system is asked for names of the machine's network that name servers do not know, and no others",
  async (t) => {
    const { resolve, system } = resolving({});
    const found = [resolve("localhost"), resolve("printer.local")];
    await t.rejects(resolve("here.internal"), { code: "ENOTFOUND" });
    t.same(
      system.map(({ host }) => host),
      ["localhost", "printer.local"],
    );
    for (const { answer } of system) answer(["127.0.0.1"]);
    t.same(await Promise.all(found), [["127.0.0.1"], ["127.0.0.1"]]);
  },
);

t.test("names whose servers do not answer hold up no other, and are not asked of the system", async (t) => {
  const { resolve, system } = resolving({
    "hangs.example": () => never,
    "late.example": () => Promise.reject(failure("ETIMEOUT")),
    "quick.example": async () => ["192.0.2.1"],
  });
  for (let n = 0; n < 100; n++) void resolve("hangs.example");
  t.match(await resolve("quick.example"), ["192.0.2.1"]);
  await t.rejects(resolve("late.example"), { code: "ETIMEOUT" });
  t.equal(system.length, 0);
});

t.test("two names at once are asked of the system, the others in turn, one name once for all who wait", async (t) => {
  const { resolve, system } = resolving({});
  const settle = () => new Promise((done) => setImmediate(done));
  const found = ["a", "a", "b", "c", "a"].map((host) => resolve(host));
  await settle();
  t.same(
    system.map(({ host }) => host),
    ["a", "b"],
  );
  for (let n = 0; n < 3; n++) {
    system[n]?.answer([`192.0.2.${n}`]);
    await settle();
    await settle();
  }
  t.same(
    await Promise.all(found),
    [0, 0, 1, 2, 0].map((n) => [`192.0.2.${n}`]),
  );
  t.equal(system.length, 3);
  void resolve("a");
  await settle();
  t.equal(system.length, 4, "and asked anew by who comes later");
});

t.test("a name with an address of the kind that is used waits no longer than a moment for the other", async (t) => {
  const { resolve } = resolving({
    "half.example": (family) => (family === 4 ? Promise.resolve(["192.0.2.1"]) : never),
  });
  const begun = performance.now();
  t.same(await resolve("half.example"), ["192.0.2.1"]);
  t.ok(performance.now() - begun < 2_000);
});

t.test("on a machine with IPv6 alone those addresses come first", async (t) => {
  const resolve = createResolve({
    configuration: { hosted: () => [], candidates: (host) => [host] },
    ask: async (_host, family) => (family === 4 ? ["192.0.2.1"] : ["2001:db8::1"]),
    askSystem: async () => [],
    usedKind: () => 6,
  });
  t.same(await resolve("both.example"), ["2001:db8::1", "192.0.2.1"]);
});

/** Creates a resolver over the test's own name servers and files; it never asks the system. */
function machine(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-names-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const paths = { hosts: join(folder, "hosts"), resolver: join(folder, "resolv.conf") };
  const configuration = readNameConfiguration(paths);
  const askSystem = (host: string) => Promise.reject(new Error(`${host} was asked of the system`));
  return { ...paths, resolve: createResolve({ configuration, ask: createAsk(configuration), askSystem }) };
}

t.test("the hosts file comes before name servers, and is read again when it changes", async (t) => {
  const server = await nameServer(t, { "here.example": "192.0.2.1" });
  const { hosts, resolver, resolve } = machine(t);
  writeFileSync(resolver, `nameserver ${server.address}\n`);
  t.same(await resolve("here.example"), ["192.0.2.1"]);
  writeFileSync(hosts, "# ours\n::1 here.example\n10.0.0.7 other Here.example # this\nnonsense here.example\n");
  server.asked.length = 0;
  t.same(await resolve("here.example"), ["10.0.0.7", "::1"]);
  t.same(await resolve("other"), ["10.0.0.7"]);
  t.same(server.asked, []);
  rmSync(hosts);
  t.same(await resolve("other"), ["10.0.0.7"], "a file that is being replaced");
  writeFileSync(hosts, "");
  t.same(await resolve("here.example"), ["192.0.2.1"]);
});

t.test("another name server is asked as soon as resolv.conf says so", async (t) => {
  const [one, other] = [
    await nameServer(t, { "here.example": "192.0.2.1" }),
    await nameServer(t, { "here.example": "192.0.2.2" }),
  ];
  const { resolver, resolve } = machine(t);
  writeFileSync(resolver, `nameserver ${one.address}\n`);
  t.same(await resolve("here.example"), ["192.0.2.1"]);
  writeFileSync(resolver, `; changed\nnameserver ${other.address}\n`);
  t.same(await resolve("here.example"), ["192.0.2.2"]);
  t.equal(one.asked.length, 2, "once for each kind of address");
});

t.test("one look-up of a name serves all who wait for it", async (t) => {
  const server = await nameServer(t, { "here.example": "192.0.2.1" });
  const { resolver, resolve } = machine(t);
  writeFileSync(resolver, `nameserver ${server.address}\n`);
  const found = await Promise.all(Array.from({ length: 100 }, () => resolve("here.example")));
  t.ok(found.every(([address]) => address === "192.0.2.1"));
  t.equal(server.asked.length, 2, "once for each kind of address");
});

t.test("the search list is gone through as resolv.conf says, before or after the name itself", async (t) => {
  const server = await nameServer(t, {
    "build.team.internal": "10.0.0.1",
    "build.corp.internal": "10.0.0.2",
    "api.tools.team.internal": "10.0.0.3",
    "api.tools": "10.0.0.4",
  });
  const { resolver, resolve } = machine(t);
  const write = (options: string) =>
    writeFileSync(resolver, `nameserver ${server.address}\nsearch nowhere.internal team.internal.\n${options}\n`);
  write("");
  t.same([await resolve("build"), await resolve("api.tools")], [["10.0.0.1"], ["10.0.0.4"]]);
  write("options timeout:1 ndots:5");
  t.same(await resolve("api.tools"), ["10.0.0.3"]);
  await t.rejects(resolve("un.known"), { code: "ENOTFOUND" });
});

t.test("a name whose server does not answer holds up no other, and no thread", async (t) => {
  const server = await nameServer(t, { "hangs.example": "never", "quick.example": "192.0.2.1" });
  const { resolver, resolve } = machine(t);
  writeFileSync(resolver, `nameserver ${server.address}\n`);
  const hanging = Array.from({ length: 50 }, () => resolve("hangs.example").catch(() => undefined));
  t.same(await resolve("quick.example"), ["192.0.2.1"]);
  t.equal(server.asked.filter((name) => name === "hangs.example").length, 2);
  t.equal(hanging.length, 50);
});
