import t from "tap";
import { createSignalCounter } from "../../../http/wire/end-signals.js";

t.test("signals of one name within half a second are one request to end, and so are both names at once", async (t) => {
  let now = 0;
  const count = createSignalCounter(() => now);
  t.equal(count("SIGTERM"), 1);
  for (const [atMs, name] of [
    [0, "SIGINT"],
    [99, "SIGINT"],
    [499, "SIGTERM"],
  ] as const) {
    now = atMs;
    t.equal(count(name), null, `${name} after ${atMs} ms`);
  }
  t.equal(count("SIGINT"), 2, "another name, later");
  t.equal(count("SIGTERM"), null, "at once with that one");
  now = 599;
  t.equal(count("SIGTERM"), 3);
  now = 1_099;
  t.equal(count("SIGTERM"), 4);
});
