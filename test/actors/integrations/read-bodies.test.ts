import t from "tap";
import { ReadBodies } from "../../../actors/integrations/read-bodies.js";
import { readReceivedBody } from "../../../actors/integrations/received-body.js";

const KIB = 1024;

/**
 * Returns the body cache (`bodies`) and two functions. `of` describes a body of this many bytes under a digest, and
 * `times` returns the number of parsed bodies.
 */
function open() {
  let times = 0;
  const bodies = new ReadBodies((bytes, contentType) => {
    times += 1;
    return readReceivedBody(bytes, contentType);
  });
  const read = (digest: string, length: number, contentType?: string) => {
    const bytes = Buffer.from(JSON.stringify("x".repeat(length - 2)));
    return { workspaceId: "ws_1", digest, bytes, contentType };
  };
  return { bodies, of: read, times: () => times };
}

t.test("a long body is read once while its delivery is worked, a short one each time", (t) => {
  const { bodies, of: read, times } = open();
  const long = read("long", 100 * KIB);
  t.equal(bodies.read(long).body, "x".repeat(100 * KIB - 2));
  t.equal(bodies.read({ ...long }), bodies.read(long));
  t.equal(times(), 1);
  bodies.forget(long);
  bodies.read(long);
  t.equal(times(), 2, "when it is over it is forgotten");
  const short = read("short", KIB);
  bodies.read(short);
  bodies.read(short);
  t.equal(times(), 4);
  t.end();
});

t.test("the same bytes of another type or another workspace are another body", (t) => {
  const { bodies, of: read, times } = open();
  const plain = read("one", 100 * KIB);
  bodies.read(plain);
  const form = bodies.read({ ...plain, contentType: "application/x-www-form-urlencoded" });
  t.ok(form.body instanceof Map, "the fields of a form");
  bodies.read({ ...plain, workspaceId: "ws_2" });
  t.equal(times(), 3);
  t.end();
});

t.test("those used last are remembered, six megabytes together", (t) => {
  const { bodies, of: read, times } = open();
  const [first, second, third] = [read("1", 2_900 * KIB), read("2", 2_900 * KIB), read("3", 2_900 * KIB)];
  for (const body of [first, second, first, third]) bodies.read(body);
  t.equal(times(), 3);
  bodies.read(first);
  bodies.read(third);
  t.equal(times(), 3);
  bodies.read(second);
  t.equal(times(), 4, "the one that was used longest ago was displaced");
  const huge = read("huge", 7 * KIB * KIB);
  bodies.read(huge);
  bodies.read(huge);
  t.equal(times(), 6, "what is longer than all is never remembered");
  bodies.read(second);
  t.equal(times(), 6);
  t.end();
});
