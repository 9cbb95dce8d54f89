import t from "tap";
import { address } from "../../../runtime/cells/address.js";
import { DeadLetterLimit, MAX_DEAD_LETTERS } from "../../../runtime/messages/dead-letter-limit.js";
import { deadLetterKey, deadLetterPut } from "../../../runtime/messages/dead-letters.js";
import { createMemoryStore } from "../../../storage/memory-store.js";

t.test("a partition keeps its latest dead letters, and others theirs", async (t) => {
  const store = createMemoryStore();
  const limit = new DeadLetterLimit(store.reading);
  const set = async (partition: string, n: number) => {
    const letter = {
      id: `dead_${10_000 + n}`,
      to: address(partition, "desk", "1"),
      message: { type: "x" },
      error: "",
      atMs: 0,
    };
    await store.commit([...limit.evictOldest({ partition }), deadLetterPut(letter)]);
  };
  const listIds = (partition: string) => store.reading.range({ prefix: [partition, "dead"] }).map(({ key }) => key[2]);
  for (let n = 0; n < MAX_DEAD_LETTERS + 1; n++) await set("ws_1", n);
  await set("ws_2", 0);
  t.equal(listIds("ws_1").length, MAX_DEAD_LETTERS - 99);
  t.equal(listIds("ws_1").at(-1), `dead_${10_000 + MAX_DEAD_LETTERS}`);
  t.same(listIds("ws_2"), ["dead_10000"]);
  const retried = listIds("ws_1").slice(0, 500);
  await store.commit(retried.map((id) => ({ op: "remove", key: deadLetterKey("ws_1", String(id)) })));
  for (let n = 2_000; n < 2_150; n++) await set("ws_1", n);
  t.equal(listIds("ws_1").length, MAX_DEAD_LETTERS - 99 - 500 + 150, "those that were retried make room themselves");
});
