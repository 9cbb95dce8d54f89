import t from "tap";
import { createSignalCounter } from "../../../http/process/end-signals.js";

t.test("signals of one name within half a second are one asking, others are askings of their own", async (t) => {
  let now = 0;
  const count = createSignalCounter(() => now);
  t.equal(count("SIGTERM"), 1);
  now = 499;
  t.equal(count("SIGTERM"), null);
  t.equal(count("SIGINT"), 2);
  t.equal(count("SIGTERM"), 3);
  now = 1_000;
  t.equal(count("SIGTERM"), 4);
});
