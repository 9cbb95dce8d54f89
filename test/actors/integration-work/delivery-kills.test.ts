import t from "tap";
import { type DeliveryWorld, deliveryWorld } from "../../support/delivery-world.js";
import { expr } from "../../support/integration.js";

/** Two entries of an event and one of another, whose lookup is refused once. */
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

const KEYS = ["a", "b", "c"];

/** Sends three deliveries, repeats each until it was taken, and waits until all are over. */
async function work(world: DeliveryWorld, kill: { commit: number; when: "before" | "after" } | null): Promise<void> {
  const { harness } = world;
  const taken = new Set<string>();
  const send = () =>
    KEYS.filter((key) => !taken.has(key)).map((key) =>
      world.send({ key, json: { list: [1, 2] }, headers: { "x-key": key } }).then(
        () => void taken.add(key),
        () => undefined,
      ),
    );
  harness.killAt = kill === null ? null : { commit: harness.batches.length + kill.commit, when: kill.when };
  let sent = send();
  for (let passedMs = 0; passedMs < 8_000; passedMs += 100) {
    await harness.advance(100);
    if (harness.killAt === null || harness.batches.length < harness.killAt.commit) continue;
    harness.crash();
    harness.killAt = null;
    await harness.start();
    sent = send();
  }
  await Promise.all(sent);
}

function complaints(world: DeliveryWorld): string[] {
  const rows = world.deliveries();
  const keys = rows.map(({ key }) => key).sort();
  const keysOfRaises = world.raised().map(({ key }) => key);
  return [
    ...(keys.join() === KEYS.join() ? [] : [`deliveries of ${keys.join()}`]),
    ...rows.filter(({ state }) => state !== "done").map(({ id, state, reason }) => `${id} is ${state} ${reason ?? ""}`),
    ...rows
      .filter(({ id }) => world.entries(id).length !== 3)
      .map(({ id }) => `${id} tells ${world.entries(id).length}`),
    ...(new Set(keysOfRaises).size === keysOfRaises.length ? [] : ["something is raised twice"]),
    ...(keysOfRaises.length === 9 ? [] : [`${keysOfRaises.length} are raised`]),
  ];
}

t.test("killed at any commit, no delivery is lost or worked twice", async (t) => {
  const calm = await deliveryWorld(definition);
  refusingOnce(calm);
  const before = calm.harness.batches.length;
  await work(calm, null);
  t.same(complaints(calm), []);
  const commits = calm.harness.batches.length - before;
  t.ok(commits >= 8, `${commits} commits`);
  for (let commit = 1; commit <= commits; commit++) {
    for (const when of ["before", "after"] as const) {
      const world = await deliveryWorld(definition);
      refusingOnce(world);
      await work(world, { commit, when });
      t.same(complaints(world), [], `${when} commit ${commit}`);
    }
  }
});
