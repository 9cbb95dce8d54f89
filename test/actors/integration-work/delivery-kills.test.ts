import t from "tap";
import { type DeliveryWorld, deliveryWorld } from "../../support/delivery-world.js";
import { expr } from "../../support/integration.js";

/**
 * The definition has one event with an entry per item of the body's list, and one event with a lookup. {@link
 * refusingOnce} makes the lookup fail at first.
 */
const definition = {
  webhook: {
    events: [
      { forEach: expr("body.list"), raise: { opens: { line: "dev", title: expr("string(item)") } } },
      {
        lookup: { request: { url: "https://api.example.com/x" }, capture: { who: expr("response.who") } },
        raise: { say: expr("who"), opens: { line: "dev", title: expr("who") } },
      },
    ],
  },
};

function refusingOnce(world: DeliveryWorld): void {
  const asked = new Set<string>();
  world.lookup = ({ values }) => {
    const isFirst = !asked.has(values);
    asked.add(values);
    if (!isFirst) return { captures: '{"who":"ada"}' };
    return { success: false, code: "server-error", reason: "it responded 503" };
  };
}

/** Deliveries that are sent at the same time. Each is sent repeatedly until the service accepts it. */
interface Sent {
  readonly messages: readonly (readonly string[])[];
  /** Time limit for all deliveries to finish, in milliseconds. */
  readonly withinMs: number;
}

const alone: Sent = { messages: [["a"], ["b"], ["c"]], withinMs: 8_000 };
/** More deliveries than there are slots, so that some wait. The delivery `k13` is sent twice. */
const together: Sent = { messages: [Array.from({ length: 14 }, (_, n) => `k${n}`), ["k13"]], withinMs: 8_000 };

interface Kill {
  readonly commit: number;
  readonly when: "before" | "after";
}

async function work(world: DeliveryWorld, { messages, withinMs }: Sent, kill: Kill | null): Promise<void> {
  const { harness } = world;
  const taken = new Set<readonly string[]>();
  const send = () =>
    messages
      .filter((keys) => !taken.has(keys))
      .map((keys) => {
        const deliveries = keys.map((key) => ({ key, json: { list: [1, 2] }, headers: { "x-key": key } }));
        return world.sendTogether(deliveries).then(
          () => void taken.add(keys),
          () => undefined,
        );
      });
  harness.killAt = kill === null ? null : { commit: harness.batches.length + kill.commit, when: kill.when };
  let sent = send();
  for (let passedMs = 0; passedMs < withinMs; passedMs += 100) {
    await harness.advance(100);
    if (harness.killAt === null || harness.batches.length < harness.killAt.commit) continue;
    harness.crash();
    harness.killAt = null;
    await harness.start();
    sent = send();
  }
  await Promise.all(sent);
}

function complaints(world: DeliveryWorld, { messages }: Sent): string[] {
  const rows = world.deliveries();
  const keys = rows.map(({ key }) => key).sort();
  const wanted = [...new Set(messages.flat())].sort();
  const keysOfRaises = world.raised().map(({ key }) => key);
  return [
    ...(keys.join() === wanted.join() ? [] : [`deliveries of ${keys.join()}`]),
    ...rows.filter(({ state }) => state !== "done").map(({ id, state, reason }) => `${id} is ${state} ${reason ?? ""}`),
    ...rows
      .filter(({ id }) => world.entries(id).length !== 3)
      .map(({ id }) => `${id} tells ${world.entries(id).length}`),
    ...(new Set(keysOfRaises).size === keysOfRaises.length ? [] : ["something is raised twice"]),
    ...(keysOfRaises.length === 3 * wanted.length ? [] : [`${keysOfRaises.length} are raised`]),
  ];
}

for (const [name, sent, fewest] of [
  ["deliveries of one message each", alone, 8],
  ["deliveries of one message", together, 12],
] as const) {
  t.test(`killed at any commit, no delivery is lost or worked twice: ${name}`, async (t) => {
    const calm = await deliveryWorld(definition);
    refusingOnce(calm);
    const before = calm.harness.batches.length;
    await work(calm, sent, null);
    t.same(complaints(calm, sent), []);
    const commits = calm.harness.batches.length - before;
    t.ok(commits >= fewest, `${commits} commits`);
    for (let commit = 1; commit <= commits; commit++) {
      for (const when of ["before", "after"] as const) {
        const world = await deliveryWorld(definition);
        refusingOnce(world);
        await work(world, sent, { commit, when });
        t.same(complaints(world, sent), [], `${when} commit ${commit}`);
      }
    }
  });
}
