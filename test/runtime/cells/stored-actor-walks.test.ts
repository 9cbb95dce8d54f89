import t from "tap";
import { rewriteInputs, rewriteMessages, rewriteStates } from "../../../runtime/cells/stored-actor-walks.js";
import type { Entry } from "../../../storage/store.js";
import { stepped } from "../../support/migrating.js";

const ws = "ws_1";
const state = (count: number) => ({ value: "counting", context: { count } });
const named = (count: number) => ({ value: "counting", context: { number: count } });

const isOld = (context: unknown): context is { readonly count: number } =>
  typeof context === "object" && context !== null && "count" in context;

const entries: readonly Entry[] = [
  { key: [ws, "actor", "counter", "a"], value: { version: 1, state: state(1), timers: { ring: 5 } } },
  { key: [ws, "actor", "counter", "b"], value: { version: 1, restingUntilMs: 7 } },
  { key: [ws, "actor", "other", "a"], value: { version: 1, state: state(1) } },
  {
    key: [ws, "dead", "dead_1"],
    value: { kind: "counter", actor: "a", message: { type: "add", by: 1 }, error: "", atMs: 0 },
  },
  {
    key: [ws, "dead", "dead_2"],
    value: { kind: "other", actor: "a", message: { type: "add", by: 1 }, error: "", atMs: 0 },
  },
  {
    key: [ws, "effect", "counter", "c", "1"],
    value: { name: "tell", input: 3, actor: { version: 1, state: state(3) } },
  },
  { key: [ws, "effect", "counter", "c", "2"], value: { name: "mail", input: 4 } },
  { key: [ws, "mail", "counter", "a", 9], value: { message: { type: "add", by: 2 } } },
  { key: [ws, "mail", "other", "a", 9], value: { message: { type: "add", by: 2 } } },
  { key: ["~", "actor", "counter", "a"], value: { version: 1, state: state(1) } },
];

/** Returns the new values of the entries that the walks changed, by key. */
async function changed(walks: Parameters<typeof stepped>[0]["walks"]): Promise<Record<string, unknown>> {
  const step = { to: 2, title: "rewritten", walks };
  const after = await stepped(step, entries);
  t.same(await stepped(step, after), after, "taken again, it changes nothing");
  t.same(
    after.map(({ key }) => key),
    entries.map(({ key }) => key),
  );
  const before = new Map(entries.map(({ key, value }) => [key.join("/"), JSON.stringify(value)]));
  const differ = after.filter(({ key, value }) => before.get(key.join("/")) !== JSON.stringify(value));
  return Object.fromEntries(differ.map(({ key, value }) => [key.join("/"), value]));
}

t.test(
  "states are rewritten where an actor is stored and where it lies in its effect's row, and nowhere else",
  async (t) => {
    const walks = rewriteStates("counter", (stored) =>
      isOld(stored.context) ? { ...stored, context: { number: stored.context.count } } : stored,
    );
    t.same(await changed(walks), {
      "ws_1/actor/counter/a": { version: 1, state: named(1), timers: { ring: 5 } },
      "ws_1/effect/counter/c/1": { name: "tell", input: 3, actor: { version: 1, state: named(3) } },
    });
  },
);

t.test("messages are rewritten where they wait to be delivered and where they were set aside", async (t) => {
  const walks = rewriteMessages("counter", (message, { id }) =>
    message.type === "add" ? Object.assign({ type: "count" }, { id }) : message,
  );
  t.same(await changed(walks), {
    "ws_1/dead/dead_1": { kind: "counter", actor: "a", message: { type: "count", id: "a" }, error: "", atMs: 0 },
    "ws_1/mail/counter/a/9": { message: { type: "count", id: "a" } },
  });
});

t.test("inputs of pending effects are rewritten by their name", async (t) => {
  const walk = rewriteInputs({ kind: "counter", effect: "tell" }, (input, { id }) =>
    input === 3 ? { to: id } : input,
  );
  t.same(await changed([walk]), {
    "ws_1/effect/counter/c/1": { name: "tell", input: { to: "c" }, actor: { version: 1, state: state(3) } },
  });
});
