import t from "tap";
import type { NewDelivery } from "../../../actors/integration-work/deliveries/delivery.js";
import type { DeliveryTaken } from "../../../actors/integration-work/deliveries/delivery.messages.js";
import { ArrivingDeliveries } from "../../../http/integration-work/arriving-deliveries.js";
import { Overloaded, Stopping, TurnFailed } from "../../../runtime/runtime.js";

const toDelivery = (key: string, integrationId = "int"): NewDelivery => ({
  integrationId,
  teamId: "team",
  source: "webhook",
  block: "webhook",
  key,
  headers: {},
  cursor: null,
  causes: [],
  redeliveryOf: null,
  body: new Uint8Array(),
});
const round = () => new Promise((resolve) => setImmediate(resolve));

/** Returns an intake that accepts a message when the test says so, and fails messages with the key `bad`. */
function intake(failure: Error = new TurnFailed("bad")) {
  const arriving = new ArrivingDeliveries();
  const taken: string[][] = [];
  const open: (() => void)[] = [];
  const take = async (deliveries: readonly NewDelivery[]): Promise<readonly DeliveryTaken[]> => {
    const keys = deliveries.map(({ key }) => key ?? "");
    taken.push(keys);
    await new Promise<void>((resolve) => open.push(resolve));
    if (keys.includes("bad")) throw failure;
    return keys.map((id) => ({ id, isRepeated: false }));
  };
  const send = (key: string, { bytes = 1, integrationId = "int" } = {}) =>
    arriving.take(toDelivery(key, integrationId), bytes, take).catch((error: Error) => error.name);
  const flush = async () => {
    for (const each of open.splice(0)) each();
    await round();
  };
  /** Flushes the first message in progress. */
  const flushOne = async () => {
    open.shift()?.();
    await round();
  };
  return { send, taken, flush, flushOne };
}

t.test("what arrives in one round goes together, and what arrives meanwhile with the next message", async (t) => {
  const { send, taken, flush } = intake();
  const answers = [send("a"), send("b"), send("other", { integrationId: "two" })];
  await round();
  t.same(taken, [["a", "b"], ["other"]]);
  answers.push(send("c"));
  await round();
  answers.push(send("d"));
  await round();
  t.equal(taken.length, 2, "the first is under way");
  await flush();
  t.same(taken[2], ["c", "d"]);
  await flush();
  t.match(await Promise.all(answers), [{ id: "a" }, { id: "b" }, { id: "other" }, { id: "c" }, { id: "d" }]);
});

t.test("eight that wait go beside what is under way, until that is eight messages", async (t) => {
  const { send, taken, flush, flushOne } = intake();
  const lengths = () => taken.map((keys) => keys.length);
  const answers = [send("first")];
  const arrive = async (count: number) => {
    for (let n = 0; n < count; n++) answers.push(send(`${answers.length}`));
    await round();
  };
  await round();
  await arrive(7);
  t.same(lengths(), [1], "seven are few");
  await arrive(1);
  t.same(lengths(), [1, 8]);
  await arrive(30);
  t.same(lengths(), [1, 8, 30], "what comes in one round goes together");
  for (let n = 0; n < 5; n++) await arrive(8);
  t.equal(lengths().length, 8);
  await arrive(40);
  t.equal(lengths().length, 8, "eight are under way");
  await flushOne();
  await round();
  t.same(lengths().slice(8), [32, 8]);
  await arrive(3);
  await flushOne();
  await round();
  t.same(lengths().slice(10), [], "three are few, beside what is under way");
  await flush();
  await flush();
  t.same(lengths().slice(10), [3]);
  await flush();
  const taking = await Promise.all(answers);
  t.same(
    taking.map((one) => (typeof one === "object" && "id" in one ? one.id : one)),
    taken.flat(),
    "in order of arrival",
  );
  await arrive(1);
  t.same(taken.at(-1), [`${answers.length - 1}`], "what comes after that goes at once");
});

t.test(
  "senders are answered in order, 32 in a round of the event loop, those of two integrations at once",
  async (t) => {
    const { send, flush } = intake();
    const answered: string[] = [];
    const noted = (key: string, integrationId: string) => {
      send(key, { integrationId }).then(() => answered.push(key));
    };
    for (let n = 0; n < 80; n++) noted(`${n}`, "int");
    noted("other", "two");
    await round();
    await flush();
    const counts: number[] = [];
    while (answered.length < 81) {
      counts.push(answered.length);
      await round();
    }
    for (const [index, count] of counts.entries()) t.ok(count - (counts[index - 1] ?? 0) <= 33, `${counts}`);
    t.ok(answered.indexOf("other") <= 32, "nobody waits for another's");
    t.same(
      answered.filter((key) => key !== "other"),
      Array.from({ length: 80 }, (_, n) => `${n}`),
    );
  },
);

t.test("a message has at most 32 deliveries and a mebibyte; all that wait go at once", async (t) => {
  const { send, taken, flush } = intake();
  const half = 512 * 1024;
  const large = ["a", "b", "c"].map((key) => send(key, { bytes: half + 1 }));
  const answers = [...large, ...Array.from({ length: 70 }, (_, n) => send(`${n}`))];
  await round();
  t.same(
    taken.map((keys) => keys.length),
    [1, 1, 32, 32, 7],
  );
  await flush();
  t.equal((await Promise.all(answers)).length, 73);
});

t.test("a turn that fails refuses nobody but the delivery that fails alone", async (t) => {
  const { send, taken, flush } = intake();
  const answers = ["a", "bad", "b"].map((key) => send(key));
  await round();
  for (let n = 0; n < 4; n++) await flush();
  t.match(await Promise.all(answers), [{ id: "a" }, "TurnFailed", { id: "b" }]);
  t.same(taken, [["a", "bad", "b"], ["a"], ["bad"], ["b"]]);
});

t.test("what may have been taken is not handed over again", async (t) => {
  const { send, taken, flush } = intake(new Stopping("the store failed"));
  const answers = ["a", "bad"].map((key) => send(key));
  await round();
  await flush();
  t.same(await Promise.all(answers), ["Stopping", "Stopping"]);
  t.equal(taken.length, 1);
});

t.test("a thousand may wait, others are refused", async (t) => {
  const { send, flush } = intake();
  const answers = Array.from({ length: 1_001 }, (_, n) => send(`${n}`));
  t.equal(await answers[1_000], Overloaded.name);
  await round();
  await flush();
  t.equal((await Promise.all(answers.slice(0, 1_000))).length, 1_000);
});
