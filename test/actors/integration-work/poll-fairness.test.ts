import t from "tap";
import { deliveries } from "../../../actors/integration-work/deliveries/delivery.table.js";
import { deliveryIntakeActor } from "../../../actors/integration-work/intake/delivery-intake.machine.js";
import { pollActor } from "../../../actors/integration-work/polls/poll.machine.js";
import { pollRef } from "../../../actors/integration-work/polls/poll.messages.js";
import { polls } from "../../../actors/integrations/poll.table.js";
import { integrationRequestEffect } from "../../../actors/integrations/requests/integration-request.effects.js";
import type { BytesAnswer } from "../../../actors/outbound/http/http-exchange.js";
import { pollLane } from "../../../actors/outbound/http/lanes.js";
import type { AnyRequest } from "../../../actors/outbound/http/request.js";
import { resources } from "../../../actors/resources/resource.table.js";
import { Harness } from "../../support/harness.js";
import { expr } from "../../support/integration.js";
import { INTEGRATION, integrationRows, sealer, WORKSPACE } from "../../support/integration-rows.js";

/** The quiet workspace. In the other workspace, {@link WORKSPACE}, thousands of polls start at once: the burst. */
const QUIET = "ws_2";
const FLOOD = 2_000;
const ANSWER_MS = 5;
const HOST = "api.example.com";

const definition = {
  poll: {
    everyMinutes: 10,
    request: { url: `https://${HOST}/items?since=${expr("cursor")}` },
    cursor: expr("string(body.next)"),
    events: [{ when: expr("cursor == 'never'"), raise: { say: expr("body.text") } }],
  },
};

/**
 * Returns the rows of the quiet workspace, and of a workspace with this many integrations. Each integration has its own
 * host.
 */
function listRows(flood: number) {
  const rows = integrationRows(definition);
  const toQuiet = (text: string) => text.replaceAll(WORKSPACE, QUIET);
  const quiet = rows.range({ prefix: [] }).map(({ key, value }) => ({
    key: key.map((part) => (typeof part === "string" ? toQuiet(part) : part)),
    value: JSON.parse(toQuiet(JSON.stringify(value))),
  }));
  const one = resources.get(rows, WORKSPACE, "integration", INTEGRATION);
  if (one === undefined) throw new Error("no integration");
  for (let n = 0; n < flood; n++) {
    const fields = JSON.parse(JSON.stringify(one.fields).replaceAll(HOST, `h${n}.example.com`));
    resources.put(rows, WORKSPACE, ["integration", `flood_${n}`], { ...one, id: `flood_${n}`, fields });
  }
  return [...rows.range({ prefix: [] }), ...quiet].map(({ key, value }) => ({ op: "put" as const, key, value }));
}

/**
 * Starts a simulated service with the polls of both workspaces. The hosts of the burst never answer, so the requests to
 * them time out.
 */
async function open(flood: number) {
  const harness = new Harness({ catalogue: {} });
  const { world } = harness;
  const stored = harness.disk.open().commit(listRows(flood));
  await harness.advance();
  await stored;
  const asked = { flood: 0, underWay: 0, most: 0 };
  const send = ({ url, timeoutMs }: AnyRequest) =>
    new Promise<BytesAnswer>((resolve, reject) => {
      if (url.host === HOST) {
        const bytes = Buffer.from('{"next":1}');
        return world.later(ANSWER_MS, () => resolve({ status: 200, headers: {}, bytes }));
      }
      asked.flood += 1;
      asked.underWay += 1;
      asked.most = Math.max(asked.most, asked.underWay);
      world.later(timeoutMs, () => {
        asked.underWay -= 1;
        reject(new Error("timeout"));
      });
    });
  const effect = integrationRequestEffect({
    reading: () => harness.runtime.reading,
    outbound: { send },
    sealer,
    clock: world.clock,
    log: { error: (message: string) => t.fail(message) },
    baseUrl: () => "https://signalbox.example",
  });
  await harness.start({ actors: [pollActor, deliveryIntakeActor], effects: [effect] });
  const tell = (workspace: string, id: string, type: "poll.check" | "poll.now") =>
    void harness.runtime.ask(pollRef(workspace, id), { type }).catch(() => undefined);
  tell(QUIET, INTEGRATION, "poll.check");
  for (let n = 0; n < flood; n++) tell(WORKSPACE, `flood_${n}`, "poll.check");
  return { harness, asked, tell, begunMs: world.nowMs };
}

/** Returns the milliseconds of simulated time from a poll request until its answer is stored as a delivery. */
async function pollOnce({ harness, tell }: Awaited<ReturnType<typeof open>>): Promise<number> {
  const { world } = harness;
  const begunMs = world.nowMs;
  const count = () => deliveries.list(harness.durable, QUIET, [INTEGRATION]).length;
  const before = count();
  tell(QUIET, INTEGRATION, "poll.now");
  while (count() === before) {
    if (world.nowMs - begunMs > 60_000) throw new Error("it is never asked");
    await harness.advance(1);
  }
  return world.nowMs - begunMs;
}

/**
 * The times at which the quiet workspace polls, in milliseconds. The burst's polls become due at the first of these
 * times. From then on, they all wait for their hosts or for a slot.
 */
const TIMES = [5_000, 15_000, 25_000, 35_000, 45_000, 55_000, 65_000, 75_000];

/** Returns the total duration of the polls at these times. */
async function pollAtTimes(world: Awaited<ReturnType<typeof open>>): Promise<number> {
  let tookMs = 0;
  for (const atMs of TIMES) {
    await world.harness.advance(world.begunMs + atMs - world.harness.world.nowMs);
    tookMs += await pollOnce(world);
  }
  return tookMs;
}

t.test("thousands of polls whose hosts hang leave another workspace's as fast as it is alone", async (t) => {
  const alone = await pollAtTimes(await open(0));
  const world = await open(FLOOD);
  const beside = await pollAtTimes(world);
  const asking = polls.list(world.harness.durable, WORKSPACE).filter(({ state }) => state === "asking");
  t.ok(asking.length > FLOOD / 2, `${asking.length} are being asked`);
  t.equal(world.asked.most, pollLane.perClient, "and so many at once");
  // A commit may have to wait for the commit in progress, so twice the time is accepted.
  t.ok(beside < 2 * alone, `${beside} ms beside the flood, ${alone} ms alone`);
});
