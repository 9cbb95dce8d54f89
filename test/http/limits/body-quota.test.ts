import t from "tap";
import { BodyQuota } from "../../../http/limits/body-quota.js";

const KIB = 1024;
const small = { bytes: 400 * KIB, keptBytes: 100 * KIB, bytesPerClient: 200 * KIB };
const long = { bytes: 1_000 * KIB, keptBytes: 300 * KIB, bytesPerClient: 400 * KIB };

/** Returns a memory quota for bodies, and a function that reserves bytes of this quota for a client. */
function arrange() {
  const room = new BodyQuota(small, long);
  const take = (client: string, kib: number) => {
    const body = room.enter(client);
    return { crowd: body.hold(kib * KIB), ...body };
  };
  return { room, take };
}

t.test("a client's bodies have a bound, and room comes back with their ends", async (t) => {
  const { take, room } = arrange();
  const first = take("a", 200);
  t.same([first.crowd, take("a", 200).crowd, take("a", 100).crowd], [null, null, "client"]);
  t.equal(take("b", 300).crowd, null, "another has its own");
  first.end();
  first.end();
  t.equal(room.bytes, 500 * KIB, "once each");
  t.equal(take("a", 200).crowd, null);
});

t.test("whatever clients that hold some hang on to, some is kept for those that hold none", async (t) => {
  const { take } = arrange();
  t.same([take("a", 350).crowd, take("b", 350).crowd], [null, null]);
  t.same([take("a", 70).crowd, take("b", 70).crowd], ["client", "client"]);
  const { take: read } = arrange();
  for (const client of ["a", "b", "c"]) t.equal(read(client, 230).crowd, null);
  t.equal(read("a", 100).crowd, "process", "only what is kept is left");
  t.equal(read("d", 300).crowd, null);
  t.equal(read("e", 100).crowd, "process");
});

t.test("however many long bodies are under way, small ones pass", async (t) => {
  const { take } = arrange();
  for (const client of ["a", "b", "c"]) take(client, 330);
  for (const client of ["a", "b", "c", "d"]) t.equal(take(client, 64).crowd, null);
  t.same([take("a", 64).crowd, take("a", 64).crowd, take("a", 64).crowd], ["process", "process", "process"]);
  t.equal(take("e", 64).crowd, null, "up to a bound of their own");
});

t.test("a body that grows gives back what it held, also when it is refused", async (t) => {
  const { room, take } = arrange();
  const body = take("a", 4);
  t.equal(body.hold(64 * KIB), null);
  t.equal(room.bytes, 64 * KIB);
  t.equal(body.hold(400 * KIB), null, "it is a long one now");
  t.equal(room.bytes, 400 * KIB);
  t.equal(body.hold(401 * KIB), "client");
  t.equal(room.bytes, 0);
  body.end();
  t.equal(room.bytes, 0);
  t.equal(take("a", 0).crowd, null);
});
