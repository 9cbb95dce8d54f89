import t from "tap";
import { deliveries } from "../../../actors/integration-work/deliveries/delivery.table.js";
import { deliveryIntakeActor } from "../../../actors/integration-work/intake/delivery-intake.machine.js";
import { pollActor } from "../../../actors/integration-work/polls/poll.machine.js";
import { pollRef } from "../../../actors/integration-work/polls/poll.messages.js";
import { polls } from "../../../actors/integrations/poll.table.js";
import { expr } from "../../support/integration.js";
import { hostThat, INTEGRATION, WORKSPACE } from "../../support/integration-rows.js";
import { integrationWorld } from "../../support/integration-world.js";

const MINUTE_MS = 60_000;
const definition = {
  poll: {
    everyMinutes: 10,
    request: { url: `https://api.example.com/items?since=${expr("cursor")}` },
    cursor: expr("string(body.next)"),
    events: [{ when: expr("cursor == 'never'"), raise: { say: expr("body.text") } }],
  },
};

/**
 * Starts a simulated service that polls a host. The host answers with the number after the cursor; every third answer
 * is an error.
 */
async function open() {
  let answered = 0;
  const { send } = hostThat(({ url }) => {
    answered += 1;
    const since = Number(new URL(url).searchParams.get("since") ?? 0);
    return answered % 3 === 0 ? { status: 503 } : { body: { next: since + 1 } };
  });
  const world = await integrationWorld(t, { definition, actors: [pollActor, deliveryIntakeActor], send });
  const row = () => polls.get(world.harness.durable, WORKSPACE, INTEGRATION);
  const cursors = () => deliveries.list(world.harness.durable, WORKSPACE, [INTEGRATION]).map(({ cursor }) => cursor);
  return { ...world, row, cursors };
}

t.test(
  "a poll killed at any commit goes on: of what it asked nothing is lost, and nothing recorded twice",
  async (t) => {
    let kills = 0;
    for (let commit = 1, isOver = false; !isOver; commit++) {
      for (const when of ["before", "after"] as const) {
        const { harness, start, row, cursors, pending } = await open();
        const check = () =>
          void harness.runtime.ask(pollRef(WORKSPACE, INTEGRATION), { type: "poll.check" }).catch(() => undefined);
        const at = harness.batches.length + commit;
        harness.killAt = { commit: at, when };
        check();
        await harness.advance(45 * MINUTE_MS);
        isOver = harness.batches.length < at;
        harness.killAt = null;
        if (isOver) break;
        harness.crash();
        await start();
        check();
        await harness.advance(90 * MINUTE_MS);
        kills += 1;
        const seen = cursors();
        t.ok(seen.length >= 3, `${seen.length} deliveries`);
        t.same(seen, ["", ...seen.slice(1).map((_, n) => String(n + 1))], "each cursor was asked from once");
        t.equal(row()?.cursor, String(seen.length), "the cursor is that of the last delivery");
        t.equal(pending(), 0);
      }
    }
    t.ok(kills >= 10, `${kills} kills`);
  },
);
