import t from "tap";
import { asItShould, until } from "../../../http/demo/until.js";

const { signal } = new AbortController();

t.test("the wait ends when its condition holds", async (t) => {
  const states = ["it is opening", "it is running"];
  await until("the search", async () => states.shift() ?? null, signal);
  t.same(states, []);
});

t.test("on timeout the error names the wait and its last state", async (t) => {
  const states = ["it is opening"];
  const missing = async () => states.shift() ?? "it is running";
  await t.rejects(until("the search", missing, signal, 60), {
    message: "the search: not done after 0.001 minutes: it is running",
  });
});

t.test("a signal ends the wait with its reason", async (t) => {
  const ended = AbortSignal.abort(new Error("Ctrl+C"));
  await t.rejects(
    until("it", async () => "it is not", ended),
    { message: "Ctrl+C" },
  );
});

t.test("the error for an unexpected result names the part", async (t) => {
  t.equal(asItShould("the search", "its best"), "its best");
  for (const other of [null, false]) t.throws(() => asItShould("the search", other), { message: /^the search: / });
});
