import t from "tap";
import { createResolve } from "../../../actors/outbound/name-resolution.js";

const never = new Promise<never>(() => undefined);
const failure = (code: string) => Object.assign(new Error(code), { code });

/** Answers of name servers by name; a name without one is not known to them. */
function resolving(answers: Readonly<Record<string, (family: 4 | 6) => Promise<readonly string[]>>>) {
  const system: { readonly host: string; answer(addresses: readonly string[]): void }[] = [];
  const resolve = createResolve({
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

t.test("the system is asked for names without a dot, and for those that name servers do not know", async (t) => {
  const { resolve, system } = resolving({});
  const found = [resolve("localhost"), resolve("here.internal")];
  await new Promise((done) => setImmediate(done));
  t.same(
    system.map(({ host }) => host),
    ["localhost", "here.internal"],
  );
  for (const { answer } of system) answer(["127.0.0.1"]);
  t.same(await Promise.all(found), [["127.0.0.1"], ["127.0.0.1"]]);
});

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

t.test("two names at once are asked of the system, the others in turn, one name not twice at once", async (t) => {
  const { resolve, system } = resolving({});
  const found = ["a", "a", "b", "c"].map((host) => resolve(host));
  await new Promise((done) => setImmediate(done));
  t.same(
    system.map(({ host }) => host),
    ["a", "b"],
  );
  for (let n = 0; n < 4; n++) {
    system[n]?.answer([`192.0.2.${n}`]);
    await new Promise((done) => setImmediate(done));
    await new Promise((done) => setImmediate(done));
  }
  t.equal((await Promise.all(found)).length, 4);
  t.equal(system.length, 4);
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
    ask: async (_host, family) => (family === 4 ? ["192.0.2.1"] : ["2001:db8::1"]),
    askSystem: async () => [],
    usedKind: () => 6,
  });
  t.same(await resolve("both.example"), ["2001:db8::1", "192.0.2.1"]);
});
