import t from "tap";
import { asItShould, until } from "../../../http/demo/until.js";

const { signal } = new AbortController();

t.test("what holds at last ends the wait", async (t) => {
  const states = ["it is opening", "it is running"];
  await until("the search was not over", async () => states.shift() ?? null, signal);
  t.same(states, []);
});

t.test("when the time is over it says what was waited for, and how that stood at last", async (t) => {
  const states = ["it is opening"];
  const missing = async () => states.shift() ?? "it is running";
  await t.rejects(until("the search was not over", missing, signal, 60), {
    message: "the search was not over within 0.001 minutes: it is running",
  });
});

t.test("a signal ends the wait with its reason", async (t) => {
  const ended = AbortSignal.abort(new Error("Ctrl+C"));
  await t.rejects(
    until("it", async () => "it is not", ended),
    { message: "Ctrl+C" },
  );
});

t.test("a part that came out otherwise is named", async (t) => {
  t.equal(asItShould("the search", "its best"), "its best");
  for (const other of [null, false]) t.throws(() => asItShould("the search", other), { message: /^the search: / });
});
